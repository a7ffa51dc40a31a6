// stats: the reports of `nsys stats` with their columns (stats_reports.h), of any input. A report
// of several ranks is one of all their values together; rows that are events stand rank by rank.
//
// Times are nanoseconds, sizes multiples of 10^6 bytes, as nsys prints them; medians of an even
// number of values are the mean of the middle two, deviations those of a sample (n - 1), "Time (%)"
// is of the total of the report.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/analyses.h"
#include "borescope/analysis/param_specs.h"
#include "borescope/analysis/row.h"
#include "borescope/analysis/stats_reports.h"

namespace borescope {
namespace {

// One file has no rank to tell: its columns are those of nsys.
void DropOneRank(Table& table) {
  const IntValues& ranks = Ints(table, "rank");
  if (std::adjacent_find(ranks.begin(), ranks.end(), std::not_equal_to<>()) == ranks.end()) {
    table.columns.erase(table.columns.begin());
  }
}

}  // namespace

Result<void> CheckStats(const Params& params) {
  BS_TRY(FindStatsReports(params.Text(kReportParam)));
  return {};
}

Result<Findings> MapStats(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const std::vector<const StatsReport*> reports,
            FindStatsReports(params.Text(kReportParam)));
  Findings findings;
  findings.reserve(reports.size());
  for (const StatsReport* report : reports) {
    Table table{std::string(report->name), std::string(report->summary), {}};
    findings.push_back(report->collect(std::move(table), view, selected));
  }
  return findings;
}

Result<Findings> FinishStats(Findings findings, const Params& params) {
  BS_ASSIGN(const std::vector<const StatsReport*> reports,
            FindStatsReports(params.Text(kReportParam)));
  for (size_t i = 0; i < findings.size(); ++i) {
    if (reports[i]->columns.empty()) {
      DropOneRank(findings[i]);
    } else {
      findings[i] = FinishSamples(findings[i], reports[i]->columns);
    }
  }
  return findings;
}

}  // namespace borescope
