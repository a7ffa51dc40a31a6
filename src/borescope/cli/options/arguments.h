// From the words of a command line to a verb and its raw options; what those of an analysis mean is
// decided in the library. Every error is about usage (kInvalidArgument) and one line. Pure but for
// looking whether an input exists.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/cli/options/options.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/usage_error.h"
#include "borescope/cli/verbs.h"

namespace borescope::cli {

struct Command {
  std::vector<const VerbInfo*> analyses;  // "idle,overlap" are two
  const VerbRow* verb = nullptr;  // instead of them, or before them (`map`); neither: --help or
                                  // --version alone
  std::string task;  // of a verb whose tasks come before other verbs: "slurm"; empty: not typed
  bool version = false;
  RawOptions raw;
};

// `words` without the program name. Without any word: an error.
Result<Command> Parse(std::span<const std::string> words);

// Sets the verb called `name`, or the analyses it lists; false when there is none.
bool SetVerb(std::string_view name, Command& command);

// How other tools spell the options of a verb.

// Words as they would have been typed for Borescope, by the aliases of the verb; nullptr: as they
// are.
std::vector<std::string> Translate(std::span<const std::string> words, const VerbRow* verb);

}  // namespace borescope::cli
