// The lag of every class of dependencies, measured where the dependency decided: elsewhere the
// time between its ends holds other waits, too.
//
//   launch   the other conditions of the work were met before the launch call began
//   stream   the work before ended kClearNs or more after launch and lag of the launch
//   event    the same of the work that was waited for, and after the work before it
//   wait     the awaited work ended after the call began
//   queue    calls that found a full queue
//   call     calls that found nothing to wait for
//
// Lags add up along a path, so that a constant is the mean of its cases. The largest 2 % are left
// out, as they hold what the recording does not show, and no lag exceeds its cap. That of a call is
// the 10th percentile: some do other work, too, as a copy through a buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "borescope/analysis/measures/replay/replay_graph.h"

namespace borescope::internal {

// Where a constant is from.
enum class LagSource : uint8_t {
  kMeasured,  // from cases of its class
  kKind,      // from all cases of its kind, as its class has fewer than `least`
  kAssumed,   // a usual value: there are fewer of the kind, too
};
std::string_view LagSourceName(LagSource source);
inline constexpr size_t kLeastCases = 8;

struct LagConstant {
  int64_t cases = 0;  // of the class
  int64_t lag_ns = 0;
  int64_t spread_ns = 0;  // 10th to 90th percentile of the cases
  LagSource source = LagSource::kAssumed;
};

// Per class. `counts` says which times are looked at, `least` how many cases make a constant.
// O(dependencies log dependencies).
std::vector<LagConstant> FitLags(const RankView& view, const ReplayGraph& graph,
                                 const std::function<bool(Place)>& counts,
                                 size_t least = kLeastCases);

// Per class.
std::vector<int64_t> LagValues(const std::vector<LagConstant>& constants);

}  // namespace borescope::internal
