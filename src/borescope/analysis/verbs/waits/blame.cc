#include "borescope/analysis/verbs/waits/blame.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "borescope/analysis/verbs/waits/exact_shares.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

void AddBlame(const Blame& more, Blame& sum) {
  AddSaturatingTo(sum.ns, more.ns);
  AddSaturatingTo(sum.exposed_ns, more.exposed_ns);
}

// The causes as weights; all unknown where the last rank did nothing more than the median one.
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
      const bool goes_on = static_cast<LateCause>(cause) == LateCause::kWaiting &&
                           late.waited_in != kNoCollective &&
                           collectives[late.waited_in].all_in_ns < late.all_in_ns;
      AddBlame(part, goes_on ? passed_on[late.waited_in]
                             : sums.by_cause[{late.last_rank, static_cast<LateCause>(cause)}]);
    }
  }
  return sums;
}

}  // namespace borescope::internal
