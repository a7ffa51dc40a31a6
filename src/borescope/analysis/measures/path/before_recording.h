// What of the path a device spent on work from before the recording, by the rule of the cause of
// idle time with this name (idle_division.h): nothing where no such work was recorded.
#pragma once

#include "borescope/analysis/measures/path/path.h"

namespace borescope::internal {

// `steps` with that time as steps of its own, bound by kBeforeRecording: of the delay between the
// launch and the first work of a device what is out of the ordinary, and calls that wait before
// the first recorded work of any device. The lengths add up as before. O(steps + rows of the host).
ColumnData<PathStep> SeparateBeforeRecording(const RankView& view, const RecordingGraph& recording,
                                             ColumnData<PathStep> steps);

}  // namespace borescope::internal
