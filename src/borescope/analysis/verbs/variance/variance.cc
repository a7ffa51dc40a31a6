// variance: why some steps are slow. A step lasts from the completion of the one before to its own,
// so that what devices make up for is no loss. The length of each step is divided into parts that
// add up to it, and the covariance of each part with the length says how much of the variance goes
// with it. docs/how-it-works/variance.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/path/path_graph.h"
#include "borescope/analysis/measures/time/quantiles.h"
#include "borescope/analysis/verbs/variance/job_steps.h"
#include "borescope/analysis/verbs/variance/rank_steps.h"
#include "borescope/analysis/verbs/variance/step_statistics.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {

namespace {

// The tables of variance. Internal to variance/.

constexpr size_t kPreviewCauses = 12;
constexpr size_t kPreviewSlowSteps = 12;
constexpr std::string_view kWorkCause = "other_work";

void AddTime(Table& table, std::string_view name, std::string_view doc) {
  AddInt(table, name, Unit::kNanoseconds, Role::kDerived, doc);
}

// Which steps do not count, for a title.
std::string LeftOutText(const JobSteps& job) {
  return job.left_out.empty()
             ? std::string()
             : fmt::format("; without step{} {}, the first recorded (--all-steps)",
                           job.left_out.size() == 1 ? "" : "s", fmt::join(job.left_out, ", "));
}

Table NewSpreadTable(const JobSteps& job) {
  Table table{"steps_spread", "How far steps differ" + LeftOutText(job), {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey,
         "Rank of the process in the job; missing for the job of several.");
  AddInt(table, "steps", Unit::kCount, Role::kDerived, "Steps that count.");
  AddTime(table, "median_ns",
          "Of their lengths, to their completion: measured_ns of whatif; with --parts ops "
          "of its window on the host; of the job that of the longest rank.");
  AddTime(table, "mad_ns", "Median of the distances of the lengths from their median.");
  AddTime(table, "p10_ns", "10th percentile of the lengths.");
  AddTime(table, "p90_ns", "90th percentile.");
  AddTime(table, "max_ns", "The longest.");
  AddInt(table, "max_step", Unit::kNone, Role::kDerived, "Its number.");
  AddTime(table, "trend_ns",
          "How much longer each step is than the one before: the median of the slopes between all "
          "pairs of steps; missing below 5 steps.");
  AddTime(table, "trend_low_ns", "The interval of the trend, 90 %.");
  AddTime(table, "trend_high_ns", "Its upper end.");
  AddInt(table, "period", Unit::kCount, Role::kDerived,
         "After how many steps lengths repeat; missing where they do not.");
  AddFloat(table, "period_correlation", Unit::kNone, Role::kDerived,
           "Of lengths with those one period later, without the trend; above 0.5.");
  AddFloat(table, "work_share", Unit::kShare, Role::kDerived,
           "Part of the variance that goes with other amounts of work; missing where all steps do "
           "the same, or it is not known.");
  AddString(
      table, "parts", Role::kDerived,
      "How the steps are divided (--parts), where ranks differ in it, so that their parts are "
      "not comparable: --parts breakdown divides all alike. Missing where all are alike.");
  return table;
}

int64_t Rounded(double value) { return std::llround(value); }

void PushTrend(Row& row, const std::vector<MatrixStep>& steps) {
  const std::optional<Trend> trend = TrendOf(steps);
  if (!trend) {
    row.Missing().Missing().Missing().Missing().Missing();
    return;
  }
  row.Int(Rounded(trend->slope)).Int(Rounded(trend->low)).Int(Rounded(trend->high));
  const std::optional<Period> period = PeriodOf(steps, trend->slope);
  period ? row.Int(period->steps).Float(period->correlation) : row.Missing().Missing();
}

void PushSpread(Table& table, int64_t rank, const std::vector<MatrixStep>& steps,
                std::optional<double> work_share, std::string_view parts) {
  if (steps.empty()) {
    return;
  }
  std::vector<double> lengths;
  const MatrixStep* longest = &steps.front();
  for (const MatrixStep& step : steps) {
    lengths.push_back(static_cast<double>(step.length_ns));
    longest = step.length_ns > longest->length_ns ? &step : longest;
  }
  const UsualLength usual = UsualLengthOf(steps);
  Row row(table);
  row.MaybeInt(rank).Count(steps.size());
  row.Int(Rounded(usual.median_ns)).Int(Rounded(usual.mad_ns));
  row.Int(Rounded(Quantile(std::span(lengths), 0.1)));
  row.Int(Rounded(Quantile(std::span(lengths), 0.9)));
  row.Int(longest->length_ns).Int(longest->number);
  PushTrend(row, steps);
  work_share ? row.Float(*work_share) : row.Missing();
  row.MaybeText(parts);
}

std::optional<double> WorkShareOf(const StepSpread& spread) {
  return spread.work ? spread.work->share : std::nullopt;
}

// Of the lengths alone, whatever they consist of.
std::optional<double> WorkShareOf(const std::vector<MatrixStep>& steps) {
  CauseRow whole;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    whole.cells.push_back({i, steps[i].length_ns});
  }
  return steps.empty() ? std::nullopt : WorkShareOf(SpreadOf({steps, {std::move(whole)}}));
}

bool AreDividedDifferently(const JobSteps& job) { return job.parts.find(',') != std::string::npos; }

// Why shares are missing, or how the parts were made.
std::string CausesTitle(const JobSteps& job, const StepSpread& spread) {
  std::string title = "What goes with the length of steps, by " + job.parts;
  if (AreDividedDifferently(job)) {
    title += " (ranks divided in different ways: take --parts breakdown)";
  }
  if (spread.is_alike) {
    return title + ": all steps alike";
  }
  if (job.job.steps.size() < kStepsForShares) {
    return title + fmt::format(": shares need {} steps", kStepsForShares);
  }
  return title;
}

Table NewCausesTable(const JobSteps& job, const StepSpread& spread) {
  Table table{"variance_causes", CausesTitle(job, spread), {}, kPreviewCauses};
  AddInt(table, "rank", Unit::kNone, Role::kKey,
         "Rank of the process in the job: what it, for which the others waited, spent beyond the "
         "typical "
         "rank; missing: time of the typical rank.");
  AddString(table, "cause", Role::kKey,
            "bound_by of critical-path; with --parts breakdown compute, exposed_comm, "
            "exposed_copy, idle; with --parts ops operator, call, annotation, python, "
            "between_events. skew: the longest rank took longer than the one that waited least. "
            "other_work: what goes with the FLOPs of the step.")
      .hints.palette = Palette::kCause;
  AddString(table, "name", Role::kKey, "Event or device work; missing for none.").hints.names =
      true;
  AddTime(table, "mean_ns", "Time in a step, on average; all rows add up to the mean step.");
  AddTime(table, "sd_ns", "Its standard deviation, of a sample.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived,
           "Covariance with the length of the step / variance of the length: all rows add up to 1; "
           "below 0 what makes up for others. Missing below 5 steps, or where all are alike.");
  AddFloat(table, "low", Unit::kShare, Role::kDerived,
           "The interval of the share, 90 %: of 1,000 draws of as many steps.");
  AddFloat(table, "high", Unit::kShare, Role::kDerived, "Its upper end.");
  AddBool(table, "stable", Role::kDerived,
          "Of the three largest shares: whether the row keeps its place in 80 % of the draws.");
  return table;
}

void PushCause(Table& table, const CauseKey& key, const CauseSpread& cause,
               const ShareLimits* limits) {
  Row row(table);
  row.MaybeInt(key.rank).Text(key.cause).MaybeText(key.name);
  row.Int(Rounded(cause.mean_ns)).Int(Rounded(cause.sd_ns));
  if (limits == nullptr) {
    row.Missing().Missing().Missing().Missing();
    return;
  }
  row.Float(*cause.share).Float(limits->low).Float(limits->high);
  limits->is_stable ? row.Bool(*limits->is_stable) : row.Missing();
}

// Indices of causes, that of the amount of work last, in the order in which they are shown.
std::vector<uint32_t> OrderCauses(const StepSpread& spread) {
  std::vector<uint32_t> order(spread.causes.size() + (spread.work ? 1 : 0));
  std::iota(order.begin(), order.end(), 0U);
  const auto worth = [&](uint32_t i) {
    const CauseSpread& cause = i < spread.causes.size() ? spread.causes[i] : *spread.work;
    return std::pair(cause.share.value_or(0), cause.sd_ns);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return worth(a) > worth(b); });
  return order;
}

