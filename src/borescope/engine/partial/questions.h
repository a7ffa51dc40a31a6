// When two partials ask the same. Pure.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/engine/partial/partial_data.h"

namespace borescope::internal {

// What differs between two questions, for a message: "--by" or "the verbs (top; kernels)"; empty
// where they are the same. Paths of files and folders may differ: the content of the files counts.
std::string DifferenceOf(const MappedQuestion& a, const MappedQuestion& b);

// What of the timeline a report has: "window", "full" or "off" (docs/how-it-works/timeline.md).
inline constexpr std::string_view kWindowTimeline = "window";
inline constexpr std::string_view kNoTimeline = "off";

// The question of the report: its sections in the order of the page, then its timeline, if any. Of
// `given` it takes the selection and --plain-step.
MappedQuestion QuestionOfReport(const Params& given, const NumberRanges& ranks,
                                std::string_view timeline = kWindowTimeline);
// What of the timeline the question of a report asks for.
std::string TimelineOfReport(const MappedQuestion& question);

// Makes `to` independent of which of several equal questions it was: of paths that differ the
// lesser stays.
void MergeQuestion(MappedQuestion& to, const MappedQuestion& other);

// Whether a partial that was read can be joined and reduced like one that was just mapped.

// kInvalidArgument where this program does not take its question, kCorrupt where its files or
// tables are none that the question leads to.
Result<void> CheckPartial(const PartialData& partial);
// The same of a partial whose tables were not read, without a look at them.
Result<void> CheckPartialHead(const PartialData& partial);

}  // namespace borescope::internal
