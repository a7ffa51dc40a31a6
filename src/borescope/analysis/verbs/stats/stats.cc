// stats: the reports of `nsys stats` with their columns (stats_reports.h), of any input. A report
// of several ranks is one of all their values together; rows that are events are listed rank by
// rank.
//
// Times are nanoseconds, sizes multiples of 10^6 bytes, as nsys prints them; medians of an even
// number of values are the mean of the middle two, deviations those of a sample (n - 1), "Time (%)"
// is of the total of the report.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/stats/stats_reports.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

// One file has no rank to tell: its columns are those of nsys.
void DropOneRank(Table& table) {
  const IntValues& ranks = Ints(table, "rank");
  if (std::adjacent_find(ranks.begin(), ranks.end(), std::not_equal_to<>()) == ranks.end()) {
    table.columns.erase(table.columns.begin());
  }
}

Result<void> CheckStats(const Params& params) {
  BS_TRY(FindStatsReports(params.Text(kReportParam)));
  return {};
}

Result<Tables> MapStats(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const std::vector<const StatsReport*> reports,
            FindStatsReports(params.Text(kReportParam)));
  Tables tables;
  tables.reserve(reports.size());
  for (const StatsReport* report : reports) {
    Table table{std::string(report->name), std::string(report->summary), {}};
    tables.push_back(report->collect(std::move(table), view, selected));
  }
  return tables;
}

// Measures become places in a list.
Result<void> CheckMeasures(const Table& samples, std::span<const StatColumn> columns) {
  int64_t largest = 0;
  for (const StatColumn& column : columns) {
    largest = std::max(largest, column.measure);
  }
  for (const int64_t measure : Ints(samples, "measure")) {
    if (measure < 0 || measure > largest) {
      return Error{ErrorCode::kCorrupt, fmt::format("{} has no measure {}", samples.name, measure)};
    }
  }
  return {};
}

Result<void> CheckStatsTables(const Tables& tables, const Params& params) {
  BS_ASSIGN(const std::vector<const StatsReport*> reports,
            FindStatsReports(params.Text(kReportParam)));
  for (size_t i = 0; i < tables.size(); ++i) {
    if (!reports[i]->columns.empty()) {
      BS_TRY(CheckMeasures(tables[i], reports[i]->columns));
    }
  }
  return {};
}

Result<Tables> FinishStats(Tables tables, const Params& params) {
  BS_ASSIGN(const std::vector<const StatsReport*> reports,
            FindStatsReports(params.Text(kReportParam)));
  for (size_t i = 0; i < tables.size(); ++i) {
    if (reports[i]->columns.empty()) {
      DropOneRank(tables[i]);
    } else {
      tables[i] = FinishSamples(tables[i], reports[i]->columns);
    }
  }
  return tables;
}

}  // namespace

const AnalysisSpec kStatsVerb{
    .name = "stats",
    .summary = "the reports of nsys stats with their columns, of any input",
    .example = "borescope stats cuda_gpu_kern_sum,cuda_api_sum trace.json.gz -f csv",
    .needs = Needs::kEvents,
    .answer = {.map = MapStats,
               .reduce = ReduceByRank,
               .finish = FinishStats,
               .check_tables = CheckStatsTables},
    .leading = &kReportParam,
    .check = CheckStats,
    .in_report = false};

}  // namespace borescope::internal
