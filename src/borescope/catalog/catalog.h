// The list of all analyses: the one place that names every verb. To add one: its folder in
// analysis/verbs/, its declaration in analysis/verbs/verbs.h, a line here.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// In the order of --help.
std::span<const AnalysisSpec* const> Analyses();
const AnalysisSpec* FindAnalysis(std::string_view name);  // nullptr when there is none

// All of them, in the order in which the report shows those that have a section.
std::vector<const AnalysisSpec*> SectionOrder();

}  // namespace borescope::internal
