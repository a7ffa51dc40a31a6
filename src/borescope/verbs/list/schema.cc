#include "borescope/schema.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/flops/counter_list.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/check.h"
#include "borescope/convert/convert.h"
#include "borescope/engine/access.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/engine/drafts.h"
#include "borescope/engine/job_answer.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/question/registry.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/ingest/load.h"
#include "borescope/output/writer.h"
#include "borescope/postmortem.h"

namespace borescope {

namespace {

std::string Underscored(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

std::string_view TypeName(internal::ParamType type) {
  switch (type) {
    case internal::ParamType::kFlag:
      return "flag";
    case internal::ParamType::kCount:
      return "count";
    case internal::ParamType::kNumber:
      return "number";
    case internal::ParamType::kTime:
      return "time";
    case internal::ParamType::kTimes:
      return "times";
    case internal::ParamType::kShare:
      return "share";
    case internal::ParamType::kChoice:
      return "choice";
    case internal::ParamType::kFile:
      return "file";
    case internal::ParamType::kFolder:
      return "folder";
    case internal::ParamType::kText:
      return "text";
    case internal::ParamType::kTexts:
      return "texts";
  }
  return "text";
}

std::string DefaultOf(const internal::ParamSpec& param) {
  const bool is_number =
      param.type == internal::ParamType::kCount || param.type == internal::ParamType::kNumber;
  if (param.type == internal::ParamType::kTime) {
    return param.default_number < 0 ? "" : internal::FormatParamTime(param.default_number);
  }
  return is_number && param.default_number != 0 ? std::to_string(param.default_number)
                                                : std::string(param.default_text);
}

// "exact|half|full" as a list.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    words.emplace_back(word);
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return words;
}

std::vector<std::string> ChoicesOf(const internal::ParamSpec& param) {
  return param.type == internal::ParamType::kChoice ? WordsOf(param.value)
                                                    : std::vector<std::string>();
}

// Without its choices, which differ.
ParameterInfo ParameterOf(const internal::ParameterRow& row) {
  return {Underscored(row.name),
          std::string(row.type),
          std::string(row.doc),
          std::string(row.default_text),
          {},
          std::string(row.placeholder),
          std::string(row.group)};
}

ParameterInfo ParameterOf(const internal::ParamSpec& param) {
  return {Underscored(param.name),
          std::string(TypeName(param.type)),
          std::string(param.help),
          DefaultOf(param),
          ChoicesOf(param),
          std::string(param.value),
          "question"};
}

VerbInfo VerbOf(const internal::AnalysisSpec& spec) {
  VerbInfo verb{std::string(spec.name),
                std::string(spec.summary),
                std::string(spec.example),
                spec.takes_two(),
                internal::HasPicture(spec),
                internal::CanBeSaved(spec),
                spec.leading == nullptr ? "" : Underscored(spec.leading->name),
                {}};
  if (spec.name == internal::kCountersVerb.name) {
    verb.details = internal::CounterInstructions();
  }
  verb.parameters.reserve(1 + internal::SharedParameters().size() + spec.params.size());
  if (spec.leading != nullptr) {
    verb.parameters.push_back(ParameterOf(*spec.leading));
  }
  for (const internal::ParameterRow& row : internal::SharedParameters()) {
    if (row.applies(spec)) {
      ParameterInfo& info = verb.parameters.emplace_back(ParameterOf(row));
      if (row.choices != nullptr) {
        const std::vector<std::string_view> choices = row.choices(spec);
        info.choices.assign(choices.begin(), choices.end());
      }
    }
  }
  for (const internal::ParamSpec* param : spec.params) {
    verb.parameters.push_back(ParameterOf(*param));
  }
  return verb;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const internal::ConvertTarget& format : internal::ConvertTargets()) {
    names.emplace_back(format.name);
  }
  return names;
}

TaskInfo TaskOf(const internal::TaskRow& row) {
  TaskInfo task{std::string(row.name), std::string(row.summary), std::string(row.example), {}};
  for (const internal::ParameterRow* const parameter : internal::ParametersOf(row)) {
    ParameterInfo& info = task.parameters.emplace_back(ParameterOf(*parameter));
    if (parameter->type == "choice" && parameter->choices == nullptr) {
      info.choices = parameter->choice.empty() ? TargetNames() : WordsOf(parameter->choice);
    }
  }
  return task;
}

Schema MakeSchema() {
  Schema schema;
  schema.verbs.reserve(internal::Analyses().size());
  schema.tasks.reserve(internal::TaskRows().size());
  for (const internal::AnalysisSpec* spec : internal::Analyses()) {
    schema.verbs.push_back(VerbOf(*spec));
  }
  for (const internal::TaskRow& row : internal::TaskRows()) {
    schema.tasks.push_back(TaskOf(row));
  }
  for (const internal::FormatRow& row : internal::Formats()) {
    schema.formats.push_back({std::string(row.name), std::string(row.summary)});
  }
  for (const internal::TableWriter& row : internal::TableWriters()) {
    schema.writers.push_back({std::string(row.name), std::string(row.summary),
                              std::string(row.extension), row.draws, row.is_binary});
  }
  for (const internal::ConvertTarget& row : internal::ConvertTargets()) {
    schema.targets.push_back({std::string(row.name), std::string(row.summary)});
  }
  return schema;
}

}  // namespace

