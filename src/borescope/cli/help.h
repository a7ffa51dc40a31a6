// Help texts, from the rows of options.h and the registries. Pure.
#pragma once

#include <string>

#include "borescope/cli/options/options.h"
#include "borescope/cli/verbs.h"

namespace borescope::cli {

std::string MainHelp();
std::string AnalysisHelp(const VerbInfo& verb);
std::string VerbHelp(const VerbRow& row);

}  // namespace borescope::cli
