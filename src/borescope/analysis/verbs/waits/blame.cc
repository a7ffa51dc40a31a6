#include "borescope/analysis/verbs/waits/blame.h"

#include <algorithm>
#include <iterator>
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

std::string_view LateCauseName(LateCause cause) {
  constexpr std::string_view kNames[] = {"compute",          "copy",         "communication",
                                         "idle: data",       "idle: host",   "idle: sync",
                                         "idle: launch",     "idle: device", "idle: unknown",
                                         "before recording", "inherited",    "waiting"};
  static_assert(std::size(kNames) == kLateCauses);
  return kNames[static_cast<size_t>(cause)];
}

namespace {

void AddBlame(const Blame& more, Blame& sum) {
  AddSaturatingTo(sum.ns, more.ns);
  AddSaturatingTo(sum.exposed_ns, more.exposed_ns);
}

// The causes as weights; all unknown where the last rank did nothing more than the others.
CauseNs WeightsOf(const CauseNs& causes) {
  CauseNs weights = causes;
  if (std::none_of(causes.begin(), causes.end(), [](int64_t ns) { return ns > 0; })) {
    weights = {};
    At(weights, LateCause::kUnknown) = 1;
  }
  return weights;
}

BlameSums::Main MainCause(int64_t skew_ns, const CauseNs& weights) {
  const CauseNs parts = ExactShares(skew_ns, weights);
  const auto largest = std::max_element(weights.begin(), weights.end());
  const auto cause = static_cast<size_t>(largest - weights.begin());
  return {static_cast<LateCause>(cause), parts[cause]};
}

// The collective to which the part of a cause goes on; kNoCollective: it arose here.
uint32_t GoesOnTo(std::span<const Lateness> collectives, const Lateness& late, LateCause cause) {
  uint32_t to = kNoCollective;
  if (cause == LateCause::kWaiting) to = late.waited_in;
  if (cause == LateCause::kInherited && late.previous != kNoCollective &&
      collectives[late.previous].last_rank == late.last_rank) {
    to = late.previous;
  }
  const bool is_earlier = to != kNoCollective && collectives[to].all_in_ns < late.all_in_ns;
  return is_earlier ? to : kNoCollective;
}

// Latest first, so that what goes on to an earlier one is known when that one is divided.
std::vector<size_t> LatestFirst(std::span<const Lateness> collectives) {
  std::vector<size_t> order(collectives.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(collectives[b].all_in_ns, b) < std::tuple(collectives[a].all_in_ns, a);
  });
  return order;
}

}  // namespace

BlameSums SumBlame(std::span<const Lateness> collectives) {
  BlameSums sums;
  sums.main_cause.resize(collectives.size());
  std::vector<Blame> passed_on(collectives.size());
  for (const size_t i : LatestFirst(collectives)) {
    const Lateness& late = collectives[i];
    Blame all{late.skew_ns, late.exposed_skew_ns};
    AddBlame(passed_on[i], all);
    if (late.last_rank == kNobody) {
      AddBlame(all, sums.by_cause[{kNobody, LateCause::kUnknown}]);
      continue;
    }
    const CauseNs weights = WeightsOf(late.causes);
    sums.main_cause[i] = MainCause(late.skew_ns, weights);
    const CauseNs parts = ExactShares(all.ns, weights);
    const CauseNs exposed = ExactShares(all.exposed_ns, weights);
    for (size_t cause = 0; cause < kLateCauses; ++cause) {
      const Blame part{parts[cause], exposed[cause]};
      if (part.ns == 0 && part.exposed_ns == 0) continue;
      const auto named = static_cast<LateCause>(cause);
      const uint32_t to = GoesOnTo(collectives, late, named);
      AddBlame(part, to != kNoCollective ? passed_on[to] : sums.by_cause[{late.last_rank, named}]);
    }
  }
  return sums;
}

}  // namespace borescope::internal
