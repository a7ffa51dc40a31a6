#include "borescope/schema.h"

#include <algorithm>
#include <string_view>

#include "borescope/api/access.h"
#include "borescope/api/questions.h"
#include "borescope/api/tasks/task_rows.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/engine/inputs/question_text.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/engine/targets/saved_drafts.h"
#include "borescope/ingest/load.h"
#include "borescope/output/writer.h"
#include "borescope/verbs/convert/convert_run.h"

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

ParameterInfo ParameterOf(const internal::QuestionRow& row, const internal::AnalysisSpec& spec) {
  ParameterInfo info{Underscored(row.name),  std::string(row.type), std::string(row.help), "", {},
                     std::string(row.value), std::string(row.group)};
  if (row.choices != nullptr) {
    for (const std::string_view choice : row.choices(&spec)) {
      info.choices.emplace_back(choice);
    }
  }
  return info;
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
  if (spec.leading != nullptr) {
    verb.parameters.push_back(ParameterOf(*spec.leading));
  }
  for (const internal::QuestionRow& row : internal::QuestionRows()) {
    if (row.applies(&spec)) {
      verb.parameters.push_back(ParameterOf(row, spec));
    }
  }
  for (const internal::ParamSpec* param : spec.params) {
    verb.parameters.push_back(ParameterOf(*param));
  }
  return verb;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const internal::ConvertFormat& format : internal::ConvertFormats()) {
    names.emplace_back(format.name);
  }
  return names;
}

ParameterInfo ParameterOf(const TaskParameterRow& row) {
  ParameterInfo info{Underscored(row.name),
                     std::string(row.type),
                     std::string(row.doc),
                     std::string(row.default_text),
                     {},
                     std::string(row.placeholder),
                     std::string(row.group)};
  if (row.type == "choice") {
    info.choices = row.choice.empty() ? TargetNames() : WordsOf(row.choice);
  }
  return info;
}

TaskInfo TaskOf(const TaskRow& row) {
  TaskInfo task{std::string(row.name), std::string(row.summary), std::string(row.example), {}};
  for (const std::string_view name : row.shared) {
    const internal::QuestionRow& shared = internal::GetQuestionRow(name);
    task.parameters.push_back({Underscored(shared.name),
                               std::string(shared.type),
                               std::string(shared.help),
                               "",
                               {},
                               std::string(shared.value),
                               std::string(shared.group)});
  }
  for (const TaskParameterRow& own : row.own) {
    task.parameters.push_back(ParameterOf(own));
  }
  return task;
}

Schema MakeSchema() {
  Schema schema;
  for (const internal::AnalysisSpec* spec : internal::Analyses()) {
    schema.verbs.push_back(VerbOf(*spec));
  }
  for (const TaskRow& row : TaskRows()) {
    schema.tasks.push_back(TaskOf(row));
  }
  for (const internal::FormatRow& row : internal::Formats()) {
    schema.formats.push_back({std::string(row.name), std::string(row.summary)});
  }
  for (const internal::TableWriter& row : internal::TableWriters()) {
    schema.writers.push_back({std::string(row.name), std::string(row.summary),
                              std::string(row.extension), row.draws, row.is_binary});
  }
  for (const internal::ConvertFormat& row : internal::ConvertFormats()) {
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
  const Result<const internal::TableWriter*> writer = WriterOf(format);
  if (!writer.ok()) {
    return writer.error();
  }
  const Result<void> checked = (*writer)->check == nullptr ? Result<void>() : (*writer)->check();
  return checked.ok() ? std::string() : checked.error().Sentence();
}

Result<Answer> DescribeAnswer(std::string_view verb, const Params& params) {
  const std::string_view verbs[] = {verb};
  internal::RunOptions options;
  const Result<void> read = ReadParams(verbs, params, options);
  if (!read.ok()) {
    return read.error();
  }
  const internal::AnalysisSpec* const spec = FindVerbs(verbs)->front();
  return Mapped(internal::AnswerShape(*spec, options.params), [](internal::Tables tables) {
    return AnswerAccess::Make(internal::Document{std::move(tables), {}});
  });
}

}  // namespace borescope
