// Level 0: events as they were recorded, with what is known of each.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/verbs/timeline/tracks.h"

namespace borescope::internal {

// Numbers the texts of a trace that are drawn.
class DrawnTexts {
 public:
  DrawnTexts(const Trace& trace, StringPool& texts)
      : trace_(trace), texts_(texts), drawn_(trace.strings().size() + 1) {}

  // REQUIRES: a text of the trace, or BetweenEvents.
  StringId Of(StringId text) {
    StringId& drawn = drawn_[text.value];
    if (!drawn.valid()) {
      drawn = texts_.Intern(text == BetweenEvents(trace_) ? kBetweenEvents : trace_.Text(text));
    }
    return drawn;
  }
  // Of any text; an empty one has none.
  StringId OfText(std::string_view text) { return text.empty() ? StringId() : texts_.Intern(text); }

 private:
  const Trace& trace_;
  StringPool& texts_;
  std::vector<StringId> drawn_;  // by text of the trace
};

// Adds the events that overlap [begin_ns, end_ns], and the points in it, to level 0 of the
// timeline: by track, begin and depth. Where there are more than `most`, those that begin late may
// be left out, of which there are as many in any case. Times count from the begin of the recording.
void AddExactRows(const RankView& view, const RankTracks& tracks, const DrawnWindow& window,
                  size_t most, DrawnTexts& texts, Timeline& timeline);

}  // namespace borescope::internal
