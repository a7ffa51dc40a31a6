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

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/variance/job_steps.h"
#include "borescope/analysis/verbs/variance/rank_steps.h"
#include "borescope/analysis/verbs/variance/step_statistics.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/typed_rows.h"
#include "borescope/try.h"

namespace borescope::internal {

namespace {

constexpr size_t kPreviewCauses = 12;
constexpr size_t kPreviewSlowSteps = 12;
constexpr std::string_view kWorkCause = "other_work";

// Which steps do not count, for a title.
std::string LeftOutText(const JobSteps& job) {
  return job.left_out.empty()
             ? std::string()
             : fmt::format("; without step{} {}, the first recorded (--all-steps)",
                           job.left_out.size() == 1 ? "" : "s", fmt::join(job.left_out, ", "));
}

struct SpreadRow {
  std::optional<int64_t> rank = {};
  int64_t steps = 0;
  int64_t median_ns = 0;
  int64_t mad_ns = 0;
  int64_t p10_ns = 0;
  int64_t p90_ns = 0;
  int64_t max_ns = 0;
  int64_t max_step = 0;
  std::optional<int64_t> trend_ns = {};
  std::optional<int64_t> trend_low_ns = {};
  std::optional<int64_t> trend_high_ns = {};
  std::optional<int64_t> period = {};
  std::optional<double> period_correlation = {};
  std::optional<double> work_share = {};
  std::optional<std::string_view> parts = {};

  static constexpr TableNames kTable{"steps_spread", "How far steps differ"};
  static constexpr ColumnOf<SpreadRow> kColumns[] = {
      {"rank", &SpreadRow::rank, Role::kKey,
       "Rank of the process in the job; missing for the job of several."},
      {"steps", &SpreadRow::steps, Unit::kCount, Role::kDerived, "Steps that count."},
      {"median_ns", &SpreadRow::median_ns, Unit::kNanoseconds, Role::kDerived,
       "Of their lengths, to their completion: measured_ns of whatif; with --parts ops "
       "of its window on the host; of the job that of the longest rank."},
      {"mad_ns", &SpreadRow::mad_ns, Unit::kNanoseconds, Role::kDerived,
       "Median of the distances of the lengths from their median."},
      {"p10_ns", &SpreadRow::p10_ns, Unit::kNanoseconds, Role::kDerived,
       "10th percentile of the lengths."},
      {"p90_ns", &SpreadRow::p90_ns, Unit::kNanoseconds, Role::kDerived, "90th percentile."},
      {"max_ns", &SpreadRow::max_ns, Unit::kNanoseconds, Role::kDerived, "The longest."},
      {"max_step", &SpreadRow::max_step, Role::kDerived, "Its number."},
      {"trend_ns", &SpreadRow::trend_ns, Unit::kNanoseconds, Role::kDerived,
       "How much longer each step is than the one before: the median of the slopes between all "
       "pairs of steps; missing below 5 steps."},
      {"trend_low_ns", &SpreadRow::trend_low_ns, Unit::kNanoseconds, Role::kDerived,
       "The interval of the trend, 90 %."},
      {"trend_high_ns", &SpreadRow::trend_high_ns, Unit::kNanoseconds, Role::kDerived,
       "Its upper end."},
      {"period", &SpreadRow::period, Unit::kCount, Role::kDerived,
       "After how many steps lengths repeat; missing where they do not."},
      {"period_correlation", &SpreadRow::period_correlation, Role::kDerived,
       "Of lengths with those one period later, without the trend; above 0.5."},
      {"work_share", &SpreadRow::work_share, Unit::kShare, Role::kDerived,
       "Part of the variance that goes with other amounts of work; missing where all steps do "
       "the same, or it is not known."},
      {"parts", &SpreadRow::parts, Role::kDerived,
       "How the steps are divided (--parts), where ranks differ in it, so that their parts are "
       "not comparable: --parts breakdown divides all alike. Missing where all are alike."}};
};

int64_t Rounded(double value) { return std::llround(value); }

void AddTrend(const std::vector<MatrixStep>& steps, SpreadRow& row) {
  const std::optional<Trend> trend = TrendOf(steps);
  if (!trend) return;
  row.trend_ns = Rounded(trend->slope);
  row.trend_low_ns = Rounded(trend->low);
  row.trend_high_ns = Rounded(trend->high);
  if (const std::optional<Period> period = PeriodOf(steps, trend->slope)) {
    row.period = period->steps;
    row.period_correlation = period->correlation;
  }
}

// REQUIRES: there are steps.
SpreadRow SpreadOfLengths(int64_t rank, const std::vector<MatrixStep>& steps,
                          std::optional<double> work_share, std::string_view parts) {
  std::vector<double> lengths;
  const MatrixStep* longest = &steps.front();
  for (const MatrixStep& step : steps) {
    lengths.push_back(static_cast<double>(step.length_ns));
    longest = step.length_ns > longest->length_ns ? &step : longest;
  }
  const UsualLength usual = UsualLengthOf(steps);
  SpreadRow row{.rank = Recorded(rank),
                .steps = static_cast<int64_t>(steps.size()),
                .median_ns = Rounded(usual.median_ns),
                .mad_ns = Rounded(usual.mad_ns),
                .p10_ns = Rounded(Quantile(std::span(lengths), 0.1)),
                .p90_ns = Rounded(Quantile(std::span(lengths), 0.9)),
                .max_ns = longest->length_ns,
                .max_step = longest->number,
                .work_share = work_share,
                .parts = Recorded(parts)};
  AddTrend(steps, row);
  return row;
}

std::optional<double> WorkShareOf(const StepSpread& spread) {
  return spread.work ? spread.work->share : std::nullopt;
}

// The same by the lengths alone, whatever they consist of.
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

struct CauseOfLengthRow {
  std::optional<int64_t> rank = {};
  std::string_view cause = {};
  std::optional<std::string_view> name = {};
  int64_t mean_ns = 0;
  int64_t sd_ns = 0;
  std::optional<double> share = {};
  std::optional<double> low = {};
  std::optional<double> high = {};
  std::optional<bool> stable = {};

