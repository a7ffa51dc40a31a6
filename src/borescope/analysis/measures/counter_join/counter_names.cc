// Counters of reports by their names: which are shown, and which part of a throughput is largest.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

namespace {

// Numbers of a rate are means; of all else the sum is shown, or what there is.
bool IsRate(std::string_view name) {
  constexpr std::string_view kRates[] = {"pct", "per_", "peak", ".ratio", "throughput"};
  return std::any_of(std::begin(kRates), std::end(kRates),
                     [&](std::string_view part) { return Contains(name, part); });
}

// Attributes of the device and of the launch, and what the tool says about itself.
bool IsAside(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"device__",  "launch__",   "nvlink__", "numa__",
                                            "c2clink__", "profiler__", "derived"};
  return Contains(name, ":") ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The name around the first of .sum, .avg, .min and .max: what these are kinds of.
struct RolledUp {
  std::string_view base;
  std::string_view kind;  // empty: it has none
  std::string_view rest;
};
RolledUp KindOf(std::string_view name) {
  for (size_t at = name.find('.'); at != std::string_view::npos; at = name.find('.', at + 1)) {
    for (const std::string_view kind : {".sum", ".avg", ".min", ".max"}) {
      const std::string_view rest = name.substr(at);
      if (rest == kind || (rest.starts_with(kind) && rest[kind.size()] == '.')) {
        return {name.substr(0, at), kind, rest.substr(kind.size())};
      }
    }
  }
  return {name, "", ""};
}

// Of the counters that differ in their kind alone, one.
std::vector<std::string_view> OneOfEachKind(const std::vector<std::string_view>& names) {
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> chosen;
  for (const std::string_view name : names) {
    const RolledUp rolled = KindOf(name);
    const auto [place, is_new] = chosen.try_emplace({rolled.base, rolled.rest}, name);
    const std::string_view best = IsRate(name) ? ".avg" : ".sum";
    if (!is_new && rolled.kind == best) place->second = name;
  }
  std::vector<std::string_view> kept;
  for (const std::string_view name : names) {
    const RolledUp rolled = KindOf(name);
    if (chosen.at({rolled.base, rolled.rest}) == name) kept.push_back(name);
  }
  return kept;
}

}  // namespace

std::vector<std::string_view> NamesOfCounters(const RankCounters& counters, bool all, size_t most) {
  std::vector<std::string_view> names;
  std::set<std::string_view> seen;
  for (const auto& report : counters.reports) {
    std::set<uint32_t> with_number;
    for (const CountedKernel& kernel : report->kernels) {
      for (const CountedKernel::Value& value : kernel.values) {
        with_number.insert(value.metric);
      }
    }
    for (const uint32_t metric : with_number) {
      const std::string_view name = report->metrics[metric].name;
      if ((all || !IsAside(name)) && seen.insert(name).second) names.push_back(name);
    }
  }
  if (!all) names = OneOfEachKind(names);
  names.resize(std::min(names.size(), most));
  return names;
}

namespace {

constexpr std::string_view kBreakdownOf[] = {
    "breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "breakdown:gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"};

// The names in a list of them, but for those of sums of others.
std::set<std::string_view> PartsIn(std::string_view list) {
  std::set<std::string_view> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, end);
    if (!Contains(name, "_internal")) parts.insert(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

}  // namespace

std::string_view NearestPart(const RankCounters& counters, const CounterGroup& group,
                             bool of_memory) {
  const CounterReport& report = *counters.reports[group.report];
  const std::vector<std::string_view>& names = counters.metrics[group.report];
  std::string_view nearest;
  double most = -1;
  for (const CountedKernel::Text& text : report.kernels[group.kernels.front()].texts) {
    if (names[text.metric] != kBreakdownOf[of_memory ? 1 : 0]) continue;
    const std::set<std::string_view> parts = PartsIn(text.text);
    for (const CounterValue& value : group.mean) {
      if (value.value > most && parts.contains(names[value.counter])) {
        most = value.value;
        nearest = names[value.counter];
      }
    }
  }
  return nearest;
}

}  // namespace borescope::internal
