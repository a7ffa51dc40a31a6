// The list of all analyses: the one place that names every verb of the core. To add one: its folder
// in analysis/verbs/, its declaration in analysis/verbs/verbs.h, a line here. What packs add to
// these verbs, and their own verbs, come from pack.h.
//
// The specs that these functions return are complete, with the rules of other tools; kInfoVerb and
// its like are the verbs of the core alone. Compare analyses by name, not by address. Thread-safe;
// what is returned lives as long as the program.
#pragma once

#include <span>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// In the order of --help.
std::span<const AnalysisSpec* const> Analyses();
const AnalysisSpec* FindAnalysis(std::string_view name);  // nullptr when there is none

// All of them, in the order in which the report shows those that have a section.
std::span<const AnalysisSpec* const> SectionOrder();

}  // namespace borescope::internal
