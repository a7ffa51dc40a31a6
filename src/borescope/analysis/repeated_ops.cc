#include "borescope/analysis/repeated_ops.h"

#include <algorithm>
#include <limits>

#include "borescope/analysis/phases.h"

namespace borescope {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

class RepeatFinder {
 public:
  explicit RepeatFinder(const RankView& view) : view_(view), host_(view.trace.host()) {}

  std::vector<char> Find();

 private:
  bool RunsBackward(HostId row) const;
  bool HasNumber(HostId row) const;
  void FindOutermost();
  void FindDifferentiated();

  const RankView& view_;
  const HostEvents& host_;
  std::vector<HostId> outermost_;        // per row: the outermost backward row around it, or itself
  std::vector<char> is_differentiated_;  // per row, of outermost ones
};

bool RepeatFinder::RunsBackward(HostId row) const {
  if (view_.trace.Name(row).starts_with(kBackwardMark)) return true;
  const uint32_t detail = host_.detail[row.value];
  return host_.kind[row.value] == HostKind::kOp && detail != kNoDetail &&
         view_.trace.ops().forward_thread[detail] > 0;
}

bool RepeatFinder::HasNumber(HostId row) const {
  const uint32_t detail = host_.detail[row.value];
  return host_.kind[row.value] == HostKind::kOp && detail != kNoDetail &&
         view_.trace.ops().sequence[detail] >= 0;
}

void RepeatFinder::FindOutermost() {
  outermost_.resize(host_.size());
  for (uint32_t row = 0; row < host_.size(); ++row) {
    const HostId outer = view_.index.tree.parent[row];
    if (outer.valid()) outermost_[row] = outermost_[outer.value];
    if (!outermost_[row].valid() && RunsBackward(HostId{row})) outermost_[row] = HostId{row};
  }
}

// A pass goes on until the first function of the later one; on one thread rows are by start.
void RepeatFinder::FindDifferentiated() {
  std::vector<int64_t> later_ns(host_.size(), kNever);
  for (const ForwardBackwardLink& link : view_.index.forward_backward) {
    const HostId inside = outermost_[link.forward.value];
    if (inside.valid() && outermost_[link.backward.value] != inside) {
      later_ns[inside.value] = std::min(later_ns[inside.value], host_.ts_ns[link.backward.value]);
    }
  }
  is_differentiated_.resize(host_.size());
  int64_t until_ns = 0;
  for (uint32_t row = 0; row < host_.size(); ++row) {
    if (row == 0 || host_.track[row] != host_.track[row - 1]) {
      until_ns = std::numeric_limits<int64_t>::min();
    }
    if (outermost_[row] != HostId{row}) continue;
    if (later_ns[row] != kNever) until_ns = std::max(until_ns, later_ns[row]);
    is_differentiated_[row] = host_.ts_ns[row] < until_ns ? 1 : 0;
  }
}

std::vector<char> RepeatFinder::Find() {
  FindOutermost();
  FindDifferentiated();
  std::vector<char> is_repeated(host_.size());
  for (uint32_t row = 0; row < host_.size(); ++row) {
    const HostId outer = view_.index.tree.parent[row];
    const HostId pass = outermost_[row];
    if (RunsBackward(HostId{row}) || (pass.valid() && is_differentiated_[pass.value] != 0)) {
      continue;
    }
    const bool around = outer.valid() && is_repeated[outer.value] != 0;
    is_repeated[row] = around || HasNumber(HostId{row}) ? 1 : 0;
  }
  return is_repeated;
}

}  // namespace

std::vector<char> RepeatedOps(const RankView& view) { return RepeatFinder(view).Find(); }

}  // namespace borescope
