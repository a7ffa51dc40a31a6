// Help texts, from the rows of options.h and the registries. Pure.
#pragma once

#include <string>

#include "borescope/cli/options/options.h"
#include "borescope/cli/verbs.h"

namespace borescope::cli {

enum class HelpExtent {
  kTwoScreens,  // two screens of 24 lines, where options are shortened if they must be
  kAll,
};

std::string MainHelp();
std::string AnalysisHelp(const VerbInfo& verb, HelpExtent extent);
std::string VerbHelp(const VerbRow& row, HelpExtent extent);

}  // namespace borescope::cli
