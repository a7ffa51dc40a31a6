// HTA's get_temporal_breakdown: all devices and streams of a rank pooled; the window is the wall
// time from the first to the last device row; what is neither compute nor idle is "non compute".
#include <cmath>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/compat/hta/numbers.h"
#include "borescope/compat/hta/rows.h"
#include "borescope/compat/hta/tables.h"

namespace borescope::internal {
namespace {

double Percent(double part, double whole) { return HtaRound(100 * part / whole, 2); }

Table NewTable() {
  Table table{"breakdown", "Temporal breakdown (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  const auto us = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kMicroseconds, Role::kSum, doc);
  };
  us("idle_us", "Wall time less the union of all device rows.");
  us("compute_us", "Union of rows whose name HTA takes for computation.");
  us("non_compute_us", "The rest of the wall time.");
  us("kernel_us", "Wall time from the first to the last device row.");
  for (const std::string_view part : {"idle", "compute", "non_compute"}) {
    AddFloat(table, std::string(part) + "_pctg", Unit::kPercent, Role::kDerived,
             "Part of the wall time, rounded to two decimals.");
  }
  return table;
}

}  // namespace

Table HtaBreakdown(const RankView& view, const Params& params) {
  Table table = NewTable();
  const std::vector<HtaRow> rows = HtaDeviceRows(view, params);
  if (rows.empty()) {
    Row(table).Int(view.rank).Missing().Missing().Missing().Missing().Missing().Missing().Missing();
    return table;
  }
  std::vector<HtaRow> computing;
  for (const HtaRow& row : rows) {
    if (row.type == HtaType::kComputation) {
      computing.push_back(row);
    }
  }
  const std::vector<HtaInterval> merged = HtaMerge(rows);
  const double kernel = merged.back().end_us - merged.front().begin_us;
  const double idle = kernel - HtaLength(merged);
  const double compute = HtaLength(HtaMerge(computing));
  const double rest = kernel - compute - idle;
  Row(table)
      .Int(view.rank)
      .Int(std::llround(idle))
      .Int(std::llround(compute))
      .Int(std::llround(rest))
      .Int(std::llround(kernel))
      .Float(Percent(idle, kernel))
      .Float(Percent(compute, kernel))
      .Float(Percent(rest, kernel));
  return table;
}

Result<Tables> MapHtaBreakdown(const RankView& view, const Params& params) {
  return Tables{HtaBreakdown(view, params)};
}

}  // namespace borescope::internal
