// HTA's get_temporal_breakdown: all devices and streams of a rank pooled; the window is the wall
// time from the first to the last device row; what is neither compute nor idle is "non compute".
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/packs/hta/numbers.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/tables.h"

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

struct Parts {
  double idle = 0;
  double compute = 0;
  double kernel = 0;

  double rest() const { return kernel - compute - idle; }
  // What HTA asserts before it answers.
  bool AreOfOneWhole() const { return idle <= kernel && compute <= kernel && rest() >= 0; }
};

// REQUIRES: rows by start, one at least.
Parts PartsOf(const std::vector<HtaRow>& rows) {
  std::vector<HtaRow> computing;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(computing),
               [](const HtaRow& row) { return row.type == HtaType::kComputation; });
  const std::vector<HtaInterval> merged = HtaMerge(rows);
  Parts parts;
  parts.kernel = merged.back().end_us - merged.front().begin_us;
  parts.idle = parts.kernel - HtaLength(merged);
  parts.compute = HtaLength(HtaMerge(computing));
  return parts;
}

// The same rows with their times as recorded.
std::vector<HtaRow> WithRecordedTimes(const RankView& view, std::vector<HtaRow> rows) {
  const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  const auto begin_of = [&](const HtaRow& row) {
    return row.device.valid() ? view.trace.device().ts_ns[row.device.value]
                              : view.trace.host().ts_ns[row.op.value];
  };
  for (const HtaRow& row : rows) {
    first_ns = std::min(first_ns, begin_of(row));
  }
  for (HtaRow& row : rows) {
    row.ts_us = us(begin_of(row) - first_ns);
    row.dur_us = us(row.device.valid() ? view.trace.device().dur_ns[row.device.value]
                                       : view.trace.host().dur_ns[row.op.value]);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const HtaRow& a, const HtaRow& b) { return a.ts_us < b.ts_us; });
  return rows;
}

}  // namespace

// HTA rounds times so that work below a microsecond may last -1 us, which it takes off the time in
// which anything runs: where much else than kernels is that short, more is computed than runs, and
// HTA stops with an assertion. There is nothing to agree with then, and the times as recorded are
// right.
Table HtaBreakdown(const RankView& view, const Params& params) {
  Table table = NewTable();
  const std::vector<HtaRow> rows = HtaDeviceRows(view, params);
  if (rows.empty()) {
    Row(table).Int(view.rank).Missing().Missing().Missing().Missing().Missing().Missing().Missing();
    return table;
  }
  Parts parts = PartsOf(rows);
  if (!parts.AreOfOneWhole()) {
    parts = PartsOf(WithRecordedTimes(view, rows));
  }
  const int64_t kernel_us = std::llround(parts.kernel);
  const int64_t compute_us = std::llround(parts.compute);
  const int64_t rest_us = std::llround(parts.rest());
  Row(table)
      .Int(view.rank)
      .Int(kernel_us - compute_us - rest_us)
      .Int(compute_us)
      .Int(rest_us)
      .Int(kernel_us)
      .Float(Percent(parts.idle, parts.kernel))
      .Float(Percent(parts.compute, parts.kernel))
      .Float(Percent(parts.rest(), parts.kernel));
  return table;
}

Result<Tables> MapHtaBreakdown(const RankView& view, const Params& params) {
  return Tables{HtaBreakdown(view, params)};
}

}  // namespace borescope::internal
