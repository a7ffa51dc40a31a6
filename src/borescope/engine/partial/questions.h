// When two partials ask the same. Pure.
#pragma once

#include <string>

#include "borescope/engine/partial/partial_data.h"

namespace borescope::internal {

// What differs between two questions, for a message: "--by" or "the verbs (top; kernels)"; empty
// where they are the same. Paths of files and folders may differ: the content of the files counts.
std::string DifferenceOf(const Question& a, const Question& b);

// The question of the report.
Question QuestionOfReport(const Selection& selection, const NumberRanges& ranks);

// Makes `to` independent of which of several equal questions it was: of paths that differ the
// lesser stays.
void MergeQuestion(Question& to, const Question& other);

}  // namespace borescope::internal
