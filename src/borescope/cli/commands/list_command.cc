#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"

namespace borescope::cli {
namespace {

Answer WhatThereIs() {
  ListedColumn kind{"kind", "Verb, input format, writer of tables or target of convert.", true, {}};
  ListedColumn name{"name", "Name on the command line.", true, {}};
  ListedColumn summary{"summary", "What it is for.", false, {}};
  const auto add = [&](std::string_view what, const auto& rows) {
    for (const auto& row : rows) {
      kind.cells.emplace_back(what);
      name.cells.emplace_back(row.name);
      summary.cells.emplace_back(row.summary);
    }
  };
  const Schema& schema = Describe();
  add("verb", schema.verbs);
  add("verb", OtherVerbs());
  add("format", schema.formats);
  add("writer", schema.writers);
  add("target", schema.targets);
  const ListedTable table{
      "list", "What there is", {std::move(kind), std::move(name), std::move(summary)}};
  return Answer::OfTexts({&table, 1});
}

}  // namespace

Result<int> RunListVerb(const Command& command) {
  if (!command.raw.inputs.empty()) {
    return UsageError("list takes no INPUT");
  }
  BS_ASSIGN(const OutputOptions output, UnderstandOutput(command.raw));
  BS_TRY(WriteAnswer(output, command.raw.Has("schema") ? SchemaTables() : WhatThereIs(), command));
  return kDone;
}

}  // namespace borescope::cli
