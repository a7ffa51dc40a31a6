#include "borescope/index/launches/links.h"

#include <algorithm>
#include <span>

#include "borescope/base/stop.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {

namespace {

struct Numbered {
  int64_t sequence;
  int64_t ts_ns;
  HostId row;

  friend auto operator<=>(const Numbered&, const Numbered&) = default;
};

bool IsBackward(const Ops& ops, uint32_t detail) {
  return ops.forward_thread[detail] != kMissing && ops.forward_thread[detail] > 0;
}

// The sequence number of an operator row, or kMissing.
int64_t SequenceOf(const Trace& trace, HostId row) {
  const HostEvents& host = trace.host();
  const uint32_t detail = host.detail[row.value];
  const bool has_number = detail != kNoDetail && trace.ops().sequence[detail] >= 0;
  return has_number ? int64_t{trace.ops().sequence[detail]} : kMissing;
}

}  // namespace

ColumnData<ForwardBackwardLink> LinkForwardBackward(const Trace& trace, const CallTree& tree) {
  const HostEvents& host = trace.host();
  ColumnData<Numbered> forward;
  ColumnData<Numbered> backward;
  std::vector<HostId> open;  // operators around the current row, outer first
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] != HostKind::kOp) {
      continue;
    }
    while (!open.empty() && tree.subtree_end[open.back().value] <= row) {
      open.pop_back();
    }
    const HostId around = open.empty() ? HostId{} : open.back();
    if (tree.subtree_end[row] > row + 1) {
      open.push_back({row});
    }
    const int64_t sequence = SequenceOf(trace, {row});
    if (sequence == kMissing) {
      continue;
    }
    if (!IsBackward(trace.ops(), host.detail[row])) {
      forward.push_back({sequence, host.ts_ns[row], {row}});
    } else if (!around.valid() || SequenceOf(trace, around) != sequence) {
      backward.push_back({sequence, host.ts_ns[row], {row}});
    }
  }
  std::sort(forward.begin(), forward.end());
  ColumnData<ForwardBackwardLink> links;
  for (const Numbered& call : backward) {
    const auto after = std::upper_bound(forward.begin(), forward.end(), call);
    if (after != forward.begin() && std::prev(after)->sequence == call.sequence) {
      links.push_back({call.row, std::prev(after)->row});
    }
  }
  return links;
}

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
  for (uint32_t name = 0; name < is_range_name_.size(); ++name) {
    CheckStopAt(name);
    const std::string_view text = trace.Text(StringId{name});
    is_range_name_[name] = StepNumber(text).has_value() || IsServerStep(text) ? 0 : 1;
  }
}

}  // namespace borescope::internal
