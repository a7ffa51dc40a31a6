// HTA's get_memory_bw_summary and _time_series: per kind of copy the sum of the recorded rates of
// the copies then running, at every start and end of one. The summary describes the points above 0.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/packs/hta/numbers.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/tables.h"

namespace borescope::internal {
namespace {

struct Point {
  double ts_us;
  double gbps;  // first the change, then the rate from then on
  int64_t pid;  // device of the copy
};
using Series = std::map<std::string, std::vector<Point>>;  // by label

// "Memcpy HtoD (Pageable -> Device)" is "Memcpy HtoD".
std::string LabelOf(std::string_view name) {
  constexpr size_t kLength = std::string_view("Memcpy HtoD").size();
  if (name.starts_with("Memset")) {
    return "Memset";
  }
  return name.starts_with("Memcpy") ? std::string(name.substr(0, kLength)) : "Memcpy Unknown";
}

double RecordedGbps(const Trace& trace, const HtaRow& row) {
  if (!row.device.valid()) {
    return 0;
  }
  const DeviceKind kind = trace.device().kind[row.device.value];
  const uint32_t detail = trace.device().detail[row.device.value];
  const bool is_copy = kind == DeviceKind::kMemcpy || kind == DeviceKind::kMemset;
  return is_copy && detail != kNoDetail ? std::max(0.0, trace.copies().gbps[detail]) : 0;
}

Series FindSeries(const HtaFrame& frame) {
  Series series;
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    if (row.type == HtaType::kMemory) {
      std::vector<Point>& points = series[LabelOf(frame.trace().Text(row.name))];
      const double gbps = RecordedGbps(frame.trace(), row) * static_cast<double>(row.times);
      const int64_t pid = row.device.valid() ? frame.trace().DeviceOf(row.device) : kMissing;
      points.push_back({row.ts_us, gbps, pid});
      points.push_back({row.ts_us + (row.dur_us == 0 ? 1 : row.dur_us), -gbps, pid});
    }
  }
  for (auto& [label, points] : series) {
    // At equal times what begins comes first, as in HTA's list before its sort.
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return a.ts_us != b.ts_us ? a.ts_us < b.ts_us : a.gbps > 0 && b.gbps <= 0;
    });
    double gbps = 0;
    for (Point& point : points) {
      gbps += point.gbps;
      point.gbps = gbps;
    }
  }
  return series;
}

void AddKeys(Table& table) {
  AddRankKey(table);
  AddString(table, "name", Role::kKey, "Kind of copy.");
}

Table NewSummaryTable() {
  Table table{"bandwidth", "Rates of copies (as HolisticTraceAnalysis)", {}};
  AddKeys(table);
  AddHtaStats(table, Unit::kGigabytesPerSecond, "_gbps", "changes of the rate to a value above 0");
  return table;
}

Table SeriesTable(const Series& series, int64_t rank) {
  Table table{"bandwidth_series", "Rate of copies over time (as HolisticTraceAnalysis)", {}};
  AddKeys(table);
  AddInt(table, "pid", Unit::kNone, Role::kDerived, "Device of the copy.");
  AddInt(table, "ts_us", Unit::kMicroseconds, Role::kDerived, "When, on the clock of the file.");
  AddFloat(table, "gbps", Unit::kGigabytesPerSecond, Role::kDerived, "Rate from then on.");
  table.preview_rows = 20;
  for (const auto& [label, points] : series) {
    for (const Point& point : points) {
      Row(table)
          .Int(rank)
          .Text(label)
          .MaybeInt(point.pid)
          .Int(std::llround(point.ts_us))
          .Float(point.gbps);
    }
  }
  return table;
}

}  // namespace

Result<Tables> MapHtaBandwidth(const RankView& view, const Params& params) {
  const Series series = FindSeries(HtaFrame(view, HtaFrame::StepsOf(params)));
  Tables findings{NewSummaryTable()};
  for (const auto& [label, points] : series) {
    std::vector<HtaRepeated> rates;
    for (const Point& point : points) {
      if (point.gbps > 0) {
        rates.push_back({point.gbps});
      }
    }
    if (!rates.empty()) {
      Row row(findings[0]);
      row.Int(view.rank).Text(label);
      PushHtaStats(row, HtaDescribe(std::move(rates)));
    }
  }
  if (params.Flag(kSeriesParam)) {
    findings.push_back(SeriesTable(series, view.rank));
  }
  return findings;
}

}  // namespace borescope::internal
