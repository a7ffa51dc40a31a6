#include "borescope/check/compare/run_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace borescope::internal {
namespace {

// The work of two runs of one program agrees to this.
constexpr double kMostOtherWork = 0.001;

bool IsOtherWork(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() && b.has_value() &&
         std::abs(*a - *b) > kMostOtherWork * std::max(std::abs(*a), std::abs(*b));
}

std::string RanksText(const RunValues& run) {
  return fmt::format("{} {}{}", run.ranks, run.ranks == 1 ? "rank" : "ranks",
                     run.world_size > 0 ? fmt::format(" of a world of {}", run.world_size) : "");
}

std::string WhyNot(const RunValues& base, const RunValues& test) {
  if (!base.devices.empty() && !test.devices.empty() && base.devices != test.devices) {
    return fmt::format("{} ran on {}, {} on {}", base.name, base.devices, test.name, test.devices);
  }
  const bool is_other_world =
      base.world_size > 0 && test.world_size > 0 && base.world_size != test.world_size;
  if (is_other_world || base.ranks != test.ranks) {
    return fmt::format("{} has {}, {} has {}", base.name, RanksText(base), test.name,
                       RanksText(test));
  }
  if (IsOtherWork(base.step_flops, test.step_flops)) {
    return fmt::format("matrix products of a step are {:.4g} FLOPs in {} and {:.4g} in {}",
                       *base.step_flops, base.name, *test.step_flops, test.name);
  }
  return "";
}

}  // namespace

std::vector<double> ValuesOf(const std::vector<RunValues>& runs, const MetricKey& key) {
  std::vector<double> values;
  for (const RunValues& run : runs) {
    if (const auto found = run.metrics.find(key); found != run.metrics.end()) {
      values.push_back(found->second.value);
    }
  }
  return values;
}

std::string WhyNotComparable(const std::vector<RunValues>& base,
                             const std::vector<RunValues>& test) {
  if (base.empty() || test.empty()) {
    return "";
  }
  const RunValues& first = base.front();
  for (const std::vector<RunValues>* side : {&base, &test}) {
    for (const RunValues& run : *side) {
      if (const std::string why = WhyNot(first, run); !why.empty()) {
        return why;
      }
    }
  }
  return "";
}

}  // namespace borescope::internal
