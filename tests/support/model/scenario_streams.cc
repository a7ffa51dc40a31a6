#include "tests/support/model/scenario_streams.h"

#include <algorithm>
#include <tuple>

namespace borescope::scenario {

void IdleTruth::Add(int64_t begin_ns, int64_t end_ns, int64_t launch_ns) {
  if (begin_ns != group_begin_ns_) {
    CloseGroup();
    group_begin_ns_ = begin_ns;
    group_end_ns_ = begin_ns;
    group_launch_ns_ = kNoLaunch;
  }
  group_end_ns_ = std::max(group_end_ns_, end_ns);
  group_launch_ns_ = std::min(group_launch_ns_, launch_ns);
}

void IdleTruth::CloseGroup() {
  if (group_begin_ns_ == kNoGroup) return;
  if (!has_work_) {
    has_work_ = true;
    first_ns_ = covered_ns_ = group_begin_ns_;
  }
  const int64_t gap_ns = group_begin_ns_ - covered_ns_;
  if (gap_ns > 0) {
    if (group_launch_ns_ == kNoLaunch) {
      sum_.unlinked_ns += gap_ns;
    } else {
      const int64_t launched_ns = std::clamp(group_launch_ns_, covered_ns_, group_begin_ns_);
      const int64_t rest_ns = group_begin_ns_ - launched_ns;
      sum_.host_wait_ns += launched_ns - covered_ns_;
      (rest_ns < kKernelWaitNs ? sum_.kernel_wait_ns : sum_.other_ns) += rest_ns;
    }
  }
  covered_ns_ = std::max(covered_ns_, group_end_ns_);
}

IdleSum IdleTruth::Finish(int64_t trace_begin_ns, int64_t trace_end_ns) {
  CloseGroup();
  sum_.head_ns = (has_work_ ? first_ns_ : trace_end_ns) - trace_begin_ns;
  sum_.tail_ns = has_work_ ? trace_end_ns - covered_ns_ : 0;
  return sum_;
}

void QueueTruth::Advance(int64_t horizon_ns) {
  const auto later = std::partition(pending_.begin(), pending_.end(), [&](const Change& change) {
    return change.ts_ns < horizon_ns;
  });
  std::sort(pending_.begin(), later, [](const Change& a, const Change& b) {
    return std::tie(a.ts_ns, a.is_work) < std::tie(b.ts_ns, b.is_work);
  });
  for (auto change = pending_.begin(); change != later; ++change) {
    if (length_ >= kQueueLimit) blocked_ns_ += change->ts_ns - since_ns_;
    since_ns_ = change->ts_ns;
    length_ += change->is_work ? -1 : 1;
    ++samples_;
    length_sum_ += length_;
    min_ = std::min(min_, length_);
    max_ = std::max(max_, length_);
  }
  pending_.erase(pending_.begin(), later);
}

}  // namespace borescope::scenario
