#include <string>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/completion.h"

namespace borescope::cli {

Result<int> RunCompletionVerb(const Command& command) {
  if (!command.raw.Get("format").empty() || !command.raw.Get("output").empty()) {
    return UsageError("completion prints a script; redirect it with > FILE");
  }
  const bool one = command.raw.inputs.size() == 1;
  BS_ASSIGN(const std::string script, CompletionScript(one ? command.raw.inputs[0] : ""));
  return Print(script);
}

}  // namespace borescope::cli