Table NewSlowTable() {
  Table table{
      "slow_steps", "Slow steps, and what took longer than in a usual one", {}, kPreviewSlowSteps};
  AddStepKey(table);
  AddTime(table, "length_ns", "Length of the step.");
  AddTime(table, "over_ns",
          "Length less that of the usual step: the mean of those between the 40th and the 60th "
          "percentile.");
  AddBool(
      table, "outlier", Role::kDerived,
      "Whether it is longer than the median by 3.5 x 1.4826 MAD and by 1 % of the median; where no "
      "step is, the slowest is shown.");
  constexpr std::string_view kPlaces[] = {"first", "second", "third"};
  for (const std::string_view place : kPlaces) {
    AddString(table, std::string(place) + "_cause", Role::kDerived,
              "Cause and name of what took longer.")
        .hints.names = true;
    AddTime(table, std::string(place) + "_ns", "By how much.");
  }
  AddTime(table, "rest_ns", "Everything else: over less the three.");
  return table;
}

// How far steps differ: of several ranks the job, then each rank.
Table StepsSpreadTable(const JobSteps& job, const StepSpread& spread) {
  Table table = NewSpreadTable(job);
  const bool has_ranks = job.ranks.size() > 1;
  const bool differ = AreDividedDifferently(job);
  PushSpread(table, has_ranks ? kMissing : job.ranks.front().rank, job.job.steps,
             WorkShareOf(spread), differ ? job.parts : "");
  for (const RankSteps& rank : job.ranks) {
    if (has_ranks) {
      PushSpread(table, rank.rank, rank.steps, WorkShareOf(rank.steps), differ ? rank.parts : "");
    }
  }
  return table;
}

