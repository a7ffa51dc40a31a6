// whatif: what the recording would take if something took another time. The recording is run again
// as a graph of dependencies with the change made (measures/replay); how far that can be believed
// is measured first, and an answer that cannot be is not given. docs/how-it-works/whatif.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/analysis/measures/true_time/true_time.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/analysis/verbs/whatif/levers.h"
#include "borescope/analysis/verbs/whatif/scenarios.h"
#include "borescope/analysis/verbs/whatif/whatif_tables.h"
#include "borescope/base/parallel.h"

namespace borescope::internal {
namespace {

Result<std::vector<AskedScenario>> RunAll(const ScenarioRunner& runner,
                                          const std::vector<Scenario>& scenarios, int threads) {
  std::vector<Result<ScenarioRun>> runs(scenarios.size(), Result<ScenarioRun>(ScenarioRun()));
  ParallelFor(scenarios.size(), threads, [&](size_t i) { runs[i] = runner.Run(scenarios[i]); });
  std::vector<AskedScenario> asked;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (!runs[i].ok() && runs[i].error().code == ErrorCode::kMissingData) {
      asked.push_back({scenarios[i], {}, runs[i].error().Sentence()});
      continue;
    }
    BS_ASSIGN(ScenarioRun run, std::move(runs[i]));
    asked.push_back({scenarios[i], std::move(run)});
  }
  return asked;
}

int64_t LengthOf(const ScenarioRun& run) {
  int64_t ns = 0;
  for (const int64_t stretch : run.stretch_ns) {
    ns += stretch;
  }
  return ns;
}

// What saves most, the largest first; of those that save the same in every step the first of
// LeverScenarios. Nothing where no answer can be given.
Result<std::vector<AskedScenario>> FindLevers(const RankView& view, const ReplayModel& model,
                                              const ScenarioRunner& runner, size_t candidates) {
  if (model.quality.verdict == ReplayVerdict::kRefused) {
    return std::vector<AskedScenario>();
  }
  BS_ASSIGN(std::vector<AskedScenario> levers,
            RunAll(runner, LeverScenarios(view, model, candidates), view.threads));
  std::erase_if(levers, [](const AskedScenario& lever) { return !lever.absent.empty(); });
  std::stable_sort(levers.begin(), levers.end(),
                   [](const auto& a, const auto& b) { return LengthOf(a.run) < LengthOf(b.run); });
  const int64_t now_ns = TotalTime(model.graph, model.times);
  std::vector<AskedScenario> best;
  for (AskedScenario& lever : levers) {
    const bool saves = LengthOf(lever.run) < now_ns;
    const bool is_the_same = !best.empty() && best.back().run.stretch_ns == lever.run.stretch_ns;
    if (saves && !is_the_same && best.size() < kLevers) {
      best.push_back(std::move(lever));
    }
  }
  return best;
}

// It is an error where a rank has nothing of any scenario; of some, their rows say it.
Result<void> CheckThatSomeAreThere(const std::vector<AskedScenario>& asked) {
  for (const AskedScenario& one : asked) {
    if (one.absent.empty()) {
      return {};
    }
  }
  return asked.empty()
             ? Result<void>()
             : Error{ErrorCode::kMissingData,
                     fmt::format("{}: {}", asked.front().scenario.name, asked.front().absent)};
}

Result<void> CheckWhatIf(const Params& params) {
  const Selection& selection = params.selection;
  if (!selection.gpus.empty() || !selection.streams.empty() || !selection.annotation.empty() ||
      !selection.range.is_open()) {
    return UsageError("whatif: a replay needs all that was recorded",
                      "choose steps, with `step` or `step_pattern`");
  }
  BS_TRY(CheckTrueTimeParams("whatif", params));
  BS_TRY(ModelOptionsOf(params));
  BS_TRY(GivenDevice(params));
  BS_TRY(AskedScenarios(params));
  BS_TRY(SweepScenarios(params));
  return {};
}

Result<Tables> MapWhatIf(const RankView& view, const Params& params) {
  BS_ASSIGN(const std::vector<Scenario> scenarios, AskedScenarios(params));
  BS_ASSIGN(const std::vector<Scenario> sweep, SweepScenarios(params));
  const std::shared_ptr<const Result<ReplayModel>> shared = SharedReplayModel(view, params);
  if (!shared->ok()) {
    return shared->error();
  }
  Tables tables;
  tables.push_back(ReplayQualityTable(view, **shared));
  BS_ASSIGN(Table true_time, TrueTimeTable(view, params));
  tables.push_back(std::move(true_time));
  const std::shared_ptr<const Result<ReplayModel>> changed = SharedScenarioModel(view, params);
  if (!changed->ok()) {
    return changed->error();
  }
  const ReplayModel& model = **changed;
  const ScenarioRunner runner(view, model, params);
  BS_ASSIGN(const std::vector<AskedScenario> asked, RunAll(runner, scenarios, view.threads));
  BS_ASSIGN(const std::vector<AskedScenario> swept, RunAll(runner, sweep, view.threads));
  BS_TRY(CheckThatSomeAreThere(asked));
  std::vector<AskedScenario> levers;
  if (scenarios.empty()) {
    BS_ASSIGN(levers, FindLevers(view, model, runner,
                                 static_cast<size_t>(params.Number(kCandidatesParam))));
  }
  const bool holds_cost = !model.doubt_ns.has_value() &&
                          SharedTrueTimes(view, params)->status == TrueTimeStatus::kCorrected;
  tables.push_back(AnswerTable(AnswerKind::kAsked, view, model, holds_cost, asked));
  tables.push_back(AnswerTable(AnswerKind::kSweep, view, model, holds_cost, swept));
  tables.push_back(AnswerTable(AnswerKind::kRanking, view, model, holds_cost, levers));
  tables.push_back(ReplayConstantsTable(view, model));
  return tables;
}

// Those of all ranks, each once.
std::set<std::string> VerdictsOf(const Table& quality) {
  std::set<std::string> verdicts;
  for (size_t row = 0; row < quality.rows(); ++row) {
    if (!quality.Find("verdict")->IsMissing(row)) {
      verdicts.emplace(Texts(quality, "verdict")[row]);
    }
  }
  return verdicts;
}

// What was not asked for needs no empty table to say so.
Result<Tables> FinishWhatIf(Tables findings, const Params& params) {
  BS_ASSIGN(const std::vector<Scenario> asked, AskedScenarios(params));
  BS_ASSIGN(const std::vector<double> factors, SweepFactors(params));
  const int64_t candidates = params.Number(kCandidatesParam);
  const StringValues& verdicts = Texts(findings.front(), "verdict");
  const bool is_refused =
      !verdicts.empty() && verdicts[0] == ReplayVerdictName(ReplayVerdict::kRefused);
  for (Table& table : findings) {
    if (table.name == "ranking" && table.rows() == 0 && is_refused) {
      table.title += ": no answer, as the replay is refused";
    } else if (table.name == "ranking" && candidates > 0) {
      table.title += fmt::format(" (of the {} with most time on the path; replay {})", candidates,
                                 fmt::join(VerdictsOf(findings.front()), ", "));
    }
  }
  std::erase_if(findings, [&](const Table& table) {
    return (table.name == "whatif" && asked.empty()) ||
           (table.name == "sweep" && factors.empty()) ||
           (table.name == "ranking" && !asked.empty());
  });
  return findings;
}

// Where every rank is refused: why the first is, and what would help.
std::string WhyNoAnswer(const Tables& findings) {
  const Table& quality = findings.front();
  const StringValues& verdicts = Texts(quality, "verdict");
  std::string cause;
  for (size_t row = 0; row < quality.rows(); ++row) {
    if (quality.Find("verdict")->IsMissing(row)) {
      continue;  // of a step
    }
    if (verdicts[row] != ReplayVerdictName(ReplayVerdict::kRefused)) {
      return "";
    }
    cause = cause.empty() ? Texts(quality, "cause")[row] : cause;
  }
  return fmt::format(
      "no answer: the replay does not give this recording back{}{}. Record host and devices "
      "together with their launches and waits, from a step on in which the program runs as usual",
      cause.empty() ? "" : ", because ", cause);
}

constexpr std::string_view kScenarioOf[] = {"rank", "scenario"};
constexpr std::string_view kSaved[] = {"saved_share"};
constexpr std::string_view kNewTime[] = {"new_ns", "low_ns", "high_ns"};
constexpr ViewSpec kWhatIfViews[] = {
    {"whatif", ViewKind::kBars, "Saved part of a step", kScenarioOf, kSaved},
    {"sweep", ViewKind::kBars, "Saved part of a step", kScenarioOf, kSaved},
    {"ranking", ViewKind::kBars, "Saved part of a step", kScenarioOf, kSaved},
    {"ranking", ViewKind::kIntervals, "Length of a step with each change, beside that of today",
     kScenarioOf, kNewTime, "step_ns"}};
constexpr std::string_view kSectionTables[] = {"ranking", "replay_quality"};
constexpr const ParamSpec* kWhatIfParams[] = {
    &kScaleParam,     &kRemoveParam,          &kRoofParam,        &kNoDataWaitParam,
    &kNoSyncParam,    &kOverlapCommParam,     &kGraphRegionParam, &kLaunchParam,
    &kPlanParam,      &kSweepParam,           &kDataLoadParam,    &kCausalParam,
    &kSfuWeightParam, &kDeviceParam,          &kDeviceSpecParam,  &kCandidatesParam,
    &kPlainStepParam, &kWithoutRecordingParam};

}  // namespace

const AnalysisSpec kWhatIfVerb{
    .name = "whatif",
    .summary = "how long it would take if something were faster, and how sure that is",
    .example = "borescope whatif trace.json.gz --scale class:gemm=0.5",
    .needs = Needs::kEvents,
    .params = kWhatIfParams,
    .is_about_whole_steps = true,
    .answer = {.map = MapWhatIf, .reduce = ConcatTables, .finish = FinishWhatIf},
    .check = CheckWhatIf,
    .memory = 1.5,
    .dear = ReplayModelIsDear,
    .views = kWhatIfViews,
    .report_tables = kSectionTables,
    .lack = WhyNoAnswer};

}  // namespace borescope::internal
