// A question as text: what a command line, or a program that uses the library, gives by name. Here
// names and texts become Params, in one place for all front ends. Every error is kInvalidArgument,
// in one line that names the parameter as `--name`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

// Analyses asked for together.
using Specs = std::span<const AnalysisSpec* const>;

// Empty = not given.
struct QuestionText {
  std::string rank, step, step_rule, step_pattern, gpu, stream, annotation, instance, begin, end;
  std::string base_rank, test_rank, base_step, test_step;  // of verbs that compare two runs
  std::string by, compat, sort, top, overlay, save;
  std::map<std::string_view, std::string> params;  // by ParamSpec::name; "" for a flag that is set
  bool all = false;
};

// One parameter that many verbs have. Those of single verbs are ParamSpecs.
struct QuestionRow {
  std::string_view name;   // "annotation"
  std::string_view group;  // "selection", "question" or "output"
  std::string_view type;   // as ParameterInfo::type of the public schema
  std::string_view value;  // what represents the value in help: "NAME"; empty for a flag
  std::string_view help;
  std::string QuestionText::* text;  // where the value goes; nullptr for a flag
  bool QuestionText::* flag;         // set by a flag; nullptr otherwise
  // Whether a verb takes it; nullptr for a verb that is no analysis.
  bool (*applies)(const AnalysisSpec* spec);
  // The values to choose from; nullptr when anything goes.
  std::vector<std::string_view> (*choices)(const AnalysisSpec* spec);
};
std::span<const QuestionRow> QuestionRows();
const QuestionRow& GetQuestionRow(std::string_view name);  // REQUIRES: there is one

// The options that belong to these verbs only, in order, each once.
std::vector<const ParamSpec*> ParamsOf(Specs specs);

// Sets params, ranks, sort and top of `options`, and of a comparison what differs between its runs;
// never the files.
Result<void> ReadQuestion(Specs specs, const QuestionText& text, RunOptions& options);

// The text of a question that is given by name, as a program gives it: underscores or dashes. An
// unknown name is an error that suggests the nearest one.
Result<QuestionText> QuestionOf(Specs specs,
                                std::span<const std::pair<std::string, std::string>> entries);

// "0,3" or "2..5", the value of `option`; empty text: all.
Result<NumberRanges> ParseRanges(std::string_view option, const std::string& text);
// A number from `smallest` to `largest`, the value of `option`.
Result<int64_t> ParseWithin(std::string_view option, const std::string& text, int64_t smallest,
                            int64_t largest);
Result<int> ParseCount(std::string_view option, const std::string& text, int largest,
                       int smallest = 1);
// "a, b,a" -> a, b: the items of a list, each once.
std::vector<std::string> SplitList(std::string_view text);

}  // namespace borescope::internal
