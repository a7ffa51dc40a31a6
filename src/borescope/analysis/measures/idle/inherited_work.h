// Work of devices that was launched before the recording began: known because it was recorded
// without its launch, first on its stream. Only where it is may time be said to belong to work from
// before the recording.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Per track, whether it is a stream that begins with such work. Within a process numbers of calls
// rise, so that the work has a smaller one than every recorded call. Where either is not known, its
// place decides: before work of the same stream whose launch was recorded, or before the first
// recorded launch. In a recording without launches nothing is inherited. O(tracks), and O(rows) if
// a stream begins with work without a launch.
std::vector<char> StreamsWithInheritedWork(const RankView& view);

// Whether one of the tracks, those of a device, is such a stream.
bool IsOnAny(const std::vector<char>& inherited, std::span<const uint32_t> tracks);

}  // namespace borescope::internal
