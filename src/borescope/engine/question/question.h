// A question (borescope/question.h) becomes typed here, in one place for all front ends: names are
// looked up in the registry, values are checked, and what is mapped is what RunOptions says. Every
// error is kInvalidArgument, in one line that names the parameter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/run_options.h"
#include "borescope/question.h"

namespace borescope::internal {

using borescope::Question;

// Analyses asked for together.
using Specs = std::span<const AnalysisSpec* const>;

// The analyses of these names. kInvalidArgument for none and for one that is unknown.
Result<std::vector<const AnalysisSpec*>> FindVerbs(std::span<const std::string> names);

// The tasks whose questions are read here: of "report" and "check", which ask many verbs, the
// parameters mean what they mean for the summary.
bool IsOf(const Question& question, std::string_view task);

// Sets what the question says: params, ranks, sort, top, timeline, and the files of `overlay` and
// `save`; and of a comparison what differs between its runs. Never the files of the run.
Result<void> ReadQuestion(const Question& question, RunOptions& options);

// One shared parameter, or one of these verbs, of which partials keep the text.
struct ParameterText {
  std::string name;
  std::string text;
};
// What the typed parameters are as text, for each shared parameter that has a text (registry.h).
std::vector<ParameterText> SharedTexts(const Params& params, const NumberRanges& ranks);

// The options that belong to these verbs only, in order, each once.
std::vector<const ParamSpec*> ParamsOf(Specs specs);

// "0,3" or "2..5", the value of `option`; empty text: all.
Result<NumberRanges> ParseRanges(std::string_view option, const std::string& text);
// A number from `smallest` to `largest`, the value of `option`.
Result<int64_t> ParseWithin(std::string_view option, const std::string& text, int64_t smallest,
                            int64_t largest);
Result<int> ParseCount(std::string_view option, const std::string& text, int largest,
                       int smallest = 1);
// "a, b,a" -> a, b: the items of a list, each once.
std::vector<std::string> SplitList(std::string_view text);

// The files that options of analyses name are read here, before anything asks for their content, so
// that analyses stay pure. Sets ParamValue::content of every value given for an option of these
// analyses that is a file. kIo for a file that cannot be read, kInvalidArgument for one above 1
// MiB; both name option and file.
Result<void> ReadParamFiles(std::span<const AnalysisSpec* const> specs, Params& params);

}  // namespace borescope::internal
