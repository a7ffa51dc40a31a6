#include "borescope/analysis/verbs/stragglers/collective_rates.h"

#include <algorithm>
#include <optional>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/collectives.h"

namespace borescope::internal {
namespace {

void AddKeyColumns(Table& table) {
  AddString(table, "collective", Role::kKey, "What was asked for.");
  AddString(table, "group", Role::kKey, "Name of the process group; missing when not recorded.");
  AddInt(table, "group_size", Unit::kCount, Role::kKey, "Number of ranks in the group.");
  AddInt(table, "count", Unit::kCount, Role::kDerived, "Collectives found on two ranks or more.");
}

void AddRateColumns(Table& table) {
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kDerived,
         "Sum of the durations on all ranks, waiting included.")
      .hints.tone = Tone::kComm;
  AddInt(table, "shared_ns", Unit::kNanoseconds, Role::kDerived,
         "Sum of the shortest duration of each collective: all ranks are in it only that long.");
  AddInt(table, "waited_ns", Unit::kNanoseconds, Role::kDerived,
         "Part of total_ns beyond the shortest duration: the ranks waited for the last one.");
  AddFloat(table, "wait_share", Unit::kShare, Role::kDerived, "waited_ns / total_ns.");
  const auto rate = [&](std::string_view name, std::string_view doc) -> Column& {
    return AddFloat(table, name, Unit::kGigabytesPerSecond, Role::kDerived, doc);
  };
  rate("algo_gbps", "Bytes / time of all calls with their waiting, as in collectives.");
  rate("shared_algo_gbps", "The same of the shortest call of each collective: free of waiting.");
  rate("bus_gbps",
       "Bus bandwidth of all calls with their waiting; missing if the group size is not known.");
  rate("shared_bus_gbps", "The same of the shortest call of each collective.").hints.tone =
      Tone::kComm;
  AddFloat(table, "coverage", Unit::kShare, Role::kDerived,
           "Part of total_ns in calls whose message size is known. Below 0.9 there are no rates.");
}

void AddSkewColumns(Table& table) {
  AddFloat(table, "mean_begin_skew_ns", Unit::kNanoseconds, Role::kDerived,
           "From the first to the last begin on any rank, by the clocks of the files; mean.");
  AddInt(table, "max_begin_skew_ns", Unit::kNanoseconds, Role::kDerived, "The same at most.");
  AddFloat(table, "mean_end_skew_ns", Unit::kNanoseconds, Role::kDerived,
           "From the first to the last end; mean. Ranks leave together, so that this is about how "
           "far their clocks differ.");
  AddInt(table, "max_end_skew_ns", Unit::kNanoseconds, Role::kDerived, "The same at most.");
}

// By the time of the calls of known size.
void PushRate(Row& row, int64_t bytes, const TimeCovered& time, std::optional<double> factor) {
  const bool is_known = factor.has_value() && time.is_enough() && time.covered_ns > 0;
  is_known ? row.Float(ShareOf(bytes, time.covered_ns) * *factor) : row.Missing();
}

int64_t WaitingIn(std::span<const MatchedCall> calls, int64_t shortest_ns) {
  int64_t waited_ns = 0;
  for (const MatchedCall& call : calls) {
    AddSaturatingTo(waited_ns, call.dur_ns - shortest_ns);
  }
  return waited_ns;
}

}  // namespace

void CollectiveRates::Add(const Kind& kind, std::span<const MatchedCall> calls) {
  Sums& sums = kinds_[kind];
  const MatchedCall* shortest = &calls.front();
  for (const MatchedCall& call : calls) {
    sums.time.Add(call.dur_ns, call.bytes != kMissing);
    if (call.bytes != kMissing) AddSaturatingTo(sums.bytes, call.bytes);
    if (call.dur_ns < shortest->dur_ns) shortest = &call;
  }
  ++sums.count;
  sums.shared.Add(shortest->dur_ns, shortest->bytes != kMissing);
  if (shortest->bytes != kMissing) AddSaturatingTo(sums.shared_bytes, shortest->bytes);
  const Participation times(calls);
  const int64_t begin_ns = SubtractSaturating(times.last_begin_ns, times.first_begin_ns);
  const int64_t end_ns = SubtractSaturating(times.last_end_ns, times.first_end_ns);
  AddSaturatingTo(sums.begin_skew_ns, begin_ns);
  AddSaturatingTo(sums.end_skew_ns, end_ns);
  sums.most_begin_skew_ns = std::max(sums.most_begin_skew_ns, begin_ns);
  sums.most_end_skew_ns = std::max(sums.most_end_skew_ns, end_ns);
  AddSaturatingTo(sums.waited_ns, WaitingIn(calls, shortest->dur_ns));
}

Table CollectiveRates::Build() const {
  Table table{"collective_bandwidth", "Bandwidth of collectives with and without waiting", {}};
  AddKeyColumns(table);
  AddRateColumns(table);
  AddSkewColumns(table);
  for (const auto& [kind, sums] : kinds_) {
    const auto factor = BusFactor(KindOfRecordedName(kind.collective), kind.group_size);
    Row row(table);
    row.Text(kind.collective).MaybeText(kind.group).MaybeInt(kind.group_size).Int(sums.count);
    row.Int(sums.time.all_ns).Int(sums.shared.all_ns).Int(sums.waited_ns);
    sums.time.all_ns > 0 ? row.Share(sums.waited_ns, sums.time.all_ns) : row.Missing();
    PushRate(row, sums.bytes, sums.time, 1);
    PushRate(row, sums.shared_bytes, sums.shared, 1);
    PushRate(row, sums.bytes, sums.time, factor);
    PushRate(row, sums.shared_bytes, sums.shared, factor);
    sums.time.all_ns > 0 ? row.Share(sums.time.covered_ns, sums.time.all_ns) : row.Missing();
    row.Share(sums.begin_skew_ns, sums.count).Int(sums.most_begin_skew_ns);
    row.Share(sums.end_skew_ns, sums.count).Int(sums.most_end_skew_ns);
  }
  return Sorted(table, "total_ns");
}

}  // namespace borescope::internal
