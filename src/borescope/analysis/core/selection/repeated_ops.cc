#include "borescope/analysis/core/selection/repeated_ops.h"

#include <algorithm>
#include <limits>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/base/each_row.h"

namespace borescope::internal {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// A call of autograd that runs functions backward: the outermost backward row, and all below it.
struct Pass {
  HostId row;
  int64_t later_ns = kNever;  // start of the first backward function, in a later pass, of its calls
  bool is_differentiated = false;
};

class RepeatFinder {
 public:
  explicit RepeatFinder(const RankView& view)
      : view_(view),
        host_(view.trace.host()),
        is_backward_name_(BackwardNames(view.trace.strings())) {}

  std::vector<char> Find();

 private:
  static constexpr uint32_t kNoPass = std::numeric_limits<uint32_t>::max();

  bool RunsBackward(HostId row) const;
  bool HasNumber(HostId row) const;
  void FindPasses();
  void FindDifferentiated();

  const RankView& view_;
  const HostEvents& host_;
  std::vector<char> is_backward_name_;  // per text
  std::vector<Pass> passes_;            // by row
  std::vector<uint32_t> pass_of_;       // per row: of passes_
};

bool RepeatFinder::RunsBackward(HostId row) const {
  if (is_backward_name_[host_.name[row.value].value] != 0) return true;
  const uint32_t detail = host_.detail[row.value];
  return host_.kind[row.value] == HostKind::kOp && detail != kNoDetail &&
         view_.trace.ops().forward_thread[detail] > 0;
}

bool RepeatFinder::HasNumber(HostId row) const {
  const uint32_t detail = host_.detail[row.value];
  return host_.kind[row.value] == HostKind::kOp && detail != kNoDetail &&
         view_.trace.ops().sequence[detail] >= 0;
}

void RepeatFinder::FindPasses() {
  pass_of_.resize(host_.all_size());
  for (const uint32_t row : EachRow(pass_of_.size())) {
    const HostId outer = view_.index.tree.parent[row];
    pass_of_[row] = outer.valid() ? pass_of_[outer.value] : kNoPass;
    if (pass_of_[row] == kNoPass && RunsBackward(HostId{row})) {
      pass_of_[row] = static_cast<uint32_t>(passes_.size());
      passes_.push_back({HostId{row}});
    }
  }
}

// A pass goes on until the first function of the later one; on one thread rows are by start.
void RepeatFinder::FindDifferentiated() {
  for (const ForwardBackwardLink& link : view_.index.forward_backward) {
    const uint32_t inside = pass_of_[link.forward.value];
    if (inside != kNoPass && pass_of_[link.backward.value] != inside) {
      int64_t& later_ns = passes_[inside].later_ns;
      later_ns = std::min(later_ns, host_.ts_ns[link.backward.value]);
    }
  }
  TrackId track;
  int64_t until_ns = 0;
  for (Pass& pass : passes_) {
    const uint32_t row = pass.row.value;
    if (host_.IsCaptured(pass.row)) {
      break;  // these come last, have no times, and no call of the recording refers to them
    }
    if (host_.track[row] != track) {
      track = host_.track[row];
      until_ns = std::numeric_limits<int64_t>::min();
    }
    if (pass.later_ns != kNever) until_ns = std::max(until_ns, pass.later_ns);
    pass.is_differentiated = host_.ts_ns[row] < until_ns;
  }
}

std::vector<char> RepeatFinder::Find() {
  FindPasses();
  FindDifferentiated();
  std::vector<char> is_repeated(host_.all_size());
  for (const uint32_t row : EachRow(is_repeated.size())) {
    const uint32_t pass = pass_of_[row];
    if (pass == kNoPass || passes_[pass].is_differentiated || RunsBackward(HostId{row})) {
      continue;
    }
    const HostId outer = view_.index.tree.parent[row];
    is_repeated[row] = is_repeated[outer.value] != 0 || HasNumber(HostId{row}) ? 1 : 0;
  }
  return is_repeated;
}

}  // namespace

std::vector<char> RepeatedOps(const RankView& view) { return RepeatFinder(view).Find(); }

}  // namespace borescope::internal
