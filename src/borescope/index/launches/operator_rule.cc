#include "borescope/index/launches/operator_rule.h"

#include <algorithm>
#include <span>

#include "borescope/base/each_row.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {
namespace {

// Of what was recorded: captured operators, of another recording, are no reason.
bool HasHostKind(const Trace& trace, HostKind kind) {
  const auto kinds = std::span(trace.host().kind).first(trace.host().size());
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

OperatorRule::OperatorRule(const Trace& trace) {
  if (IsOfPyTorchProfiler(trace.meta().format) || HasHostKind(trace, HostKind::kOp)) {
    return;
  }
  has_none_ = !HasHostKind(trace, HostKind::kAnnotation);
  if (has_none_) {
    return;
  }
  is_range_name_.resize(trace.strings().size());
  for (const uint32_t name : EachRow(is_range_name_.size())) {
    const std::string_view text = trace.Text(StringId{name});
    is_range_name_[name] = StepNumber(text).has_value() || IsServerStep(text) ? 0 : 1;
  }
}

}  // namespace borescope::internal
