// variance: why some steps are slow. A step lasts from the completion of the one before to its own,
// so that what devices make up for is no loss. The length of each step is divided into parts that
// add up to it, and the covariance of each part with the length says how much of the variance goes
// with it. docs/how-it-works/variance.md.
#include <fmt/format.h>

#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/variance/job_steps.h"
#include "borescope/analysis/verbs/variance/rank_steps.h"
#include "borescope/analysis/verbs/variance/variance_tables.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

constexpr size_t kLeastSteps = 2;

Result<void> CheckVariance(const Params& params) {
  const Selection& selection = params.selection;
  if (!selection.gpus.empty() || !selection.streams.empty() || !selection.annotation.empty() ||
      !selection.range.is_open()) {
    return UsageError(
        "variance: whole steps are compared, on all devices",
        "choose steps, with `step`, or other annotations as steps, with `step_pattern`");
  }
  return {};
}

Result<Tables> MapVariance(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const PartsOf parts_of = ChooseParts(view, params.Text(kPartsParam));
  const DividedSteps divided =
      DivideSteps(view, selected, params.selection.steps, parts_of, params);
  BS_ASSIGN(const std::vector<int64_t> work, WorkOfSteps(view, selected, divided.spans));
  return RankTables(view, parts_of, divided.spans, work, divided.parts);
}

Result<void> CheckVarianceTables(const Tables& tables, const Params&) {
  return CheckRankTables(tables);
}

Error TooFewSteps(const JobSteps& job, bool are_selected) {
  if (are_selected) {
    return Error{
        ErrorCode::kMissingData,
        fmt::format("variance compares steps: choose at least {} of those recorded", kLeastSteps),
        "5 are needed to say what goes with their length"};
  }
  const bool left_out = !job.left_out.empty();
  return Error{
      ErrorCode::kMissingData,
      fmt::format(
          "variance compares steps, and needs at least {}: there {} {}{}. Record more steps{}",
          kLeastSteps, job.job.steps.size() == 1 ? "is" : "are", job.job.steps.size(),
          left_out ? " beside the first, which does not count" : "",
          left_out ? ", or count the first as well, with `all_steps`" : ""),
      "5 are needed to say what goes with their length"};
}

Result<Tables> FinishVariance(Tables findings, const Params& params) {
  const bool leaves_out_first = !params.Flag(kAllStepsParam) && params.selection.steps.empty();
  const Tables mapped = std::move(findings);
  const JobSteps job = CollectSteps(mapped, leaves_out_first);
  if (job.job.steps.size() < kLeastSteps) {
    return TooFewSteps(job, !params.selection.steps.empty());
  }
  const StepSpread spread = SpreadOf(job.job);
  Tables tables;
  tables.push_back(StepsSpreadTable(job, spread));
  tables.push_back(VarianceCausesTable(job, spread));
  tables.push_back(SlowStepsTable(job, spread));
  if (params.Flag(kSeriesParam)) {
    tables.push_back(StepLengthsTable(job));
  }
  return tables;
}

constexpr const ParamSpec* kVarianceParams[] = {&kPartsParam, &kAllStepsParam, &kDataLoadParam,
                                                &kSeriesParam};
constexpr std::string_view kVarianceKey[] = {"rank", "cause", "name"};
constexpr std::string_view kVarianceShare[] = {"share", "low", "high"};
constexpr std::string_view kVarianceSd[] = {"sd_ns"};
constexpr std::string_view kStepRank[] = {"rank"};
constexpr std::string_view kStepLength[] = {"length_ns"};
constexpr std::string_view kSlowStep[] = {"step"};
constexpr std::string_view kOverTime[] = {"over_ns"};
constexpr ViewSpec kVarianceViews[] = {
    {"variance_causes", ViewKind::kIntervals, "What goes with the length of steps", kVarianceKey,
     kVarianceShare},
    {"variance_causes", ViewKind::kBars, "How much the time of each cause varies", kVarianceKey,
     kVarianceSd},
    {"step_lengths", ViewKind::kSeries, "Length of each step, in their order", kStepRank,
     kStepLength, "step"},
    {"slow_steps", ViewKind::kBars, "How much longer slow steps are than the usual one", kSlowStep,
     kOverTime}};

}  // namespace

const AnalysisSpec kVarianceVerb{.name = "variance",
                                 .summary = "why some steps are slower than others",
                                 .example = "borescope variance run/",
                                 .needs = Needs::kSteps,
                                 .params = kVarianceParams,
                                 .is_about_whole_steps = true,
                                 .answer = {.map = MapVariance,
                                            .reduce = ConcatTables,
                                            .finish = FinishVariance,
                                            .check_tables = CheckVarianceTables},
                                 .check = CheckVariance,
                                 .memory = 0.75,
                                 .dear = PathGraphIsDear,
                                 .views = kVarianceViews};

}  // namespace borescope::internal
