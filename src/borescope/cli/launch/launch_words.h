// The options of a launch that are handed on to the map and the reduce it launches.
#pragma once

#include <string>
#include <vector>

#include "borescope/cli/options/arguments.h"
#include "borescope/cli/usage_error.h"

namespace borescope::cli {

// What decides what the parts hold, as words of map: "--step=3". An error for an option of the
// verbs that no task can be given.
Result<std::vector<std::string>> MapOptions(const Command& command);
// How tasks run, which does not change what the parts hold, as words of map: "--verbose".
std::vector<std::string> TaskOptions(const RawOptions& raw);
// What comes before the inputs: the word that some verbs take, and none else.
std::vector<std::string> LeadingWords(const Command& command);
// How the answer is shown, as words of reduce.
std::vector<std::string> ReduceOptions(const RawOptions& raw);

}  // namespace borescope::cli
