#include "borescope/analysis/verbs/stragglers/clock_evidence.h"

#include <algorithm>
#include <limits>

#include "borescope/base/saturating.h"

namespace borescope::internal {

std::string_view ClockVerdictName(ClockVerdict verdict) {
  constexpr std::string_view kNames[] = {"", "agree", "contradict", "apart"};
  return kNames[static_cast<size_t>(verdict)];
}

int64_t WaitingShownByClocks(std::span<const MatchedCall> calls, int64_t shortest_ns) {
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (const MatchedCall& call : calls) {
    if (call.dur_ns == shortest_ns) last_ns = std::max(last_ns, call.begin_ns);
  }
  int64_t shown_ns = 0;
  for (const MatchedCall& call : calls) {
    const int64_t earlier_ns = SubtractSaturating(last_ns, call.begin_ns);
    const int64_t waited_ns = call.dur_ns - shortest_ns;
    AddSaturatingTo(shown_ns, std::clamp<int64_t>(earlier_ns, 0, waited_ns));
  }
  return shown_ns;
}

bool AreTogether(std::span<const MatchedCall> calls) {
  const Participation times(calls);
  return times.last_begin_ns <= times.first_end_ns;
}

ClockVerdict ClockEvidence::verdict() const {
  if (caused_ns == 0) return ClockVerdict::kNothing;
  if (apart > together) return ClockVerdict::kApart;
  return shown_ns >= caused_ns / 2 ? ClockVerdict::kAgree : ClockVerdict::kContradict;
}

}  // namespace borescope::internal
