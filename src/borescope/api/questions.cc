#include "borescope/api/questions.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "borescope/analysis/measures/true_time/true_time.h"
#include "borescope/api/access.h"
#include "borescope/base/text/nearest.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/inputs/question_text.h"
#include "borescope/run.h"

namespace borescope {
namespace {

using internal::AnalysisSpec;

Error UnknownVerb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AnalysisSpec* spec : internal::Analyses()) {
    names.push_back(spec->name);
  }
  const std::string_view nearest = internal::Nearest(name, names);
  return {.code = ErrorCode::kInvalidArgument,
          .cause = "unknown verb '" + std::string(name) + "'",
          .remedy = nearest.empty() ? "" : "did you mean '" + std::string(nearest) + "'?"};
}

}  // namespace

Result<std::vector<const AnalysisSpec*>> FindVerbs(std::span<const std::string_view> names) {
  std::vector<const AnalysisSpec*> specs;
  for (const std::string_view name : names) {
    const AnalysisSpec* const spec = internal::FindAnalysis(name);
    if (spec == nullptr) {
      return UnknownVerb(name);
    }
    specs.push_back(spec);
  }
  if (specs.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument, .cause = "no verb"};
  }
  return specs;
}

Result<void> ReadParams(std::span<const std::string_view> verbs, const Params& params,
                        internal::RunOptions& options) {
  const Result<std::vector<const AnalysisSpec*>> specs = FindVerbs(verbs);
  if (!specs.ok()) {
    return specs.error();
  }
  const Result<internal::QuestionText> text = internal::QuestionOf(*specs, params.entries());
  return text.ok() ? internal::ReadQuestion(*specs, *text, options) : text.error();
}

Result<void> ReadReportParams(const Params& params, internal::RunOptions& options) {
  Params others;
  for (const auto& [name, value] : params.entries()) {
    if (name != "timeline") {
      others.Set(name, value);
      continue;
    }
    const std::string_view words[] = {"window", "full", "off"};
    if (std::find(std::begin(words), std::end(words), value) == std::end(words)) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .cause = "'" + value + "' is not one of window, full, off",
                   .parameter = "timeline"};
    }
    options.timeline = value;
  }
  const std::string_view like[] = {"summary"};
  const Result<void> read = ReadParams(like, others, options);
  return read.ok() ? internal::CheckTrueTimeParams("report", options.params) : read;
}

Result<void> CheckQuestion(std::span<const std::string_view> verbs, const Params& params) {
  internal::RunOptions ignored;
  return ReadParams(verbs, params, ignored);
}

}  // namespace borescope
