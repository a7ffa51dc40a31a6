// The part of a recording that is drawn as it was recorded.
#pragma once

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/timeline/tracks.h"

namespace borescope::internal {

// All of a short recording; else the slowest step, which is not the first of three or more; else
// the stretch with the most device work, or where there is none with the most work of threads; with
// a tenth more on both sides. Times count from the begin of the recording. O(events).
DrawnWindow ChooseWindow(const RankView& view, const Selected& selected, const RankTracks& tracks);

}  // namespace borescope::internal
