// How a file says that it is a part of a recording.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

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
