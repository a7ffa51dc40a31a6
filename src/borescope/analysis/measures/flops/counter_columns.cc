#include "borescope/analysis/measures/flops/counter_columns.h"

#include <algorithm>
#include <set>

namespace borescope::internal {
namespace {

// No profiler collects as many counters at once; the limits keep hostile files from asking for a
// table that fits no memory.
constexpr size_t kMostCounters = 512;
constexpr size_t kFewestCounters = 16;
constexpr size_t kMostCells = size_t{32} << 20;

}  // namespace

CounterColumns FindCounterColumns(const Trace& trace) {
  const size_t most = std::clamp(kMostCells / std::max<size_t>(trace.ranges().size(), 1),
                                 kFewestCounters, kMostCounters);
  CounterColumns columns;
  std::set<uint32_t> others;
  for (const StringId name : trace.metrics().name) {
    if (columns.number.count(name.value) != 0) {
      continue;
    }
    if (columns.names.size() == most) {
      others.insert(name.value);
      continue;
    }
    columns.number[name.value] = columns.names.size();
    columns.names.push_back(name);
  }
  columns.left_out = static_cast<int64_t>(others.size());
  return columns;
}

std::vector<std::optional<double>> CounterValues(const Trace& trace, DeviceId range,
                                                 const CounterColumns& columns) {
  std::vector<std::optional<double>> values(columns.names.size());
  const uint32_t detail = trace.device().detail[range.value];
  for (uint32_t i = trace.ranges().first_metric[detail]; i < trace.ranges().end_metric[detail];
       ++i) {
    const auto column = columns.number.find(trace.metrics().name[i].value);
    if (column != columns.number.end()) {
      values[column->second] = trace.metrics().value[i];
    }
  }
  return values;
}

}  // namespace borescope::internal
