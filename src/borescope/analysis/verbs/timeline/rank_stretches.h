// Finer detail of one rank for a page that asks for it: any number of stretches, of tracks that are
// found once. docs/how-it-works/timeline.md.
#pragma once

#include <cstdint>
#include <optional>

#include "borescope/analysis/verbs/timeline/level_rows.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// What is asked for.
struct AskedStretch {
  TimeSpan span;
  int64_t grain_ns = 0;  // merged no more than this; 0: not at all
};

// Immutable; safe to draw from any number of threads.
class RankStretches {
 public:
  // The tracks of a page. Trace, index and steps of the view outlive it. Errors are those of what
  // is selected. O(events log events), and the critical path.
  static Result<RankStretches> Make(const RankView& view, const Params& params);

  // Level 0 of the stretch where it takes no more than about `room` bytes of a page; else the
  // finest level that does so, but none that is finer than the grain needs; none at all where not
  // even the coarsest does so, or the recording has nothing there. Times count from the begin of
  // the recording. O(events) per level that is tried.
  Timeline Draw(const AskedStretch& asked, int64_t room) const;

 private:
  RankStretches(const RankView& view, const Params& params, const Selected& selected);

  // The tracks, and the stretch as the window; nothing drawn.
  Timeline Begin(const TimeSpan& span) const;
  // Nothing where it takes more room.
  std::optional<Timeline> DrawExact(const TimeSpan& span, int64_t room) const;
  std::optional<Timeline> DrawLevel(int64_t level, const TimeSpan& span, int64_t room) const;

  RankView view_;
  Timeline begun_;  // without anything drawn
  RankTracks tracks_;
};

}  // namespace borescope::internal
