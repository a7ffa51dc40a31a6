// Which kernel launch each profiler range belongs to.
//
// Ranges carry no correlation number, and their times are a share of the profiled time made up by
// the writer, so that only their order means something. Kernels were replayed one by one, in the
// order of their launches: per device the i-th range by start belongs to the i-th launch of a
// kernel by start. Where the numbers differ, or a recorded kernel has another name than the range
// at its place, the k-th range of a kernel's name belongs to the k-th launch of that kernel, if
// kernels were recorded beside the ranges, else ranges and launches are taken in order as far as
// they go. One range over several launches is the sum of them all.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

enum class LineupMode : uint8_t {
  kPosition,    // as many ranges as launches
  kNames,       // numbers or recorded names differ: by the names of the kernels
  kOrder,       // numbers differ, no kernels recorded: in order, as far as it goes
  kWholeRange,  // one range over all launches
  kNoLaunches,
};
std::string_view LineupModeName(LineupMode mode);

// A kernel launch: the call, and the kernel where it was recorded.
struct KernelLaunch {
  HostId call;
  DeviceId kernel;
};

struct LinedUpRange {
  DeviceId range;
  KernelLaunch launch;  // invalid where none was found
};

// The ranges of one device, or of all devices where the devices of the launches are unknown.
struct CounterLineup {
  int64_t gpu = kMissing;
  LineupMode mode = LineupMode::kPosition;
  std::vector<LinedUpRange> ranges;    // by start
  std::vector<KernelLaunch> launches;  // by start
  bool times_are_made_up = false;      // several ranges, all of one length

  int64_t lined_up() const;
};

// Whether the kernel may be that of the range: of its name, or the range has none.
bool NamesAgree(const Trace& trace, DeviceId range, DeviceId kernel);

// By device; every range of the trace is in one of them.
std::vector<CounterLineup> LineUpCounters(const RankView& view);

}  // namespace borescope::internal
