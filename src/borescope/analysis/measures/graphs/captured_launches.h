// Which operators stand behind the kernels of graphs. The launch of a graph tells none; but where
// the capture that made the graph was recorded, each of its kernels was asked for there, by a call
// that started no work then.
//
//   names    of the kernel that a captured call requested: captured_names.h
//   pairing  the kernels of a launch by start and the captured calls by start, one by one, if they
//            are as many and no known name differs; else (branches of a graph run side by side) by
//            name, and of one name in order, if all names are known and the same. Some name must be
//            known: order alone proves nothing.
//   capture  of a graph: the first of its process that ended before the graph's first launch, fits,
//            and made no graph before; else one that did
//
// Captures that other files hold are matched when a recording is loaded (match_captures.h); what
// the index has of them comes first.
//
// Kernels of all other launches stay without operators. Copies and memsets are not paired.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

struct CapturedLaunches {
  // Per device row; empty where nothing was paired.
  std::vector<HostId> launch_of;    // the call in the capture; invalid: none
  std::vector<uint32_t> replay_of;  // of those with a call: number of the graph launch

  HostId LaunchOf(DeviceId id) const { return launch_of.empty() ? HostId{} : launch_of[id.value]; }
};

// O(rows), times a logarithm.
Result<CapturedLaunches> FindCapturedLaunches(const RankView& view);

}  // namespace borescope::internal
