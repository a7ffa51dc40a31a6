#include "borescope/analysis/verbs/summary/long_gaps.h"

#include <algorithm>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/verbs/summary/left_out.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

constexpr int64_t kSeveral = 5;

bool HasLongGap(const Table& idle_causes, size_t row) {
  const int64_t longest_ns = Ints(idle_causes, kLongestGap)[row];
  const int64_t others = SubtractSaturating(Ints(idle_causes, "gaps")[row], 1);
  const int64_t all_ns =
      AddSaturating(Ints(idle_causes, "host_ns")[row], Ints(idle_causes, "sync_ns")[row]);
  const int64_t others_ns = SubtractSaturating(all_ns, longest_ns);
  return others > 0 && longest_ns > others_ns && longest_ns / kSeveral > others_ns / others;
}

// The devices with a long gap that is not several times shorter than the longest, which is first.
std::vector<size_t> RowsWithLongGaps(const Table& idle_causes) {
  const IntValues& gaps_ns = Ints(idle_causes, kLongestGap);
  std::vector<size_t> rows;
  for (size_t row = 0; row < gaps_ns.size(); ++row) {
    if (HasLongGap(idle_causes, row)) {
      rows.push_back(row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return gaps_ns[a] > gaps_ns[b]; });
  std::erase_if(rows, [&, longest_ns = rows.empty() ? 0 : gaps_ns[rows.front()]](size_t row) {
    return gaps_ns[row] <= longest_ns / kSeveral;
  });
  return rows;
}

// Of the device of a row of idle_causes.
int64_t SpanOf(const SummaryTables& tables, size_t row) {
  const Table& idle_causes = tables.idle_causes;
  const Table& breakdown = tables.breakdown;
  const int64_t rank = Ints(idle_causes, "rank")[row];
  const int64_t gpu = Ints(idle_causes, "gpu")[row];
  for (size_t i = 0; i < breakdown.rows(); ++i) {
    if (Ints(breakdown, "rank")[i] == rank && Ints(breakdown, "gpu")[i] == gpu) {
      return SubtractSaturating(Ints(breakdown, "span_ns")[i], LeftOutOfDevice(tables, row));
    }
  }
  return 0;
}

}  // namespace

double LongGaps::share() const { return ShareOf(ns, span_ns); }

LongGaps FindLongGaps(const SummaryTables& tables) {
  const Table& idle_causes = tables.idle_causes;
  LongGaps gaps{.rows = RowsWithLongGaps(idle_causes)};
  for (const size_t row : gaps.rows) {
    gaps.devices += 1;
    gaps.ns = AddSaturating(gaps.ns, Ints(idle_causes, kLongestGap)[row]);
    gaps.sync_ns = AddSaturating(gaps.sync_ns, Ints(idle_causes, kLongestGapSync)[row]);
    gaps.span_ns = AddSaturating(gaps.span_ns, SpanOf(tables, row));
  }
  gaps.longest = gaps.rows.empty() ? 0 : gaps.rows.front();
  const int64_t blamed_ns =
      AddSaturating(SumOf(idle_causes, "host_ns"), SumOf(idle_causes, "sync_ns"));
  return gaps.ns > SubtractSaturating(blamed_ns, gaps.ns) ? gaps : LongGaps{};
}

}  // namespace borescope::internal
