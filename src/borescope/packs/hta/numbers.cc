#include "borescope/packs/hta/numbers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "borescope/base/check.h"

namespace borescope::internal {

namespace {

int64_t CountOf(const std::vector<HtaRepeated>& values) {
  int64_t count = 0;
  for (const HtaRepeated& value : values) {
    count += value.times;
  }
  return count;
}

// The value at `position` of the sample; beyond its end, the last one.
double ValueAt(const std::vector<HtaRepeated>& values, int64_t position) {
  for (const auto& [value, times] : values) {
    if (position < times) {
      return value;
    }
    position -= times;
  }
  return values.back().value;
}

void Sort(std::vector<HtaRepeated>& values) {
  std::sort(values.begin(), values.end(),
            [](const HtaRepeated& a, const HtaRepeated& b) { return a.value < b.value; });
}

// REQUIRES: values are ascending.
double SortedQuantile(const std::vector<HtaRepeated>& values, double q) {
  const double position = q * static_cast<double>(CountOf(values) - 1);
  const auto below = static_cast<int64_t>(position);
  const double low = ValueAt(values, below);
  return low + (ValueAt(values, below + 1) - low) * (position - static_cast<double>(below));
}

}  // namespace

double HtaRound(double value, int decimals) {
  constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  const double power = kPowers[decimals];
  return std::nearbyint(value * power) / power;
}

double HtaQuantile(std::vector<HtaRepeated> values, double q) {
  BS_CHECK(!values.empty());
  Sort(values);
  return SortedQuantile(values, q);
}

HtaStats HtaDescribe(std::vector<HtaRepeated> values) {
  HtaStats stats;
  stats.count = CountOf(values);
  if (stats.count == 0) {
    return stats;
  }
  Sort(values);
  const auto count = static_cast<double>(stats.count);
  for (const auto& [value, times] : values) {
    stats.mean += value * static_cast<double>(times);
  }
  stats.mean /= count;
  double squares = 0;
  for (const auto& [value, times] : values) {
    squares += (value - stats.mean) * (value - stats.mean) * static_cast<double>(times);
  }
  stats.stddev = stats.count > 1 ? std::sqrt(squares / (count - 1)) : 0.0;
  stats.min = values.front().value;
  stats.p25 = SortedQuantile(values, 0.25);
  stats.p50 = SortedQuantile(values, 0.5);
  stats.p75 = SortedQuantile(values, 0.75);
  stats.max = values.back().value;
  return stats;
}

void AddHtaStats(Table& table, Unit unit, std::string_view suffix, std::string_view what) {
  AddInt(table, "count", Unit::kCount, Role::kSum, "How many " + std::string(what) + ".");
  const auto add = [&](std::string_view stem, std::string_view doc) {
    AddFloat(table, std::string(stem).append(suffix), unit, Role::kDerived, doc);
  };
  add("mean", "Mean.");
  add("std", "Standard deviation of a sample; missing for a single value.");
  add("min", "Smallest.");
  add("p25", "First quartile.");
  add("p50", "Median.");
  add("p75", "Third quartile.");
  add("max", "Largest.");
}

void PushHtaStats(Row& row, const HtaStats& stats, int decimals) {
  const auto push = [&](double value, int64_t least) {
    if (stats.count < least) {
      row.Missing();
    } else {
      row.Float(decimals < 0 ? value : HtaRound(value, decimals));
    }
  };
  row.Int(stats.count);
  push(stats.mean, 1);
  push(stats.stddev, 2);
  for (const double value : {stats.min, stats.p25, stats.p50, stats.p75, stats.max}) {
    push(value, 1);
  }
}

namespace {

HtaTypeSet BitOf(HtaType type) { return 1U << static_cast<unsigned>(type); }

struct Edge {
  double time_us;
  int change;  // plus or minus the bit of the type
};

// Starts and ends of the merged rows of each type, by time.
std::vector<Edge> EdgesOf(const std::vector<HtaRow>& rows) {
  std::vector<Edge> edges;
  for (const HtaType type : kHtaTypes) {
    const int bit = static_cast<int>(BitOf(type));
    const std::vector<HtaInterval> merged = HtaMerge(RowsOfType(rows, type));
    for (const HtaInterval& interval : merged) {
      edges.push_back({interval.begin_us, bit});
    }
    for (const HtaInterval& interval : merged) {
      edges.push_back({interval.end_us, -bit});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.time_us < b.time_us; });
  return edges;
}

}  // namespace

std::string HtaTypeSetName(HtaTypeSet types) {
  std::string name;
  for (const HtaType type : kHtaTypes) {
    if ((types & BitOf(type)) != 0) {
      name += (name.empty() ? "" : " overlapping ") + std::string(HtaTypeName(type));
    }
  }
  return name;
}

HtaSweep SweepTypes(const std::vector<HtaRow>& rows) {
  const std::vector<Edge> edges = EdgesOf(rows);
  HtaSweep sweep;
  int running = 0;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    running += edges[i].change;
    if (running > 0 && running <= static_cast<int>(kAllHtaTypes)) {
      sweep.total_us[static_cast<size_t>(running)] += edges[i + 1].time_us - edges[i].time_us;
    }
  }
  return sweep;
}

std::vector<HtaRow> RowsOfType(const std::vector<HtaRow>& rows, HtaType type) {
  std::vector<HtaRow> result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result),
               [type](const HtaRow& row) { return row.type == type; });
  return result;
}

}  // namespace borescope::internal
