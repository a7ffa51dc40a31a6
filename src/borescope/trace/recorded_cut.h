// A file that is a part of a recording, and how it says so.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

// What part of a recording a file holds that `borescope convert` cut out of it. Verbs that take a
// selection answer as if it was given to them with the whole recording, so that the file keeps a
// little of what is around it: what reaches into it, and what its events refer to.
struct RecordedCut {
  int64_t begin_ns = kMissing;  // of the window, both ends included; kMissing: open
  int64_t end_ns = kMissing;
  std::string steps;               // numbers and ranges of steps, "3..4"; empty: all
  int64_t recording_begin_ns = 0;  // of the whole recording
  int64_t recording_end_ns = 0;

  friend bool operator==(const RecordedCut&, const RecordedCut&) = default;
};

std::optional<RecordedCut> CutOf(const Meta& meta);
void SetCut(const RecordedCut& cut, Meta& meta);

// The member of a Chrome JSON and the tag in `rocpd_metadata` of an .rpd.
inline constexpr std::string_view kCutMember = "borescopeCut";
inline constexpr std::string_view kCutTag = "borescope_cut";

// Whether a recording, and the window in it, can lie there: ends in order, times that any sum of
// two holds. Files can say anything.
bool IsSane(const RecordedCut& cut);

// "begin_ns=5 | end_ns=9 | steps=3..4 | recording_begin_ns=0 | recording_end_ns=100", without what
// is open; and back. Nothing for a text that is not sane.
std::string TextOfCut(const RecordedCut& cut);
std::optional<RecordedCut> CutOfText(std::string_view text);

// The part of several recordings together: the hull of their windows, open where one is open; their
// steps if all have the same, else all.
void JoinCut(const RecordedCut& more, std::optional<RecordedCut>& joined);

}  // namespace borescope::internal
