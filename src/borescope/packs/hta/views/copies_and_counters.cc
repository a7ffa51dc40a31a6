// HTA's views of the bandwidth of copies, and of hardware counters.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/flops/counters.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/base/each_row.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"
#include "borescope/packs/hta/numbers.h"

namespace borescope::internal {

// HTA's get_memory_bw_summary and _time_series: per kind of copy, the sum of the recorded rates of
// the copies that run, at every start and end of one. The summary describes the points above 0.

namespace {

struct Point {
  double ts_us;
  double gbps;  // first the change; later the rate from that time on
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
    // At equal times, begins come first, as in HTA's list before its sort.
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

// HTA's get_cupti_counter_data_with_operators: the i-th profiler range by start belongs to the i-th
// launch call by start, in the whole rank. A rank in which their numbers differ has no rows.

namespace {

std::vector<DeviceId> Ranges(const HtaFrame& frame) {
  const DeviceEvents& device = frame.trace().device();
  std::vector<DeviceId> ranges;
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kRange && frame.Repeats(DeviceId{row}) > 0) {
      ranges.push_back(DeviceId{row});
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(), [&](DeviceId a, DeviceId b) {
    return device.ts_ns[a.value] < device.ts_ns[b.value];
  });
  return ranges;
}

std::vector<HostId> Launches(const HtaFrame& frame) {
  const HostEvents& host = frame.trace().host();
  std::vector<HostId> launches;
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kRuntime && frame.Keeps(HostId{row}) &&
        frame.trace().Name(HostId{row}).starts_with("cudaLaunchKernel")) {
      launches.push_back(HostId{row});
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  return launches;
}

// "aten::conv2d -> aten::convolution"; not longer than the JSON list of `counters` without
// --compat.
std::string Joined(const Trace& trace, const std::vector<HostId>& ops) {
  std::string text;
  for (const HostId op : ops) {
    text += text.empty() ? "" : " -> ";
    if (text.size() + trace.Name(op).size() > kMostJsonBytes) {
      return text += "…";
    }
    text += trace.Name(op);
  }
  return text;
}

// The index of each counter among the columns, by name.
std::vector<size_t> ByName(const Trace& trace, const CounterColumns& counters) {
  std::vector<size_t> order(counters.names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return trace.Text(counters.names[a]) < trace.Text(counters.names[b]);
  });
  return order;
}

Table NewTable(const std::vector<std::string_view>& counters) {
  Table table{"counters", "Hardware counters (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "kernel", Role::kDerived, "Name of the range.");
  AddInt(table, "ts_us", Unit::kMicroseconds, Role::kDerived, "Start, on the clock of the file.");
  AddInt(table, "dur_us", Unit::kMicroseconds, Role::kDerived, "Length.");
  AddString(table, "top_level_op", Role::kDerived, "Outermost operator around the launch.");
  AddString(table, "bottom_level_op", Role::kDerived, "Innermost one.");
  AddString(table, "op_stack", Role::kDerived, "All of them, outermost first.");
  for (const std::string_view counter : counters) {
    AddFloat(table, counter, Unit::kNone, Role::kDerived, "As recorded; -1 where it was not.");
  }
  table.preview_rows = 20;
  return table;
}

// The columns before the counters, of a range or a kernel and the call that launched it.
void PushLaunched(const HtaFrame& frame, const OpStacks& stacks, int64_t rank, DeviceId id,
                  HostId launch, Row& row) {
  const Trace& trace = frame.trace();
  const HtaTimes times = frame.TimesOf(id);
  const std::vector<HostId> ops = stacks.Around(launch);
  row.Int(rank).Text(trace.Name(id));
  row.Int(std::llround(times.ts_us)).Int(std::llround(times.dur_us));
  row.MaybeText(ops.empty() ? "" : trace.Name(stacks.Outermost(launch)));
  row.MaybeText(ops.empty() ? "" : trace.Name(ops.back())).MaybeText(Joined(trace, ops));
}

// Kernels with counters of a report. HTA knows no such, and so only the columns are its own.
Table JoinedCounters(const RankView& view, const HtaFrame& frame, const RankCounters& counters) {
  std::vector<std::string_view> names =
      NamesOfCounters(counters, false, MostCounterColumns(counters.kernels.size()));
  std::sort(names.begin(), names.end());
  const OpStacks stacks(view);
  Table table = NewTable(names);
  for (const DeviceId id : counters.kernels) {
    const CounterGroup* const group = counters.GroupOf(id);
    if (group == nullptr || frame.Repeats(id) == 0) continue;
    std::map<std::string_view, double> values;
    for (const CounterValue& value : group->mean) {
      values[counters.metrics[group->report][value.counter]] = value.value;
    }
    Row row(table);
    PushLaunched(frame, stacks, view.rank, id, view.index.correlation.OriginOf(id), row);
    for (const std::string_view name : names) {
      const auto found = values.find(name);
      row.Float(found == values.end() ? -1 : found->second);
    }
  }
  return table;
}

}  // namespace

Result<Tables> MapHtaCounters(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  BS_ASSIGN(const std::shared_ptr<const RankCounters> joined, SharedRankCounters(view));
  if (!joined->empty()) return Tables{JoinedCounters(view, frame, *joined)};
  const std::vector<DeviceId> ranges = Ranges(frame);
  const std::vector<HostId> launches = Launches(frame);
  const CounterColumns counters = FindCounterColumns(view.trace);
  const std::vector<size_t> order = ByName(view.trace, counters);
  const OpStacks stacks(view);
  std::vector<std::string_view> names;
  names.reserve(order.size());
  for (const size_t counter : order) {
    names.push_back(view.trace.Text(counters.names[counter]));
  }
  Table table = NewTable(names);
  for (size_t i = 0; i < ranges.size() && ranges.size() == launches.size(); ++i) {
    Row row(table);
    PushLaunched(frame, stacks, view.rank, ranges[i], launches[i], row);
    const std::vector<std::optional<double>> values =
        CounterValues(view.trace, ranges[i], counters);
    for (const size_t counter : order) {
      row.Float(values[counter].value_or(-1));
    }
  }
  return Tables{std::move(table)};
}

}  // namespace borescope::internal
