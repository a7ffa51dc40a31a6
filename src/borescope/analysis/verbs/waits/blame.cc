#include "borescope/analysis/verbs/waits/blame.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "borescope/analysis/verbs/waits/division.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

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