  static constexpr TableNames kTable{"variance_causes", "", kPreviewCauses};
  static constexpr ColumnOf<CauseOfLengthRow> kColumns[] = {
      {"rank", &CauseOfLengthRow::rank, Role::kKey,
       "Rank of the process in the job: what it, for which the others waited, spent beyond the "
       "typical rank; missing: time of the typical rank."},
      {"cause", &CauseOfLengthRow::cause, Role::kKey,
       "bound_by of critical-path; with --parts breakdown compute, exposed_comm, "
       "exposed_copy, idle; with --parts ops operator, call, annotation, python, "
       "between_events. skew: the longest rank took longer than the one that waited least. "
       "other_work: what goes with the FLOPs of the step.",
       InColours(Palette::kCause)},
      {"name", &CauseOfLengthRow::name, Role::kKey, "Event or device work; missing for none.",
       AsNames()},
      {"mean_ns", &CauseOfLengthRow::mean_ns, Unit::kNanoseconds, Role::kDerived,
       "Time in a step, on average; all rows add up to the mean step."},
      {"sd_ns", &CauseOfLengthRow::sd_ns, Unit::kNanoseconds, Role::kDerived,
       "Its standard deviation, of a sample."},
      {"share", &CauseOfLengthRow::share, Unit::kShare, Role::kDerived,
       "Covariance with the length of the step / variance of the length: all rows add up to 1; "
       "below 0 what makes up for others. Missing below 5 steps, or where all are alike."},
      {"low", &CauseOfLengthRow::low, Unit::kShare, Role::kDerived,
       "The interval of the share, 90 %: of 1,000 draws of as many steps."},
      {"high", &CauseOfLengthRow::high, Unit::kShare, Role::kDerived, "Its upper end."},
      {"stable", &CauseOfLengthRow::stable, Role::kDerived,
       "Of the three largest shares: whether the row keeps its place in 80 % of the draws."}};
};

CauseOfLengthRow RowOf(const CauseKey& key, const CauseSpread& cause, const ShareLimits* limits) {
  CauseOfLengthRow row{.rank = Recorded(key.rank),
                       .cause = key.cause,
                       .name = Recorded(std::string_view(key.name)),
                       .mean_ns = Rounded(cause.mean_ns),
                       .sd_ns = Rounded(cause.sd_ns)};
  if (limits != nullptr) {
    row.share = cause.share;
    row.low = limits->low;
    row.high = limits->high;
    row.stable = limits->is_stable;
  }
  return row;
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

struct SlowStepRow {
  int64_t step = 0;
  int64_t length_ns = 0;
  int64_t over_ns = 0;
  bool outlier = false;
  std::optional<std::string> first_cause = {};
  std::optional<int64_t> first_ns = {};
  std::optional<std::string> second_cause = {};
  std::optional<int64_t> second_ns = {};
  std::optional<std::string> third_cause = {};
  std::optional<int64_t> third_ns = {};
  int64_t rest_ns = 0;

  static constexpr std::string_view kCauseDoc = "Cause and name of what took longer.";
  static constexpr TableNames kTable{
      "slow_steps", "Slow steps, and what took longer than in a usual one", kPreviewSlowSteps};
  static constexpr ColumnOf<SlowStepRow> kColumns[] = {
      {"step", &SlowStepRow::step, Role::kKey, kStepDoc},
      {"length_ns", &SlowStepRow::length_ns, Unit::kNanoseconds, Role::kDerived,
       "Length of the step."},
      {"over_ns", &SlowStepRow::over_ns, Unit::kNanoseconds, Role::kDerived,
       "Length less that of the usual step: the mean of those between the 40th and the 60th "
       "percentile."},
      {"outlier", &SlowStepRow::outlier, Role::kDerived,
       "Whether it is longer than the median by 3.5 x 1.4826 MAD and by 1 % of the median; where "
       "no step is, the slowest is shown."},
      {"first_cause", &SlowStepRow::first_cause, Role::kDerived, kCauseDoc, AsNames()},
      {"first_ns", &SlowStepRow::first_ns, Unit::kNanoseconds, Role::kDerived, "By how much."},
      {"second_cause", &SlowStepRow::second_cause, Role::kDerived, kCauseDoc, AsNames()},
      {"second_ns", &SlowStepRow::second_ns, Unit::kNanoseconds, Role::kDerived, "By how much."},
      {"third_cause", &SlowStepRow::third_cause, Role::kDerived, kCauseDoc, AsNames()},
      {"third_ns", &SlowStepRow::third_ns, Unit::kNanoseconds, Role::kDerived, "By how much."},
      {"rest_ns", &SlowStepRow::rest_ns, Unit::kNanoseconds, Role::kDerived,
       "Everything else: over less the three."}};
};

struct LengthRow {
  std::optional<int64_t> rank = {};
  int64_t step = 0;
  int64_t length_ns = 0;

  static constexpr TableNames kTable{"step_lengths", "Length of each step"};
  static constexpr ColumnOf<LengthRow> kColumns[] = {
      {"rank", &LengthRow::rank, Role::kKey,
       "Rank of the process in the job; missing for the job of several."},
      {"step", &LengthRow::step, Role::kKey, kStepDoc},
      {"length_ns", &LengthRow::length_ns, Unit::kNanoseconds, Role::kDerived,
       "Length of the step; of the job that of the longest rank."}};
};

// Calls `use` with the rank (kMissing for the job of several), its steps and how they were divided:
// the job, then each of its ranks.
template <class Use>
void ForEachRank(const JobSteps& job, const Use& use) {
  const bool has_ranks = job.ranks.size() > 1;
  use(has_ranks ? kMissing : job.ranks.front().rank, job.job.steps, job.parts);
  for (const RankSteps& rank : job.ranks) {
    if (has_ranks) use(rank.rank, rank.steps, rank.parts);
  }
}

Table StepsSpreadTable(const JobSteps& job, const StepSpread& spread) {
  const bool differ = AreDividedDifferently(job);
  std::vector<SpreadRow> rows;
  ForEachRank(job, [&](int64_t rank, const std::vector<MatrixStep>& steps,
                       const std::string& parts) {
    const bool is_job = &steps == &job.job.steps;
    if (!steps.empty()) {
      rows.push_back(SpreadOfLengths(rank, steps, is_job ? WorkShareOf(spread) : WorkShareOf(steps),
                                     differ ? std::string_view(parts) : std::string_view()));
    }
  });
  Table table = MakeTable(rows);
  table.title += LeftOutText(job);
  return table;
}

Table VarianceCausesTable(const JobSteps& job, const StepSpread& spread) {
  const std::vector<ShareLimits> limits = BootstrapShares(job.job, spread);
  const CauseKey other_work{kMissing, std::string(kWorkCause), {}};
  std::vector<CauseOfLengthRow> rows;
  for (const uint32_t i : OrderCauses(spread)) {
    const bool is_work = i == spread.causes.size();
    rows.push_back(RowOf(is_work ? other_work : job.job.causes[i].key,
                         is_work ? *spread.work : spread.causes[i],
                         limits.empty() ? nullptr : &limits[i]));
  }
  Table table = MakeTable(rows);
  table.title = CausesTitle(job, spread);
  return table;
}

Table SlowStepsTable(const JobSteps& job, const StepSpread& spread) {
  std::vector<SlowStepRow> rows;
  for (const SlowStep& step : FindSlowSteps(job.job, spread, job.ranks.size() > 1)) {
    const MatrixStep& of_job = job.job.steps[step.step];
    SlowStepRow& row = rows.emplace_back(SlowStepRow{.step = of_job.number,
                                                     .length_ns = of_job.length_ns,
                                                     .over_ns = step.over_ns,
                                                     .outlier = step.is_outlier,
                                                     .rest_ns = step.rest_ns});
    const std::pair<std::optional<std::string>&, std::optional<int64_t>&> places[] = {
        {row.first_cause, row.first_ns},
        {row.second_cause, row.second_ns},
        {row.third_cause, row.third_ns}};
    for (size_t i = 0; i < std::min(std::size(places), step.causes.size()); ++i) {
      places[i].first = step.causes[i].what;
      places[i].second = step.causes[i].ns;
    }
  }
  return MakeTable(rows);
}

Table StepLengthsTable(const JobSteps& job) {
  std::vector<LengthRow> rows;
  ForEachRank(job, [&](int64_t rank, const std::vector<MatrixStep>& steps, const std::string&) {
    for (const MatrixStep& step : steps) {
      rows.push_back({Recorded(rank), step.number, step.length_ns});
    }
  });
  return MakeTable(rows);
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
  BS_TRY(CheckParts(mapped));
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
