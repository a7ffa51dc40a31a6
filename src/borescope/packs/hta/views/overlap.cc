// HTA's get_comm_comp_overlap: how much of the communication of a rank runs beside computation, all
// devices and streams pooled.
#include <cmath>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/packs/hta/numbers.h"
#include "borescope/packs/hta/sweep.h"
#include "borescope/packs/hta/tables.h"

namespace borescope::internal {
namespace {

Table NewTable() {
  Table table{"overlap", "Overlap of communication (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "comm_us", Unit::kMicroseconds, Role::kSum,
         "Union of rows whose name HTA takes for communication.");
  AddInt(table, "overlapped_us", Unit::kMicroseconds, Role::kSum,
         "The part of it with computation beside it.");
  AddFloat(table, "comp_comm_overlap_pctg", Unit::kPercent, Role::kDerived,
           "That part in percent, rounded to two decimals; missing without communication.");
  return table;
}

// Time of both types at once, whatever else runs.
double OverlappedUs(const std::vector<HtaRow>& rows) {
  const HtaSweep sweep = SweepTypes(rows);
  constexpr HtaTypeSet kBoth = 3;
  return sweep.total_us[kBoth] + sweep.total_us[kAllHtaTypes];
}

}  // namespace

Result<Tables> MapHtaOverlap(const RankView& view, const Params& params) {
  const std::vector<HtaRow> rows = HtaDeviceRows(view, params);
  const double comm = HtaLength(HtaMerge(RowsOfType(rows, HtaType::kCommunication)));
  const double overlapped = OverlappedUs(rows);
  Tables findings{NewTable()};
  Row row(findings[0]);
  row.Int(view.rank).Int(std::llround(comm)).Int(std::llround(overlapped));
  if (comm > 0) {
    row.Float(HtaRound(100 * overlapped / comm, 2));
  } else {
    row.Missing();
  }
  return findings;
}

}  // namespace borescope::internal
