// HTA's get_cupti_counter_data_with_operators: the i-th profiler range by start belongs to the i-th
// launch call by start, of the whole rank. A rank where their numbers differ has no rows.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "borescope/analysis/hta/frame.h"
#include "borescope/analysis/hta/tables.h"
#include "borescope/analysis/row.h"

namespace borescope {
namespace {

std::vector<DeviceId> Ranges(const HtaFrame& frame) {
  const DeviceEvents& device = frame.trace().device();
  std::vector<DeviceId> ranges;
  for (uint32_t row = 0; row < device.size(); ++row) {
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
    if (host.kind[row] == HostKind::kRuntime && frame.Keeps(HostId{row}) &&
        frame.trace().Name(HostId{row}).starts_with("cudaLaunchKernel")) {
      launches.push_back(HostId{row});
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  return launches;
}

// Operators around a call, outermost first.
std::vector<std::string_view> OpStack(const RankView& view, HostId call) {
  std::vector<std::string_view> stack;
  for (HostId row = call; row.valid(); row = view.index.tree.parent[row.value]) {
    if (view.trace.host().kind[row.value] == HostKind::kOp) {
      stack.push_back(view.trace.Name(row));
    }
  }
  std::reverse(stack.begin(), stack.end());
  return stack;
}

std::string Joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    text.append(text.empty() ? "" : " -> ").append(name);
  }
  return text;
}

// Names of all counters, sorted.
std::vector<std::string_view> CounterNames(const Trace& trace) {
  std::vector<std::string_view> names;
  for (const StringId name : trace.metrics().name) {
    names.push_back(trace.Text(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Table NewTable(const std::vector<std::string_view>& counters) {
  Table table{"counters", "Hardware counters (as HolisticTraceAnalysis)", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "Rank of the process in the job.");
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

// -1 where the range has no such counter.
std::vector<double> Values(const Trace& trace, DeviceId range,
                           const std::vector<std::string_view>& counters) {
  std::vector<double> values(counters.size(), -1);
  const uint32_t detail = trace.device().detail[range.value];
  for (uint32_t i = trace.ranges().first_metric[detail]; i < trace.ranges().end_metric[detail];
       ++i) {
    const auto found =
        std::lower_bound(counters.begin(), counters.end(), trace.Text(trace.metrics().name[i]));
    values[static_cast<size_t>(found - counters.begin())] = trace.metrics().value[i];
  }
  return values;
}

}  // namespace

Result<Findings> MapHtaCounters(const RankView& view, const Params&) {
  const HtaFrame frame(view);
  const std::vector<DeviceId> ranges = Ranges(frame);
  const std::vector<HostId> launches = Launches(frame);
  const std::vector<std::string_view> counters = CounterNames(view.trace);
  Table table = NewTable(counters);
  for (size_t i = 0; i < ranges.size() && ranges.size() == launches.size(); ++i) {
    const HtaTimes times = frame.TimesOf(ranges[i]);
    const std::vector<std::string_view> stack = OpStack(view, launches[i]);
    Row row(table);
    row.Int(view.rank).Text(view.trace.Name(ranges[i]));
    row.Int(std::llround(times.ts_us)).Int(std::llround(times.dur_us));
    row.MaybeText(stack.empty() ? "" : stack.front());
    row.MaybeText(stack.empty() ? "" : stack.back()).MaybeText(Joined(stack));
    for (const double value : Values(view.trace, ranges[i], counters)) {
      row.Float(value);
    }
  }
  return Findings{std::move(table)};
}

}  // namespace borescope
