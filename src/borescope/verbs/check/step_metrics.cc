#include "borescope/verbs/check/step_metrics.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/base/statistics/quantile.h"

namespace borescope::internal {
namespace {

// Position of each step among those that are compared; nothing for others.
std::map<int64_t, size_t> PositionsOf(const RunSteps& steps) {
  std::map<int64_t, size_t> positions;
  for (const int64_t step : steps.compared) {
    positions.emplace(step, positions.size());
  }
  return positions;
}

MetricValue& ValueOf(RunValues& run, std::string_view kind, std::string_view name, size_t steps) {
  MetricValue& value = run.metrics[{std::string(kind), std::string(name)}];
  value.steps.resize(steps);
  return value;
}

// Adds the cells of a column to the steps of their rows.
void AddBySteps(const Table& table, std::string_view column,
                const std::map<int64_t, size_t>& positions, std::vector<double>& sums,
                std::vector<double>& rows) {
  const Column& step = *table.Find("step");
  const IntValues& cells = Ints(table, column);
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto found = positions.find(Ints(table, "step")[row]);
    if (!step.IsMissing(row) && found != positions.end()) {
      sums[found->second] += static_cast<double>(cells[row]);
      rows[found->second] += 1;
    }
  }
}

// The mean without the largest: one stall is an accident, and where there are more of them they are
// the program's. A median would not see steps that are slow now and then.
double UsualOf(const std::vector<double>& steps) {
  const double largest = *std::max_element(steps.begin(), steps.end());
  const double sum = std::accumulate(steps.begin(), steps.end(), 0.0);
  const auto count = static_cast<double>(steps.size());
  return steps.size() < 3 ? sum / count : (sum - largest) / (count - 1);
}

}  // namespace

RunSteps StepsToCompare(const Table& steps) {
  std::map<int64_t, std::pair<int64_t, int64_t>> first;  // by rank: begin, step
  RunSteps compared;
  for (size_t row = 0; row < steps.rows(); ++row) {
    if (steps.Find("step")->IsMissing(row)) {
      continue;
    }
    const std::pair<int64_t, int64_t> begin = {Ints(steps, "begin_ns")[row],
                                               Ints(steps, "step")[row]};
    const auto [entry, is_new] = first.try_emplace(Ints(steps, "rank")[row], begin);
    entry->second = std::min(entry->second, begin);
    compared.compared.insert(begin.second);
  }
  for (const auto& [rank, begin] : first) {
    if (compared.compared.size() > 1) {
      compared.compared.erase(begin.second);
    }
  }
  return compared;
}

void AddStepTimes(const Table& steps, const RunSteps& compared, RunValues& run) {
  constexpr std::pair<std::string_view, std::string_view> kTimes[] = {{"length_ns", kStepMetric},
                                                                      {"span_ns", kHostMetric}};
  const std::map<int64_t, size_t> positions = PositionsOf(compared);
  for (const auto& [column, kind] : kTimes) {
    MetricValue& value = ValueOf(run, kind, "", positions.size());
    for (size_t row = 0; row < steps.rows(); ++row) {
      const auto found = positions.find(Ints(steps, "step")[row]);
      if (!steps.Find("step")->IsMissing(row) && found != positions.end()) {
        double& slowest = value.steps[found->second];
        slowest = std::max(slowest, static_cast<double>(Ints(steps, column)[row]));
      }
    }
  }
  run.steps = static_cast<int64_t>(positions.size());
}

void AddCalls(const Table& steps, const RunSteps& compared, RunValues& run) {
  const std::map<int64_t, size_t> positions = PositionsOf(compared);
  for (const std::string_view column : {"kernels", "copies"}) {
    MetricValue& value = ValueOf(run, kCallsMetric, column, positions.size());
    value.unit = Unit::kCount;
    std::vector<double> rows(positions.size());
    AddBySteps(steps, column, positions, value.steps, rows);
    for (double& calls : value.steps) {
      calls /= static_cast<double>(std::max<int64_t>(run.ranks, 1));
    }
  }
}

void AddDeviceParts(const Table& breakdown, const RunSteps& compared, RunValues& run) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"busy_ns", kBusyTime},
      {"compute_ns", "compute"},
      {"exposed_comm_ns", "exposed communication"},
      {"exposed_copy_ns", "exposed copies"},
      {"idle_ns", "idle"}};
  const std::map<int64_t, size_t> positions = PositionsOf(compared);
  for (const auto& [column, name] : kParts) {
    MetricValue& value = ValueOf(run, kDeviceMetric, name, positions.size());
    std::vector<double> rows(positions.size());
    AddBySteps(breakdown, column, positions, value.steps, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      value.steps[i] /= std::max(rows[i], 1.0);
    }
  }
}

void AddWorkTimes(const Table& table, std::string_view kind, std::string_view key,
                  const RunSteps& compared, RunValues& run) {
  const std::map<int64_t, size_t> positions = PositionsOf(compared);
  const Column& step = *table.Find("step");
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto found = positions.find(Ints(table, "step")[row]);
    if (!step.IsMissing(row) && found != positions.end()) {
      MetricValue& value = ValueOf(run, kind, Texts(table, key)[row], positions.size());
      value.steps[found->second] += static_cast<double>(Ints(table, "total_ns")[row]) /
                                    static_cast<double>(std::max<int64_t>(run.ranks, 1));
    }
  }
}

void SetValues(RunValues& run) {
  for (auto& [key, metric] : run.metrics) {
    if (key.first != kBudgetMetric && !metric.steps.empty()) {
      metric.value = key.first == kCallsMetric ? MedianOf(metric.steps) : UsualOf(metric.steps);
      metric.samples = static_cast<int64_t>(metric.steps.size());
      metric.least = *std::min_element(metric.steps.begin(), metric.steps.end());
      metric.most = *std::max_element(metric.steps.begin(), metric.steps.end());
    }
  }
}

}  // namespace borescope::internal
