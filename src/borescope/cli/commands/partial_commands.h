// `map` and `reduce`: an answer in parts, made where the files lie and joined elsewhere.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

// `map VERB[,VERB...] [OPTIONS] INPUT... -o PART`. REQUIRES: Command::analyses are the verbs.
int RunMapVerb(const Command& command);

int RunReduceVerb(const Command& command);

}  // namespace borescope::cli