const Schema& Describe() {
  static const Schema schema = MakeSchema();
  return schema;
}

Result<std::string> WhyUnwritable(std::string_view format) {
  BS_ASSIGN(const internal::TableWriter* const writer, WriterOf(format));
  const Result<void> checked = writer->check == nullptr ? Result<void>() : writer->check();
  return checked.ok() ? std::string() : checked.error().Sentence();
}

Result<Answer> DescribeAnswer(const Question& question) {
  internal::RunOptions options;
  BS_TRY(internal::ReadQuestion(question, options));
  BS_ASSIGN(const std::vector<const internal::AnalysisSpec*> specs,
            internal::FindVerbs(question.verbs()));
  if (specs.size() != 1) {
    return internal::UsageError("the tables of one verb can be described", "ask verb by verb");
  }
  BS_ASSIGN(internal::Tables tables, internal::AnswerShape(*specs.front(), options.params));
  for (internal::Table& table : internal::ShapeOfJobAnswer(specs.front()->name)) {
    tables.push_back(std::move(table));
  }
  return AnswerAccess::Make(internal::Document{std::move(tables), {}});
}

namespace {

// A table of texts that takes one row at a time.
class RowWriter {
 public:
  RowWriter(std::string_view name, std::string_view title, std::vector<ListedColumn> columns)
      : table_{std::string(name), std::string(title), std::move(columns)} {}

  void Add(std::initializer_list<std::string_view> cells) {
    size_t i = 0;
    for (const std::string_view cell : cells) {
      table_.columns[i++].cells.emplace_back(cell);
    }
  }
  ListedTable Finish() { return std::move(table_); }

 private:
  ListedTable table_;
};

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ",") + word;
  }
  return text;
}

std::string_view YesOrNo(bool is_so) { return is_so ? "yes" : "no"; }

ListedTable VerbsTable(const Schema& schema) {
  RowWriter rows("verbs", "Verbs and tasks",
                 {{"kind", "verb: it answers with tables; task: anything else.", true, {}},
                  {"name", "Name on the command line.", true, {}},
                  {"summary", "What it is for.", false, {}},
                  {"example", "A command line.", false, {}},
                  {"takes_two", "Whether it compares two runs.", false, {}},
                  {"draws", "Whether its answers can be drawn.", false, {}},
                  {"saves", "Whether it has --save and --load.", false, {}},
                  {"word", "The parameter that comes before INPUT.", false, {}}});
  for (const VerbInfo& verb : schema.verbs) {
    rows.Add({"verb", verb.name, verb.summary, verb.example, YesOrNo(verb.takes_two),
              YesOrNo(verb.draws), YesOrNo(verb.saves), verb.word});
  }
  for (const TaskInfo& task : schema.tasks) {
    rows.Add({"task", task.name, task.summary, task.example, "no", "no", "no", ""});
  }
  return rows.Finish();
}

