// Help texts, from the rows of options.h and the registries. Pure.
#pragma once

#include <string>

#include "borescope/cli/options/options.h"
#include "borescope/cli/verbs.h"

namespace borescope::internal::cli {

std::string MainHelp();
std::string AnalysisHelp(const AnalysisSpec& spec);
std::string VerbHelp(const VerbRow& row);

}  // namespace borescope::internal::cli
