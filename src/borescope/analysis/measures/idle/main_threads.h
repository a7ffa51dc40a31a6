// The threads whose work decides why a device idles, if several use it: small work of another one,
// such as copies of a loader, says little about the time before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"

namespace borescope::internal {

struct MainGap {
  StreamGap gap;
  bool after_small;  // small work ended so shortly before its end that this may have waited for it
};

// The gaps between the work of a device, which is on `tracks`, without that of threads whose
// work takes less than a tenth of the time of that of the busiest thread. Empty: no thread has so
// little. O(rows of the tracks), times a logarithm.
std::vector<MainGap> FindMainGaps(const RankView& view, std::span<const uint32_t> tracks);

}  // namespace borescope::internal