ListedTable ParametersTable(const Schema& schema) {
  RowWriter rows(
      "parameters", "Parameters of verbs and tasks",
      {{"verb", "The verb or task.", true, {}},
       {"name", "Name in programs; options have - for _.", true, {}},
       {"type", "What values it takes.", false, {}},
       {"default", "Its value where none is given; empty for none.", false, {}},
       {"choices", "The values to choose from, by commas; empty for any.", false, {}},
       {"placeholder", "What represents the value in help; empty for a flag.", false, {}},
       {"group", "selection, question or output.", false, {}},
       {"doc", "What it does.", false, {}}});
  const auto add = [&](const std::string& owner, const std::vector<ParameterInfo>& parameters) {
    for (const ParameterInfo& one : parameters) {
      rows.Add({owner, one.name, one.type, one.default_text, Joined(one.choices), one.placeholder,
                one.group, one.doc});
    }
  };
  for (const VerbInfo& verb : schema.verbs) {
    add(verb.name, verb.parameters);
  }
  for (const TaskInfo& task : schema.tasks) {
    add(task.name, task.parameters);
  }
  return rows.Finish();
}

ListedTable FormatsTable(const Schema& schema) {
  RowWriter rows("formats", "Formats",
                 {{"kind", "input, writer of tables, or target of convert.", true, {}},
                  {"name", "Name on the command line.", true, {}},
                  {"summary", "What it is.", false, {}},
                  {"extension", "Of the files of a writer.", false, {}},
                  {"unavailable", "Why it cannot be written here; empty if it can.", false, {}}});
  const auto add = [&](std::string_view kind, const std::vector<FormatInfo>& formats) {
    const bool is_writer = kind == "writer";
    for (const FormatInfo& format : formats) {
      const std::string problem = is_writer ? WhyUnwritable(format.name).value() : std::string();
      rows.Add({kind, format.name, format.summary, format.extension, problem});
    }
  };
  add("input", schema.formats);
  add("writer", schema.writers);
  add("target", schema.targets);
  return rows.Finish();
}

std::string_view TypeName(ColumnType type) {
  constexpr std::string_view kNames[] = {"int", "float", "string", "bool"};
  return kNames[static_cast<size_t>(type)];
}

// `tables` and `columns` of all verbs.
std::vector<ListedTable> AnswerTables(const Schema& schema) {
  RowWriter tables("tables", "Tables of verbs, and of the tasks check and postmortem",
                   {{"verb", "The verb or task.", true, {}},
                    {"name", "Name of the table.", true, {}},
                    {"title", "What it shows.", false, {}}});
  RowWriter columns("columns", "Columns of tables",
                    {{"verb", "The verb.", true, {}},
                     {"table", "Name of the table.", true, {}},
                     {"name", "Name of the column.", true, {}},
                     {"type", "int, float, string or bool.", false, {}},
                     {"unit", "ns, bytes, share and so on; empty for none.", false, {}},
                     {"role", "How rows combine: key, sum, min, max or derived.", false, {}},
                     {"doc", "What it means.", false, {}}});
  const auto add = [&](const std::string& owner, const Answer& answer) {
    for (const Table& table : answer.tables()) {
      tables.Add({owner, table.name(), table.title()});
      for (size_t i = 0; i < table.num_columns(); ++i) {
        const Column column = table.column(i);
        columns.Add({owner, table.name(), column.name(), TypeName(column.type()), column.unit(),
                     column.role(), column.doc()});
      }
    }
  };
  for (const VerbInfo& verb : schema.verbs) {
    add(verb.name, DescribeAnswer(verb.name).value());
  }
  add("check", DescribeCheck());
  add("postmortem", DescribePostmortem());
  return {tables.Finish(), columns.Finish()};
}

}  // namespace

Answer SchemaTables() {
  const Schema& schema = Describe();
  std::vector<ListedTable> tables = {VerbsTable(schema), ParametersTable(schema)};
  for (ListedTable& table : AnswerTables(schema)) {
    tables.push_back(std::move(table));
  }
  tables.push_back(FormatsTable(schema));
  return Answer::OfTexts(tables);
}

}  // namespace borescope
