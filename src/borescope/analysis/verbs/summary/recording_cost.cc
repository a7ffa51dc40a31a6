#include "borescope/analysis/verbs/summary/recording_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

// Gaps that are longer without the cost are no part of it.
CostParts PartsOf(const Table& gaps, std::string_view level) {
  const auto sum = [&](std::string_view part) {
    return std::max<int64_t>(0, SumOf(gaps, fmt::format("{}{}", level, part)));
  };
  const int64_t long_ns = sum("long_late_ns");
  const int64_t short_ns = sum("short_late_ns");
  const int64_t latency_ns = sum("latency_ns");
  const int64_t all_ns = AddSaturating(AddSaturating(long_ns, short_ns), latency_ns);
  return all_ns == 0 ? CostParts()
                     : CostParts{ShareOf(long_ns, all_ns), ShareOf(short_ns, all_ns),
                                 ShareOf(latency_ns, all_ns)};
}

}  // namespace

RecordingCost FindRecordingCost(const SummaryTables& tables) {
  const Table& times = tables.true_time;
  RecordingCost cost;
  for (size_t row = 0; row < times.rows(); ++row) {
    cost.is_given = Texts(times, "cost_source")[row] == "plain-step";
  }
  cost.estimate_ns = SumOf(tables.cost_of_gaps, "estimate_ns");
  cost.least_ns = SumOf(tables.cost_of_gaps, "least_ns");
  cost.most_ns = SumOf(tables.cost_of_gaps, "most_ns");
  cost.estimate_parts = PartsOf(tables.cost_of_gaps, "");
  cost.most_parts = PartsOf(tables.cost_of_gaps, "most_");
  return cost;
}

TrueShare ShareWithoutRecording(const RecordingCost& cost, int64_t part_ns, int64_t whole_ns,
                                double cost_part) {
  const auto share = [&](int64_t cost_ns) {
    const double part =
        std::max(0.0, static_cast<double>(part_ns) - cost_part * static_cast<double>(cost_ns));
    // As doubles: a partial result that was damaged can hold any number.
    const double whole = static_cast<double>(whole_ns) - static_cast<double>(cost_ns);
    return whole <= 0 ? 1.0 : std::min(1.0, part / whole);
  };
  const double least = share(cost.least_ns);
  const double most = share(cost.most_ns);
  return {share(0), share(cost.estimate_ns), std::min(least, most), std::max(least, most)};
}

std::string WordsOfTrueShare(const RecordingCost& cost, const TrueShare& share) {
  if (!cost.is_known()) {
    return "";
  }
  if (cost.is_given && cost.least_ns == cost.most_ns) {
    return fmt::format(", {:.0f} % without the profiler", 100 * share.estimate);
  }
  return fmt::format(", about {:.0f} % ({:.0f} to {:.0f} %) without the profiler",
                     100 * share.estimate, 100 * share.low, 100 * share.high);
}

}  // namespace borescope::internal
