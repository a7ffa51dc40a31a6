// HTA's get_cupti_counter_data_with_operators: the i-th profiler range by start belongs to the i-th
// launch call by start, of the whole rank. A rank where their numbers differ has no rows.
#include "borescope/analysis/measures/flops/counters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/base/stop.h"
#include "borescope/compat/hta/frame.h"
#include "borescope/compat/hta/tables.h"

namespace borescope::internal {
namespace {

std::vector<DeviceId> Ranges(const HtaFrame& frame) {
  const DeviceEvents& device = frame.trace().device();
  std::vector<DeviceId> ranges;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
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
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] == HostKind::kRuntime && frame.Keeps(HostId{row}) &&
        frame.trace().Name(HostId{row}).starts_with("cudaLaunchKernel")) {
      launches.push_back(HostId{row});
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  return launches;
}

// "aten::conv2d -> aten::convolution"; no longer than the JSON list of the plain verb.
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

// Where each counter stands among the columns, by name.
std::vector<size_t> ByName(const Trace& trace, const CounterColumns& counters) {
  std::vector<size_t> order(counters.names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return trace.Text(counters.names[a]) < trace.Text(counters.names[b]);
  });
  return order;
}

Table NewTable(const Trace& trace, const CounterColumns& counters,
               const std::vector<size_t>& order) {
  Table table{"counters", "Hardware counters (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "kernel", Role::kDerived, "Name of the range.");
  AddInt(table, "ts_us", Unit::kMicroseconds, Role::kDerived, "Start, on the clock of the file.");
  AddInt(table, "dur_us", Unit::kMicroseconds, Role::kDerived, "Length.");
  AddString(table, "top_level_op", Role::kDerived, "Outermost operator around the launch.");
  AddString(table, "bottom_level_op", Role::kDerived, "Innermost one.");
  AddString(table, "op_stack", Role::kDerived, "All of them, outermost first.");
  for (const size_t counter : order) {
    AddFloat(table, trace.Text(counters.names[counter]), Unit::kNone, Role::kDerived,
             "As recorded; -1 where it was not.");
  }
  table.preview_rows = 20;
  return table;
}

}  // namespace

Result<Tables> MapHtaCounters(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  const std::vector<DeviceId> ranges = Ranges(frame);
  const std::vector<HostId> launches = Launches(frame);
  const CounterColumns counters = FindCounterColumns(view.trace);
  const std::vector<size_t> order = ByName(view.trace, counters);
  const OpStacks stacks(view);
  Table table = NewTable(view.trace, counters, order);
  for (size_t i = 0; i < ranges.size() && ranges.size() == launches.size(); ++i) {
    const HtaTimes times = frame.TimesOf(ranges[i]);
    const std::vector<HostId> ops = stacks.Around(launches[i]);
    Row row(table);
    row.Int(view.rank).Text(view.trace.Name(ranges[i]));
    row.Int(std::llround(times.ts_us)).Int(std::llround(times.dur_us));
    row.MaybeText(ops.empty() ? "" : view.trace.Name(stacks.Outermost(launches[i])));
    row.MaybeText(ops.empty() ? "" : view.trace.Name(ops.back()))
        .MaybeText(Joined(view.trace, ops));
    const std::vector<std::optional<double>> values =
        CounterValues(view.trace, ranges[i], counters);
    for (const size_t counter : order) {
      row.Float(values[counter].value_or(-1));
    }
  }
  return Tables{std::move(table)};
}

}  // namespace borescope::internal
