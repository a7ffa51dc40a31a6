#include "borescope/cli/commands/list_command.h"

#include "borescope/catalog/catalog.h"
#include "borescope/cli/answers.h"
#include "borescope/table/table.h"
#include "borescope/verbs/convert/convert_run.h"

namespace borescope::internal::cli {
namespace {

Table ListTable() {
  Table table{"list", "What there is", {}};
  table.columns.reserve(3);  // keeps the references below valid
  Column& kind = AddString(table, "kind", Role::kKey,
                           "Verb, input format, writer of tables or target of convert.");
  Column& name = AddString(table, "name", Role::kKey, "Name on the command line.");
  Column& summary = AddString(table, "summary", Role::kDerived, "What it is for.");
  const auto add = [&](std::string_view what, const auto& row) {
    Push(kind, what);
    Push(name, row.name);
    Push(summary, row.summary);
  };
  for (const AnalysisSpec* row : Analyses()) {
    add("verb", *row);
  }
  for (const VerbRow& row : OtherVerbs()) {
    add("verb", row);
  }
  for (const FormatRow& row : Formats()) {
    add("format", row);
  }
  for (const TableWriter& row : TableWriters()) {
    add("writer", row);
  }
  for (const ConvertFormat& row : ConvertFormats()) {
    add("target", row);
  }
  return table;
}

}  // namespace

int RunListVerb(const Command& command) {
  if (!command.raw.inputs.empty()) {
    return FailWith({ErrorCode::kInvalidArgument, "list takes no INPUT"}, command);
  }
  const Result<OutputOptions> output = UnderstandOutput(command.raw);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  return WriteDocument(*output, {{ListTable()}, {}}, command);
}

}  // namespace borescope::internal::cli
