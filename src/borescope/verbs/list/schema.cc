#include "borescope/schema.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "borescope/catalog/catalog.h"
#include "borescope/convert/convert.h"
#include "borescope/engine/access.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/question/registry.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/engine/targets/saved_drafts.h"
#include "borescope/ingest/load.h"
#include "borescope/output/writer.h"

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
  BS_ASSIGN(internal::Tables tables, internal::AnswerShape(*specs.front(), options.params));
  return AnswerAccess::Make(internal::Document{std::move(tables), {}});
}

}  // namespace borescope