// What goes with their length.
Table VarianceCausesTable(const JobSteps& job, const StepSpread& spread) {
  Table table = NewCausesTable(job, spread);
  const std::vector<ShareLimits> limits = BootstrapShares(job.job, spread);
  const CauseKey other_work{kMissing, std::string(kWorkCause), {}};
  for (const uint32_t i : OrderCauses(spread)) {
    const bool is_work = i == spread.causes.size();
    PushCause(table, is_work ? other_work : job.job.causes[i].key,
              is_work ? *spread.work : spread.causes[i], limits.empty() ? nullptr : &limits[i]);
  }
  return table;
}

Table SlowStepsTable(const JobSteps& job, const StepSpread& spread) {
  Table table = NewSlowTable();
  for (const SlowStep& step : FindSlowSteps(job.job, spread, job.ranks.size() > 1)) {
    const MatrixStep& of_job = job.job.steps[step.step];
    Row row(table);
    row.Int(of_job.number).Int(of_job.length_ns).Int(step.over_ns).Bool(step.is_outlier);
    for (size_t i = 0; i < 3; ++i) {
      i < step.causes.size() ? row.Text(step.causes[i].what).Int(step.causes[i].ns)
                             : row.Missing().Missing();
    }
    row.Int(step.rest_ns);
  }
  return table;
}

// Each step in its order: of several ranks those of the job, then of each rank.
Table StepLengthsTable(const JobSteps& job) {
  Table table{"step_lengths", "Length of each step", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey,
         "Rank of the process in the job; missing for the job of several.");
  AddStepKey(table);
  AddTime(table, "length_ns", "Length of the step; of the job that of the longest rank.");
  const auto add = [&](int64_t rank, const std::vector<MatrixStep>& steps) {
    for (const MatrixStep& step : steps) {
      Row(table).MaybeInt(rank).Int(step.number).Int(step.length_ns);
    }
  };
  const bool has_ranks = job.ranks.size() > 1;
  add(has_ranks ? kMissing : job.ranks.front().rank, job.job.steps);
  for (const RankSteps& rank : job.ranks) {
    if (has_ranks) {
      add(rank.rank, rank.steps);
    }
  }
  return table;
}

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
