#include "tests/support/model/scenario_intervals.h"

#include <algorithm>

namespace borescope::scenario {

BusyTotals& BusyTotals::operator+=(const BusyTotals& other) {
  busy_ns += other.busy_ns;
  compute_ns += other.compute_ns;
  exposed_comm_ns += other.exposed_comm_ns;
  exposed_copy_ns += other.exposed_copy_ns;
  comm_ns += other.comm_ns;
  return *this;
}

BusyTotals BusySweep::Advance(int64_t horizon_ns) {
  closed_.clear();
  size_t kept = 0;
  for (const Interval interval : pending_) {
    if (interval.begin_ns < horizon_ns) {
      closed_.push_back({interval.begin_ns, std::min(interval.end_ns, horizon_ns), interval.work});
    }
    if (interval.end_ns > horizon_ns) {
      pending_[kept++] = {std::max(interval.begin_ns, horizon_ns), interval.end_ns, interval.work};
    }
  }
  pending_.resize(kept);
  std::sort(closed_.begin(), closed_.end(),
            [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });

  // The union of some kinds of work, from one to another.
  const auto union_ns = [this](Work first, Work last) {
    int64_t total_ns = 0;
    int64_t covered_ns = INT64_MIN;
    for (const Interval& interval : closed_) {
      if (interval.work < first || interval.work > last) continue;
      if (interval.end_ns <= covered_ns) continue;
      total_ns += interval.end_ns - std::max(interval.begin_ns, covered_ns);
      covered_ns = interval.end_ns;
    }
    return total_ns;
  };
  const int64_t compute_ns = union_ns(Work::kCompute, Work::kCompute);
  const int64_t with_comm_ns = union_ns(Work::kCompute, Work::kComm);
  const int64_t busy_ns = union_ns(Work::kCompute, Work::kCopy);
  return {.busy_ns = busy_ns,
          .compute_ns = compute_ns,
          .exposed_comm_ns = with_comm_ns - compute_ns,
          .exposed_copy_ns = busy_ns - with_comm_ns,
          .comm_ns = union_ns(Work::kComm, Work::kComm)};
}

}  // namespace borescope::scenario
