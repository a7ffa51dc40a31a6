// The processes whose work decides why a device idles, if several use it: small work of another
// one, which comes when it comes, explains nothing about the time before it.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

struct MainProcesses {
  std::vector<int64_t> pids;     // sorted; empty: all
  std::vector<uint32_t> tracks;  // of a device: those that they use, and those of unknown launches
};

// Without the processes whose work on `tracks` takes less than a tenth of the time of that of the
// busiest. O(rows of the tracks * log processes).
MainProcesses FindMainProcesses(const RankView& view, const std::vector<uint32_t>& tracks);

}  // namespace borescope::internal
