// The list of all analyses: the one place that names every verb of the core. To add one: its folder
// in analysis/verbs/, its declaration in analysis/verbs/verbs.h, a line in catalog.cc. What packs
// add to these verbs, and the verbs of packs, are declared as in pack.h.
//
// The specs returned here are complete, with the rules of other tools, while constants such as
// kInfoVerb are the verbs of the core alone. Compare analyses by name, not by address. Thread-safe;
// the specs live as long as the program.
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
