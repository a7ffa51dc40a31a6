// Every collective is divided, rank by rank, and who was last is found.
#include <algorithm>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

std::vector<int64_t> ErrorsOf(const WaitRun& run) {
  std::vector<int64_t> error_ns;
  error_ns.reserve(run.clocks.ranks.size());
  for (const RankClock& clock : run.clocks.ranks) error_ns.push_back(clock.error_ns);
  return error_ns;
}

void DivideCall(const CommonTime& common, int64_t base_ns, const IntervalSums& compute,
                WaitCall& call) {
  call.parts = DivideWait({call.rank, call.enter_ns(), call.leave_ns()}, common);
  const int64_t from_ns = AddSaturating(base_ns, call.begin_ns);
  call.exposed_skew_ns =
      call.parts.skew_ns - compute.Within(from_ns, AddSaturating(from_ns, call.parts.skew_ns));
}

}  // namespace

std::vector<IntervalSums> ComputeBesideCalls(const Table& compute, const WaitRun& run) {
  std::vector<IntervalSet> sets(run.ranks.size());
  size_t place = 0;
  for (size_t row = 0; row < compute.rows(); ++row) {
    while (place + 1 < run.ranks.size() && run.ranks[place] != Ints(compute, "rank")[row]) ++place;
    sets[place].push_back({Ints(compute, "begin_ns")[row], Ints(compute, "end_ns")[row]});
  }
  std::vector<IntervalSums> sums;
  sums.reserve(sets.size());
  for (IntervalSet& set : sets) sums.emplace_back(std::move(set));
  return sums;
}

void DivideCollectives(const Tables& tables, WaitRun& run) {
  const std::vector<IntervalSums> compute = ComputeBesideCalls(tables[3], run);
  const std::vector<int64_t> error_ns = ErrorsOf(run);
  std::vector<Arrival> arrivals;
  for (size_t i = 0; i < run.collectives.size(); ++i) {
    CheckStopAt(i);
    WaitCollective& collective = run.collectives[i];
    arrivals.clear();
    for (const WaitCall& call : run.CallsOf(collective)) {
      arrivals.push_back({call.rank, call.enter_ns(), call.leave_ns()});
    }
    for (const Arrival& arrival : arrivals) {
      AddSaturatingTo(collective.inside_ns, arrival.leave_ns - arrival.enter_ns);
    }
    collective.is_contradicted = run.clocks.is_contradicted[i] != 0;
    collective.common = CommonTimeOf(arrivals);
    collective.last = FindLast(arrivals, error_ns);
    if (collective.is_contradicted) {
      collective.last.is_certain = false;
      continue;
    }
    for (size_t k = collective.first; k < collective.first + collective.count; ++k) {
      WaitCall& call = run.calls[k];
      DivideCall(collective.common, run.base_ns[call.rank], compute[call.rank], call);
      AddSaturatingTo(collective.skew_ns, call.parts.skew_ns);
      AddSaturatingTo(collective.common_ns, call.parts.common_ns);
      AddSaturatingTo(collective.tail_ns, call.parts.tail_ns);
      AddSaturatingTo(collective.exposed_skew_ns, call.exposed_skew_ns);
    }
  }
}

}  // namespace borescope::internal
