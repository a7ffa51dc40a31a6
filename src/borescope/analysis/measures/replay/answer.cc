#include "borescope/analysis/measures/replay/answer.h"

#include <algorithm>
#include <cmath>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/selection/selection.h"
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

constexpr std::string_view kUnsafe =
    "nothing recorded says whether something needs what is no longer waited for";
constexpr std::string_view kNotTestable =
    "not testable: host threads alone decide how long this recording takes";
constexpr std::string_view kHoldsWaits =
    "times of collectives hold the waits for other ranks, which then change as well";
constexpr std::string_view kOutside =
    "some of what is changed is in no step, or in those of another process, which are not measured";
constexpr std::string_view kRefusedNote = "refused: the cause in replay_quality says why";

}  // namespace

Result<void> AskAboutSteps(const RankView& view, const Selection& selection, ReplayGraph& graph) {
  if (selection.steps.empty()) {
    return {};
  }
  BS_TRY(Selected::Make(view, selection));
  for (ReplayStretch& stretch : graph.stretches) {
    stretch.is_asked = stretch.step != kMissing && selection.steps.Contains(stretch.step);
  }
  return {};
}

std::shared_ptr<const Result<ReplayModel>> SharedReplayModel(const RankView& view,
                                                             const Params& params) {
  return view.Shared<ReplayModel>([&]() -> Result<ReplayModel> {
    ReplayModel model = MakeReplayModel(view, params.Text(kDataLoadParam));
    BS_TRY(AskAboutSteps(view, params.selection, model.graph));
    return model;
  });
}

MeasureId ReplayModelIsDear(const Params& /*params*/) { return kMeasureId<ReplayModel>; }

std::string_view NoteOf(const std::optional<ScenarioAnswer>& answer, const ScenarioRun& run) {
  return !answer                ? kRefusedNote
         : run.is_unsafe        ? kUnsafe
         : !answer->is_testable ? kNotTestable
         : run.is_outside       ? kOutside
         : run.has_collectives  ? kHoldsWaits
                                : std::string_view();
}

std::optional<ScenarioAnswer> AnswerScenario(const ReplayModel& model, const Scenario& scenario,
                                             const ScenarioRun& run) {
  const ReplayQuality& quality = model.quality;
  if (quality.verdict == ReplayVerdict::kRefused) {
    return std::nullopt;
  }
  const std::vector<int64_t> before = StretchTimes(model.graph, model.times);
  const std::vector<int64_t> measured =
      model.doubt_ns ? before : StretchTimes(model.graph, MeasuredTimes(model.graph));
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
  const double error =
      quality.error() * static_cast<double>(answer.step_ns) + spread +
      static_cast<double>(model.doubt_ns.value_or(0)) +
      kAssumedError * static_cast<double>(run.assumed_ns) / static_cast<double>(steps) +
      kSavingError * std::abs(static_cast<double>(saved_ns)) / static_cast<double>(steps);
  answer.low_ns = std::max<int64_t>(answer.new_ns - std::llround(error), 0);
  answer.high_ns = answer.new_ns + std::llround(error);
  answer.is_testable = quality.verdict != ReplayVerdict::kUntested || !ChangesDevices(scenario);
  return answer;
}

}  // namespace borescope::internal
