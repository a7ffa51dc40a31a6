// Which host events are operators: those that a framework recorded. A program without a framework
// has none; there the ranges that it marked take their place (NVTX, ROCTX), except steps, which are
// windows of time, and ranges that may end on another thread, which are around no call.
#pragma once

#include <vector>

#include "borescope/trace/trace.h"

namespace borescope::internal {

class OperatorRule {
 public:
  OperatorRule() = default;
  // O(rows of the host).
  explicit OperatorRule(const Trace& trace);

  // Whether ranges take the place of operators: another profiler than PyTorch's wrote the
  // recording, and it has ranges but no operators.
  bool takes_ranges() const { return !is_range_name_.empty(); }

  // Whether it has neither, so that no work can have an operator.
  bool has_none() const { return has_none_; }

  bool IsOperator(const Trace& trace, HostId id) const {
    const HostKind kind = trace.host().kind[id.value];
    return kind == HostKind::kOp || (kind == HostKind::kAnnotation && IsOperatorRange(trace, id));
  }

 private:
  bool IsOperatorRange(const Trace& trace, HostId id) const {
    return takes_ranges() && is_range_name_[trace.host().name[id.value].value] != 0 &&
           trace.tracks().is_async[trace.host().track[id.value].value] == 0;
  }

  bool has_none_ = false;
  std::vector<char>
      is_range_name_;  // per StringId: not a step; empty where ranges are no operators
};

}  // namespace borescope::internal
