#include "borescope/index/steps/step_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

#include "borescope/base/within_memory.h"

namespace borescope::internal {

StepPattern::StepPattern(std::unique_ptr<re2::RE2> expression)
    : expression_(std::move(expression)) {}
StepPattern::~StepPattern() = default;
StepPattern::StepPattern(StepPattern&&) noexcept = default;
StepPattern& StepPattern::operator=(StepPattern&&) noexcept = default;

Result<StepPattern> StepPattern::Parse(std::string_view text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  AskForMemory(kExpressionBytes);
  auto expression = std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!expression->ok()) {
    return UsageError(
        fmt::format("'{}' is not a regular expression of RE2: {}", text, expression->error()), {},
        "step_pattern");
  }
  return StepPattern(std::move(expression));
}

bool StepPattern::Matches(std::string_view name) const {
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
}

}  // namespace borescope::internal
