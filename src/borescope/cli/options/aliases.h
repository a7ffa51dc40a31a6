// How other tools spell the options of a verb.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "borescope/cli/verbs.h"

namespace borescope::cli {

// Words as they would have been typed for Borescope, by the aliases of the verb; nullptr: as they
// are.
std::vector<std::string> Translate(std::span<const std::string> words, const VerbRow* verb);

}  // namespace borescope::cli
