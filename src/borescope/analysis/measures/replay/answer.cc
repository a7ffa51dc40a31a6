#include "borescope/analysis/measures/replay/answer.h"

#include <algorithm>
#include <cmath>

#include "borescope/analysis/measures/time/quantiles.h"

namespace borescope::internal {
namespace {

// How much of a saving may be wrong beside what the replay of the recording as it is shows: lags
// that change with what is around them, and times that a change leaves as they were.
constexpr double kSavingError = 0.05;
constexpr double kLow = 0.1;
constexpr double kHigh = 0.9;

int64_t SumOf(const std::vector<int64_t>& values) {
  int64_t sum = 0;
  for (const int64_t value : values) {
    sum += value;
  }
  return sum;
}

bool ChangesDevices(const Scenario& scenario) {
  return std::any_of(scenario.changes.begin(), scenario.changes.end(), [](const Change& change) {
    return change.target != TargetKind::kHost && change.kind != ChangeKind::kLaunch &&
           change.kind != ChangeKind::kNoDataWait;
  });
}

}  // namespace

std::optional<ScenarioAnswer> AnswerScenario(const ReplayModel& model, const Scenario& scenario,
                                             const ScenarioRun& run) {
  const ReplayQuality& quality = model.quality;
  if (quality.verdict == ReplayVerdict::kRefused) {
    return std::nullopt;
  }
  const std::vector<int64_t> before = StretchTimes(model.graph, model.times);
  const auto steps = static_cast<int64_t>(before.size());
  const int64_t saved_ns = SumOf(before) - SumOf(run.stretch_ns);
  ScenarioAnswer answer;
  answer.step_ns = quality.measured_ns / steps;
  answer.new_ns = std::max<int64_t>((quality.measured_ns - saved_ns) / steps, 0);
  // A step's saving differs from that of others; that of all is their mean.
  std::vector<double> savings;
  for (size_t i = 0; i < before.size(); ++i) {
    savings.push_back(static_cast<double>(before[i] - run.stretch_ns[i]));
  }
  const double spread = (Quantile(savings, kHigh) - Quantile(savings, kLow)) / 2 /
                        std::sqrt(static_cast<double>(steps));
  const double error = quality.error() * static_cast<double>(answer.step_ns) + spread +
                       kSavingError * std::abs(static_cast<double>(saved_ns / steps));
  answer.low_ns = std::max<int64_t>(answer.new_ns - std::llround(error), 0);
  answer.high_ns = answer.new_ns + std::llround(error);
  answer.is_testable = quality.verdict != ReplayVerdict::kUntested || !ChangesDevices(scenario);
  return answer;
}

}  // namespace borescope::internal
