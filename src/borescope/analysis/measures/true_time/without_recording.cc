// The recording as its replay is without the profiler: what scenarios change with
// --without-recording or --plain-step.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/replay/answer.h"
#include "borescope/analysis/measures/true_time/true_time.h"

namespace borescope::internal {
namespace {

// Names the measure: a model that is not the recording's.
struct ModelWithoutRecording {
  int unused = 0;
};

bool TakesCostOff(const Params& params) {
  return params.Flag(kWithoutRecordingParam) || !params.Text(kPlainStepParam).empty();
}

std::string_view WhyUnknown(const TrueTimes& times) {
  return times.status == TrueTimeStatus::kNoSteps ? "it has fewer than two steps"
         : !times.pace.operator_ns()              ? "too few of its operators call others"
         : times.status == TrueTimeStatus::kOtherObserver
             ? "something else than the profiler slows each of its operators"
             : "its replay does not represent it";
}

// Half of the distance between the limits of a step; of several devices the largest.
int64_t DoubtOf(const TrueTimes& times) {
  int64_t doubt_ns = 0;
  for (const TrueTime& time : times.devices) {
    doubt_ns = std::max(doubt_ns, (time.high_ns - time.low_ns) / 2);
  }
  return doubt_ns;
}

Result<ReplayModel> Make(const RankView& view, const Params& params) {
  const std::shared_ptr<const TrueTimes> times = SharedTrueTimes(view, params);
  const std::shared_ptr<const Result<ReplayModel>> recorded = SharedReplayModel(view, params);
  if (!recorded->ok()) {
    return recorded->error();
  }
  if (times->is_given ? !times->factor.has_value() : !times->has_estimates()) {
    return Error{
        ErrorCode::kMissingData,
        fmt::format("{}: what recording costs is not known, as {}",
                    times->is_given ? "`plain_step`" : "`without_recording`", WhyUnknown(*times)),
        {},
        view.trace.meta().file};
  }
  ReplayModel model = **recorded;
  model.lags = LagsWithoutRecording(view, model, times->pace, CostLevel::kEstimate,
                                    times->factor.value_or(1));
  model.times = Replay(model.graph, model.lags);
  model.doubt_ns = DoubtOf(*times);
  return model;
}

}  // namespace

Result<void> CheckTrueTimeParams(std::string_view verb, const Params& params) {
  const std::string_view given = params.Text(kPlainStepParam);
  if (!given.empty() && std::count(given.begin(), given.end(), ',') > 1) {
    return UsageError(
        fmt::format("{}: `plain_step` {}: give one time, or the two between which it lies", verb,
                    given),
        {}, "plain_step");
  }
  const Selection& selection = params.selection;
  const bool has_others = !selection.gpus.empty() || !selection.streams.empty() ||
                          !selection.annotation.empty() || !selection.range.is_open();
  return TakesCostOff(params) && has_others
             ? UsageError(fmt::format("{}: {} replays whole recordings", verb,
                                      given.empty() ? "`without_recording`" : "`plain_step`"),
                          "choose steps, with `step` or `step_pattern`")
             : Result<void>();
}

std::shared_ptr<const Result<ReplayModel>> SharedScenarioModel(const RankView& view,
                                                               const Params& params) {
  return TakesCostOff(params)
             ? view.Shared<ModelWithoutRecording>([&] { return Make(view, params); })
             : SharedReplayModel(view, params);
}

}  // namespace borescope::internal
