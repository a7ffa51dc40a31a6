// Makes the timeline of one rank from its tracks.
#pragma once

#include <cstdint>
#include <optional>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/timeline/tracks.h"

namespace borescope::internal {

// What of a rank is drawn.
struct TimelineRequest {
  // About how many bytes of a page it may take; nothing: level 0 of everything, and all levels.
  std::optional<int64_t> share;
};

// Finds the tracks of a rank, and describes both in a timeline that has nothing drawn yet. Where
// `is_limited`, without the smallest of very many tracks and the deepest of very many rows.
RankTracks BeginTimeline(const RankView& view, const Selected& selected, const Params& params,
                         bool is_limited, Timeline& timeline);

// O(events) per level, and a sort of what is drawn.
Timeline MakeTimeline(const RankView& view, const Selected& selected, const Params& params,
                      const TimelineRequest& request);

}  // namespace borescope::internal
