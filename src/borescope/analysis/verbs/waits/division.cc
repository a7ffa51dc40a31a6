#include "borescope/analysis/verbs/waits/division.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "borescope/base/saturating.h"

namespace borescope::internal {

CommonTime CommonTimeOf(std::span<const Arrival> arrivals) {
  CommonTime common{arrivals.front().enter_ns, arrivals.front().leave_ns};
  for (const Arrival& arrival : arrivals) {
    common.all_in_ns = std::max(common.all_in_ns, arrival.enter_ns);
    common.first_out_ns = std::min(common.first_out_ns, arrival.leave_ns);
  }
  return common;
}

WaitParts DivideWait(const Arrival& arrival, const CommonTime& common) {
  WaitParts parts;
  parts.skew_ns = std::min(arrival.leave_ns, common.all_in_ns) - arrival.enter_ns;
  parts.common_ns =
      std::max<int64_t>(0, std::min(arrival.leave_ns, common.first_out_ns) - common.all_in_ns);
  parts.tail_ns = arrival.leave_ns - arrival.enter_ns - parts.skew_ns - parts.common_ns;
  return parts;
}

LastArrival FindLast(std::span<const Arrival> arrivals, std::span<const int64_t> error_ns) {
  std::vector<size_t> order(arrivals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // The first of several that come last is at the end.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(arrivals[a].enter_ns, b) < std::tuple(arrivals[b].enter_ns, a);
  });
  LastArrival found;
  found.last = order.back();
  const Arrival& last = arrivals[found.last];
  const Arrival& second = arrivals[order[order.size() - 2]];
  found.lead_ns = last.enter_ns - second.enter_ns;
  found.spread_ns = last.enter_ns - arrivals[order.front()].enter_ns;
  found.is_certain = found.lead_ns > AddSaturating(error_ns[last.rank], error_ns[second.rank]);
  return found;
}

}  // namespace borescope::internal
