// The hardware counters of a trace that become columns of a table, and their values per range.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// In order of first appearance.
struct CounterColumns {
  std::map<uint32_t, size_t> number;  // StringId of the name -> place among the counters
  std::vector<StringId> names;
  int64_t left_out = 0;  // without a column: there are more than any profiler collects
};

CounterColumns FindCounterColumns(const Trace& trace);

// One value for each of columns.names; empty where the range has none. REQUIRES: `range` is one.
std::vector<std::optional<double>> CounterValues(const Trace& trace, DeviceId range,
                                                 const CounterColumns& columns);

}  // namespace borescope::internal
