#include "borescope/analysis/verbs/diff/waiting_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/stragglers/straggler_match.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

// Less of a step is not worth a word.
constexpr double kLeastShare = 0.01;
// A rank with less of the difference is one of several.
constexpr double kMostOfIt = 0.5;

struct WaitingChangeRow {
  int64_t rank = 0;
  int64_t base_ns = 0;
  int64_t test_ns = 0;
  int64_t delta_ns = 0;
  std::optional<double> change = {};

  static constexpr TableNames kTable{"diff_waiting", "Waiting in collectives by the last rank"};
  static constexpr ColumnOf<WaitingChangeRow> kColumns[] = {
      {"rank", &WaitingChangeRow::rank, Role::kKey,
       "Rank of the process in the job: the one that came last; of several each has an equal "
       "part."},
      {"base_ns", &WaitingChangeRow::base_ns, Unit::kNanoseconds, Role::kSum,
       "How long ranks of the base run waited for it in collectives, the mean of all ranks; what "
       "is hidden behind compute is counted, too."},
      {"test_ns", &WaitingChangeRow::test_ns, Unit::kNanoseconds, Role::kSum,
       "The same in the test run."},
      {"delta_ns", &WaitingChangeRow::delta_ns, Unit::kNanoseconds, Role::kSum, "Test less base."},
      {"change", &WaitingChangeRow::change, Unit::kShare, Role::kDerived,
       "The difference / the base."}};
};

// What is read of `stragglers`.
struct CausedWait {
  int64_t rank = 0;
  int64_t collectives = 0;
  int64_t caused_wait_ns = 0;

  static constexpr ColumnOf<CausedWait> kColumns[] = {
      {"rank", &CausedWait::rank},
      {"collectives", &CausedWait::collectives},
      {"caused_wait_ns", &CausedWait::caused_wait_ns}};
};

// The calls of steps alone: steps are compared by what belongs to them.
Table CallsOfSteps(const Table& calls) {
  const Column& step = *calls.Find("step");
  std::vector<uint32_t> kept;
  for (const uint32_t row : EachRow(calls.rows())) {
    if (!step.IsMissing(row)) {
      kept.push_back(row);
    }
  }
  return TakeRows(calls, kept);
}

// Who made others wait, and how long; nothing where no collective of two ranks is there.
Result<std::vector<CausedWait>> WaitingOfRun(Tables calls, const RunUnits& units) {
  if (GetTable(calls, "ranks").rows() < 2) {
    return std::vector<CausedWait>();
  }
  if (units.is_step()) {
    Table& of_calls = GetTable(calls, "calls");
    of_calls = CallsOfSteps(of_calls);
  }
  BS_ASSIGN(const Tables scored, ScoreStragglers(std::move(calls)));
  std::vector<CausedWait> waits = ReadRows<CausedWait>(scored.front());
  const bool is_matched = std::any_of(waits.begin(), waits.end(),
                                      [](const CausedWait& row) { return row.collectives > 0; });
  return is_matched ? std::move(waits) : std::vector<CausedWait>();
}

int64_t SumOfDeltas(const std::vector<WaitingChangeRow>& rows) {
  return std::accumulate(
      rows.begin(), rows.end(), int64_t{0},
      [](int64_t sum, const WaitingChangeRow& row) { return AddSaturating(sum, row.delta_ns); });
}

// The largest difference first, in either direction.
std::vector<WaitingChangeRow> RowsOf(const std::vector<CausedWait>& base,
                                     const std::vector<CausedWait>& test, const RunUnits& units) {
  std::map<int64_t, WaitingChangeRow> by_rank;
  for (const CausedWait& row : base) {
    by_rank[row.rank].base_ns = MeanOf(row.caused_wait_ns, units.base);
  }
  for (const CausedWait& row : test) {
    by_rank[row.rank].test_ns = MeanOf(row.caused_wait_ns, units.test);
  }
  std::vector<WaitingChangeRow> rows;
  for (auto& [rank, row] : by_rank) {
    if (row.base_ns != 0 || row.test_ns != 0) {
      rows.push_back({rank, row.base_ns, row.test_ns, row.test_ns - row.base_ns,
                      ShareOfChange(row.base_ns, row.test_ns)});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WaitingChangeRow& a, const WaitingChangeRow& b) {
                     return std::abs(a.delta_ns) > std::abs(b.delta_ns);
                   });
  return rows;
}

// REQUIRES: rows, the largest difference first.
std::string WordsOf(const std::vector<WaitingChangeRow>& rows, int64_t whole_ns) {
  const int64_t delta_ns = SumOfDeltas(rows);
  if (delta_ns == 0 || ShareOf(std::abs(delta_ns), whole_ns) < kLeastShare) {
    return "";
  }
  const WaitingChangeRow& most = rows.front();
  const double share = static_cast<double>(most.delta_ns) / static_cast<double>(delta_ns);
  const bool is_named = share >= kMostOfIt && share <= 1;
  return fmt::format(
      "ranks wait {} {} for each other in collectives{}", FormatTime(std::abs(delta_ns)),
      delta_ns < 0 ? "less" : "more",
      is_named ? fmt::format(", {} of it for rank {}", FormatShare(share), most.rank) : "");
}

}  // namespace

Result<WaitingChange> CompareWaiting(Tables base_calls, Tables test_calls, const RunUnits& units,
                                     int64_t whole_ns) {
  BS_ASSIGN(const std::vector<CausedWait> base, WaitingOfRun(std::move(base_calls), units));
  BS_ASSIGN(const std::vector<CausedWait> test, WaitingOfRun(std::move(test_calls), units));
  const bool are_both = !base.empty() && !test.empty();
  const std::vector<WaitingChangeRow> rows =
      are_both ? RowsOf(base, test, units) : std::vector<WaitingChangeRow>();
  WaitingChange change{are_both, MakeTable(rows), rows.empty() ? "" : WordsOf(rows, whole_ns)};
  change.table.title += units.Words();
  return change;
}

}  // namespace borescope::internal
