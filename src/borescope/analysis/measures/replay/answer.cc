#include "borescope/analysis/measures/replay/answer.h"

#include <algorithm>
#include <cmath>

#include "borescope/analysis/measures/time/quantiles.h"

namespace borescope::internal {
namespace {

// How much of a saving may be wrong beside what the replay of the recording as it is shows: lags
// that change with what is around them, and times that a change leaves as they were.
constexpr double kSavingError = 0.05;
// Launches of graphs take half or one and a half times as long as assumed.
constexpr double kAssumedError = 0.5;
constexpr double kLow = 0.1;
constexpr double kHigh = 0.9;

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
  const std::vector<int64_t> measured = StretchTimes(model.graph, MeasuredTimes(model.graph));
  const std::vector<int64_t> before = StretchTimes(model.graph, model.times);
  std::vector<double> savings;
  int64_t measured_ns = 0;
  int64_t saved_ns = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    if (model.graph.stretches[i].is_asked) {
      measured_ns += measured[i];
      saved_ns += before[i] - run.stretch_ns[i];
      savings.push_back(static_cast<double>(before[i] - run.stretch_ns[i]));
    }
  }
  const auto steps = static_cast<int64_t>(savings.size());
  if (steps == 0) {
    return std::nullopt;
  }
  ScenarioAnswer answer;
  answer.step_ns = measured_ns / steps;
  answer.new_ns = std::max<int64_t>((measured_ns - saved_ns) / steps, 0);
  const double spread = (Quantile(savings, kHigh) - Quantile(savings, kLow)) / 2 /
                        std::sqrt(static_cast<double>(steps));
  const double error = quality.error() * static_cast<double>(answer.step_ns) + spread +
                       kAssumedError * static_cast<double>(run.assumed_ns / steps) +
                       kSavingError * std::abs(static_cast<double>(saved_ns / steps));
  answer.low_ns = std::max<int64_t>(answer.new_ns - std::llround(error), 0);
  answer.high_ns = answer.new_ns + std::llround(error);
  answer.is_testable = quality.verdict != ReplayVerdict::kUntested || !ChangesDevices(scenario);
  return answer;
}

}  // namespace borescope::internal
