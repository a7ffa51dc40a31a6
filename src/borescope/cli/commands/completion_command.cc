#include <string>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/completion.h"

namespace borescope::cli {

int RunCompletionVerb(const Command& command) {
  if (!command.raw.Get("format").empty() || !command.raw.Get("output").empty()) {
    return FailWith(UsageError("completion prints a script; redirect it with > FILE"), command);
  }
  const bool one = command.raw.inputs.size() == 1;
  const Result<std::string> script = CompletionScript(one ? command.raw.inputs[0] : "");
  return script.ok() ? Print(*script) : FailWith(script.error(), command);
}

}  // namespace borescope::cli
