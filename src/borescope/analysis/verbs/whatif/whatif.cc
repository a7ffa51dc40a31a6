// whatif: what the recording would take if something took another time. The recording is run again
// as a graph of dependencies with the change made (measures/replay); how far that can be believed
// is measured first, and an answer that cannot be is not given. docs/how-it-works/whatif.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/replay_model.h"
#include "borescope/analysis/measures/replay/run_scenario.h"
#include "borescope/analysis/measures/true_time/true_time.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/analysis/verbs/whatif/comm_waiting.h"
#include "borescope/analysis/verbs/whatif/levers.h"
#include "borescope/base/parallel.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// ---- Which scenarios are asked for ----

// What an option was given, in words for its errors.
template <class T>
Result<T> OfOption(const ParamSpec& option, Result<T> result) {
  return OfParameter(ParameterName(option.name), std::move(result));
}

Result<Change> TakeLaunch(std::string_view text) {
  Change change{.kind = ChangeKind::kLaunch};
  BS_ASSIGN(change.factor, ReadFactor(text));
  return change;
}

Result<Change> TakeRoof(std::string_view text) {
  Change change{.kind = ChangeKind::kRoof};
  BS_ASSIGN(change.factor, ReadRoofShare(text));
  return change;
}

Result<Change> TakeSync(std::string_view text) {
  return Change{.kind = ChangeKind::kNoSync, .text = std::string(text)};
}

Result<Change> TakeGraph(std::string_view text) {
  return Change{.kind = ChangeKind::kGraph, .text = std::string(text)};
}

struct OptionOfChange {
  const ParamSpec& option;
  Result<Change> (*read)(std::string_view text);
};
constexpr OptionOfChange kOptions[] = {
    {kRemoveParam, ReadRemoval},   {kScaleParam, ReadScale},
    {kRoofParam, TakeRoof},        {kSpeedOfLightParam, ReadSpeedOfLight},
    {kLaunchParam, TakeLaunch},    {kNoSyncParam, TakeSync},
    {kGraphRegionParam, TakeGraph}};

Result<std::vector<Change>> AskedChanges(const Params& params) {
  std::vector<Change> changes;
  for (const OptionOfChange& row : kOptions) {
    for (const std::string_view text : params.Texts(row.option)) {
      BS_ASSIGN(Change change, OfOption(row.option, row.read(text)));
      changes.push_back(std::move(change));
    }
  }
  if (params.Flag(kNoDataWaitParam)) {
    changes.push_back({.kind = ChangeKind::kNoDataWait});
  }
  if (params.Flag(kOverlapCommParam)) {
    changes.push_back({.kind = ChangeKind::kOverlapComm});
  }
  return changes;
}

// The scenarios of the options, each change alone and, if there are several, all together; then the
// scenarios of --plan.
// Empty: nothing was asked about. kInvalidArgument names the option.
Result<std::vector<Scenario>> AskedScenarios(const Params& params) {
  BS_ASSIGN(const std::vector<Change> changes, AskedChanges(params));
  std::vector<Scenario> scenarios;
  scenarios.reserve(changes.size() + 1);
  for (const Change& change : changes) {
    scenarios.push_back({Describe(change), {change}});
  }
  if (changes.size() > 1) {
    scenarios.push_back({"all of these", changes});
  }
  if (const std::string* plan = params.Content(kPlanParam)) {
    BS_ASSIGN(const std::vector<Scenario> planned,
              OfParameter("plan", InFile(params.Text(kPlanParam), ReadPlan(*plan))));
    scenarios.insert(scenarios.end(), planned.begin(), planned.end());
  }
  return scenarios;
}

// The factors of --sweep; empty without it. kInvalidArgument for a bad list.
Result<std::vector<double>> SweepFactors(const Params& params) {
  std::vector<double> factors;
  std::string_view rest = params.Text(kSweepParam);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    BS_ASSIGN(const double factor, OfOption(kSweepParam, ReadFactor(rest.substr(0, comma))));
    factors.push_back(factor);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return factors;
}

// With --sweep: the change of --scale that is swept, at every factor.
Result<std::vector<Scenario>> SweepScenarios(const Params& params) {
  BS_ASSIGN(const std::vector<double> factors, SweepFactors(params));
  if (factors.empty()) {
    return std::vector<Scenario>();
  }
  const std::vector<std::string_view> scales = params.Texts(kScaleParam);
  if (scales.size() != 1) {
    return UsageError("`sweep` varies the factor of one `scale`", "give exactly one", "sweep");
  }
  BS_ASSIGN(Change change, OfOption(kScaleParam, ReadScale(scales.front())));
  std::vector<Scenario> scenarios;
  scenarios.reserve(factors.size());
  for (const double factor : factors) {
    change.factor = factor;
    scenarios.push_back({Describe(change), {change}});
  }
  return scenarios;
}

// ---- Tables ----

// A scenario with its run.
struct AskedScenario {
  Scenario scenario;
  ScenarioRun run;
  std::string absent = {};  // why there is none: nothing recorded is what it names
};

// What was asked about, the factors of a sweep, or what would help most.
enum class AnswerKind : uint8_t { kAsked, kSweep, kRanking };

constexpr size_t kPreviewSteps = 20;
constexpr size_t kReplayVerdicts = static_cast<size_t>(ReplayVerdict::kRefused) + 1;

struct AnswerRow {
  int64_t rank = 0;
  std::string scenario = {};
  int64_t step_ns = 0;
  std::optional<int64_t> new_ns = {};
  std::optional<int64_t> low_ns = {};
  std::optional<int64_t> high_ns = {};
  std::optional<double> saved_share = {};
  std::optional<double> speedup = {};
  std::optional<std::string> bound_by = {};
  int64_t works = 0;
  int64_t host_events = 0;
  std::optional<std::string> note = {};
  int64_t is_of_collectives = 0;
  std::optional<int64_t> without_comm_ns = {};
  static constexpr ColumnOf<AnswerRow> kColumns[] = {
      {"rank", &AnswerRow::rank, Role::kKey, kRankDoc},
      {"scenario", &AnswerRow::scenario, Role::kKey, "What is changed."},
      {"step_ns", &AnswerRow::step_ns, Unit::kNanoseconds, Role::kDerived,
       "A step as measured, on average from completion to completion; without steps, the "
       "recording. With --without-recording or --plain-step as it is without the profiler."},
      {"new_ns", &AnswerRow::new_ns, Unit::kNanoseconds, Role::kDerived,
       "The same in the scenario: as measured, less what the replay is shorter with the change "
       "than without. Missing where the replay does not represent the recording, and where "
       "collectives are changed of whose time a part is waiting for other ranks."},
      {"low_ns", &AnswerRow::low_ns, Unit::kNanoseconds, Role::kDerived,
       "The interval of new_ns: the error of the replay, how much steps differ in what they save, "
       "a twentieth of what is saved, and half of what launches of graphs are assumed to take."},
      {"high_ns", &AnswerRow::high_ns, Unit::kNanoseconds, Role::kDerived, "Its upper end."},
      {"saved_share", &AnswerRow::saved_share, Unit::kShare, Role::kDerived,
       "(step - new) / step."},
      {"speedup", &AnswerRow::speedup, Role::kDerived, "step / new."},
      {"bound_by", &AnswerRow::bound_by, Role::kDerived,
       "What most of the path of the replay then consists of, as in critical-path."},
      {"works", &AnswerRow::works, Unit::kCount, Role::kDerived,
       "Pieces of device work that are changed."},
      {"host_events", &AnswerRow::host_events, Unit::kCount, Role::kDerived,
       "Events and calls of the host that are changed."},
      {"note", &AnswerRow::note, Role::kDerived, "What limits the answer; missing for nothing."},
      Carried<AnswerRow>({"is_of_collectives", &AnswerRow::is_of_collectives, Role::kDerived,
                          "Whether collectives are changed."}),
      Carried<AnswerRow>({"without_comm_ns", &AnswerRow::without_comm_ns, Unit::kNanoseconds,
                          Role::kDerived, "new_ns if communication took no time."})};
};

constexpr std::string_view kHoldsCost =
    "host times hold the cost of recording, which --without-recording takes off";

bool ChangesHost(const Scenario& scenario) {
  return std::any_of(scenario.changes.begin(), scenario.changes.end(), [](const Change& change) {
    return change.target == TargetKind::kHost || change.kind == ChangeKind::kLaunch ||
           change.kind == ChangeKind::kNoDataWait || change.kind == ChangeKind::kNoSync ||
           change.kind == ChangeKind::kGraph;
  });
}

// The mean length of the steps that were asked about.
int64_t MeanStep(const ReplayModel& model) {
  const std::vector<int64_t> measured =
      StretchTimes(model.graph, model.doubt_ns ? model.times : MeasuredTimes(model.graph));
  int64_t sum_ns = 0;
  int64_t steps = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    sum_ns += model.graph.stretches[i].is_asked ? measured[i] : 0;
    steps += model.graph.stretches[i].is_asked ? 1 : 0;
  }
  return sum_ns / std::max<int64_t>(steps, 1);
}

AnswerRow AnswerOf(const RankView& view, const ReplayModel& model, bool holds_cost,
                   const AskedScenario& asked) {
  const std::optional<ScenarioAnswer> answer =
      asked.absent.empty() ? AnswerScenario(model, asked.scenario, asked.run) : std::nullopt;
  AnswerRow row{.rank = view.rank,
                .scenario = asked.scenario.name,
                .step_ns = answer ? answer->step_ns : MeanStep(model),
                .works = asked.run.works,
                .host_events = asked.run.host_events};
  if (answer) {
    row.new_ns = answer->new_ns;
    row.low_ns = answer->low_ns;
    row.high_ns = answer->high_ns;
    row.saved_share = ShareOf(answer->saved_ns(), answer->step_ns);
    if (answer->new_ns > 0) row.speedup = ShareOf(answer->step_ns, answer->new_ns);
    row.bound_by = asked.run.bound_by;
    row.is_of_collectives = asked.run.has_collectives ? 1 : 0;
    row.without_comm_ns = Recorded(answer->without_comm_ns);
  }
  const std::string_view note = asked.absent.empty() ? NoteOf(answer, asked.run) : asked.absent;
  const bool is_of_host = holds_cost && answer && note.empty() && ChangesHost(asked.scenario);
  const std::string_view shown = is_of_host ? kHoldsCost : note;
  if (!shown.empty()) row.note = shown;
  return row;
}

// A row for all of the recording, then one for each step, which knows less.
struct QualityRow {
  int64_t rank = 0;
  std::optional<int64_t> step = {};
  int64_t measured_ns = 0;
  int64_t replayed_ns = 0;
  double identity_share = 0;
  std::optional<double> held_out_share = {};
  std::optional<double> null_share = {};
  std::optional<double> unexplained_share = {};
  std::optional<double> path_device_share = {};
  std::optional<double> anchored_share = {};
  std::optional<double> impossible_share = {};
  std::optional<int64_t> inferred_edges = {};
  std::optional<int64_t> edges = {};
  std::optional<int64_t> exact_ns = {};
  std::optional<ReplayVerdict> verdict = {};
  std::optional<std::string> cause = {};

  static constexpr TableNames kTable{"replay_quality",
                                     "How well the replay represents the recording", kPreviewSteps};
  static constexpr ColumnOf<QualityRow> kColumns[] = {
      {"rank", &QualityRow::rank, Role::kKey, kRankDoc},
      {"step", &QualityRow::step, Role::kKey, kStepOrNoneDoc},
      {"measured_ns", &QualityRow::measured_ns, Unit::kNanoseconds, Role::kDerived,
       "From the begin of the step to its completion, when all its device work and its host window "
       "have ended, less what the step before took of it; without a step, of all of them "
       "together."},
      {"replayed_ns", &QualityRow::replayed_ns, Unit::kNanoseconds, Role::kDerived,
       "The same in the replay, in which dependencies have lags of their class."},
      {"identity_share", &QualityRow::identity_share, Unit::kShare, Role::kDerived,
       "(replayed - measured) / measured."},
      {"held_out_share", &QualityRow::held_out_share, Unit::kShare, Role::kDerived,
       "The same of every other step, with lags measured in the steps between; with fewer than "
       "four steps, of all, with lags of every other hundredth of the time."},
      {"null_share", &QualityRow::null_share, Unit::kShare, Role::kDerived,
       "The same with all lags 0: where this is small, identity says nothing about devices."},
      {"unexplained_share", &QualityRow::unexplained_share, Unit::kShare, Role::kDerived,
       "Part of the time in which work on the path of the replay waited for what no dependency "
       "explains."},
      {"path_device_share", &QualityRow::path_device_share, Unit::kShare, Role::kDerived,
       "Part of the path of the replay that is device work."},
      {"anchored_share", &QualityRow::anchored_share, Unit::kShare, Role::kDerived,
       "Part of the device time whose launch was not recorded, or was on a thread that depends on "
       "nothing recorded: it moves by inference alone, or not at all."},
      {"impossible_share", &QualityRow::impossible_share, Unit::kShare, Role::kDerived,
       "Part of the waits for device work that end before that work does: lost or wrong records."},
      {"inferred_edges", &QualityRow::inferred_edges, Unit::kCount, Role::kDerived,
       "Dependencies that were not recorded, but follow from times and names."},
      {"edges", &QualityRow::edges, Unit::kCount, Role::kDerived, "All dependencies."},
      {"exact_ns", &QualityRow::exact_ns, Unit::kNanoseconds, Role::kDerived,
       "Error of a replay with every lag as measured: 0, or the program is wrong."},
      {"verdict", EnumText<&QualityRow::verdict, ReplayVerdictName, kReplayVerdicts>(),
       Role::kDerived,
       "good, rough, untested (answers about devices cannot be tested on this recording) or "
       "refused."},
      {"cause", &QualityRow::cause, Role::kDerived,
       "Why the verdict is not good; missing where it is."}};
};

void AddSteps(const RankView& view, const ReplayModel& model, std::vector<QualityRow>& rows) {
  const std::vector<int64_t> measured = StretchTimes(model.graph, MeasuredTimes(model.graph));
  const std::vector<int64_t> replayed = StretchTimes(model.graph, model.times);
  for (size_t i = 0; i < measured.size() && model.graph.stretches[i].step != kMissing; ++i) {
    if (model.graph.stretches[i].is_asked) {
      rows.push_back({.rank = view.rank,
                      .step = model.graph.stretches[i].step,
                      .measured_ns = measured[i],
                      .replayed_ns = replayed[i],
                      .identity_share = ShareOf(replayed[i] - measured[i], measured[i])});
    }
  }
}

Table ReplayQualityTable(const RankView& view, const ReplayModel& model) {
  const ReplayQuality& quality = model.quality;
  std::vector<QualityRow> rows = {{.rank = view.rank,
                                   .measured_ns = quality.measured_ns,
                                   .replayed_ns = quality.replayed_ns,
                                   .identity_share = quality.identity(),
                                   .held_out_share = quality.held_out,
                                   .null_share = quality.null(),
                                   .unexplained_share = quality.unexplained(),
                                   .path_device_share = quality.path_device(),
                                   .anchored_share = quality.anchored(),
                                   .impossible_share = quality.impossible_share(),
                                   .inferred_edges = quality.inferred,
                                   .edges = static_cast<int64_t>(model.graph.edges()),
                                   .exact_ns = quality.exact_ns,
                                   .verdict = quality.verdict}};
  const std::string cause = CauseOf(view.trace, quality);
  if (!cause.empty()) rows.back().cause = cause;
  AddSteps(view, model, rows);
  return MakeTable(rows);
}

// `holds_cost`: the host times of the model hold what recording costs, and that is much.
Table AnswerTable(AnswerKind kind, const RankView& view, const ReplayModel& model, bool holds_cost,
                  const std::vector<AskedScenario>& asked) {
  constexpr TableNames kNames[] = {{"whatif", "What if"},
                                   {"sweep", "Where gains stop"},
                                   {"ranking", "What would help most, each alone"}};
  std::vector<AnswerRow> rows;
  rows.reserve(asked.size());
  for (const AskedScenario& one : asked) {
    rows.push_back(AnswerOf(view, model, holds_cost, one));
  }
  return MakeTable(rows, kNames[static_cast<size_t>(kind)]);
}

// The lags that the replay uses.
struct LagRow {
  int64_t rank = 0;
  std::string_view what = {};
  std::string of_class = {};
  int64_t cases = 0;
  int64_t lag_ns = 0;
  int64_t spread_ns = 0;
  std::string_view source = {};

  static constexpr TableNames kTable{"replay_constants", "Lags of the replay", 12};
  static constexpr ColumnOf<LagRow> kColumns[] = {
      {"rank", &LagRow::rank, Role::kKey, kRankDoc},
      {"what", &LagRow::what, Role::kKey,
       "Kind of dependency: launch, stream, graph, event, wait, queue, call."},
      {"class", &LagRow::of_class, Role::kKey, "Between what."},
      {"cases", &LagRow::cases, Unit::kCount, Role::kDerived,
       "How often it decided when something happened."},
      {"lag_ns", &LagRow::lag_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean of these, without the largest 2 %."},
      {"spread_ns", &LagRow::spread_ns, Unit::kNanoseconds, Role::kDerived,
       "From their 10th to their 90th percentile."},
      {"source", &LagRow::source, Role::kDerived,
       "measured; similar: fewer than 8 cases, the mean of its kind; assumed: a usual value."}};
};

Table ReplayConstantsTable(const RankView& view, const ReplayModel& model) {
  std::vector<LagRow> rows;
  for (size_t i = 0; i < model.constants.size(); ++i) {
    const auto id = static_cast<LagClassId>(i);
    const LagConstant& constant = model.constants[i];
    rows.push_back({.rank = view.rank,
                    .what = LagKindName(model.graph.classes.Key(id).kind),
                    .of_class = model.graph.classes.Describe(view.trace, id),
                    .cases = constant.cases,
                    .lag_ns = constant.lag_ns,
                    .spread_ns = constant.spread_ns,
                    .source = LagSourceName(constant.source)});
  }
  return MakeTable(rows);
}

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
  BS_ASSIGN(const std::shared_ptr<const RankCounters> counters, SharedKernelCounters(view));
  BS_ASSIGN(std::vector<AskedScenario> levers,
            RunAll(runner, LeverScenarios(view, model, *counters, candidates), view.threads));
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
  BS_ASSIGN(RankCalls calls, FindRankCalls(view, params.selection));
  std::move(calls.tables.begin(), calls.tables.end(), std::back_inserter(tables));
  return tables;
}

// The tables of calls come last.
Result<void> CheckWhatIfTables(const Tables& tables, const Params&) {
  constexpr size_t kTablesOfCalls = 3;
  return CheckRankCalls(std::span(tables).last(kTablesOfCalls));
}

// Of rows without an answer, which come last.
constexpr double kLeast = -1e9;

// The rows of all ranks, with what their waiting for each other leaves of an answer.
Table AnswersOfRun(const Table& table, const std::map<int64_t, CommWaiting>& waiting) {
  std::vector<AnswerRow> rows = ReadRows<AnswerRow>(table);
  for (AnswerRow& row : rows) {
    LimitByWaiting(WaitingOf(waiting, row.rank), row);
    if (!row.new_ns) {
      row.speedup = {};
      row.bound_by = {};
    }
  }
  if (table.name == "ranking") {
    std::stable_sort(rows.begin(), rows.end(), [](const AnswerRow& a, const AnswerRow& b) {
      return a.saved_share.value_or(kLeast) > b.saved_share.value_or(kLeast);
    });
  }
  Table answers = MakeTable(rows, TableNames{table.name, table.title});
  DropCarried<AnswerRow>(answers);
  return answers;
}

// The verdicts of all ranks, each once.
std::set<std::string_view> VerdictsOf(const std::vector<QualityRow>& quality) {
  std::set<std::string_view> verdicts;
  for (const QualityRow& row : quality) {
    if (row.verdict) verdicts.insert(ReplayVerdictName(*row.verdict));
  }
  return verdicts;
}

// What was not asked for needs no empty table to say so.
Result<Tables> FinishWhatIf(Tables findings, const Params& params) {
  BS_ASSIGN(const std::vector<Scenario> asked, AskedScenarios(params));
  BS_ASSIGN(const std::vector<double> factors, SweepFactors(params));
  const int64_t candidates = params.Number(kCandidatesParam);
  const std::vector<QualityRow> quality = ReadRows<QualityRow>(TableOf<QualityRow>(findings));
  const bool is_refused = !quality.empty() && quality[0].verdict == ReplayVerdict::kRefused;
  const std::map<int64_t, CommWaiting> waiting = CommWaitingOf(findings);
  std::erase_if(findings, [](const Table& table) {
    return table.name == "ranks" || table.name == "keys" || table.name == "calls";
  });
  for (Table& table : findings) {
    if (table.name == "whatif" || table.name == "sweep" || table.name == "ranking") {
      table = AnswersOfRun(table, waiting);
    }
    if (table.name == "ranking" && table.rows() == 0 && is_refused) {
      table.title += ": no answer, as the replay is refused";
    } else if (table.name == "ranking" && candidates > 0) {
      table.title += fmt::format(" (of the {} with most time on the path; replay {})", candidates,
                                 fmt::join(VerdictsOf(quality), ", "));
    }
  }
  std::erase_if(findings, [&](const Table& table) {
    return (table.name == "whatif" && asked.empty()) ||
           (table.name == "sweep" && factors.empty()) ||
           (table.name == "ranking" && !asked.empty());
  });
  // The answer first, then whether it holds.
  std::stable_partition(findings.begin(), findings.end(), [](const Table& table) {
    return table.name == "whatif" || table.name == "sweep" || table.name == "ranking";
  });
  return findings;
}

// Where every rank is refused: why the first is, and what would help.
std::string WhyNoAnswer(const Tables& findings) {
  std::string cause;
  for (const QualityRow& row : ReadRows<QualityRow>(findings)) {
    if (!row.verdict) {
      continue;  // of a step
    }
    if (row.verdict != ReplayVerdict::kRefused) {
      return "";
    }
    cause = cause.empty() ? row.cause.value_or("") : cause;
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
constexpr const ParamSpec* kWhatIfParams[] = {&kScaleParam,
                                              &kRemoveParam,
                                              &kRoofParam,
                                              &kSpeedOfLightParam,
                                              &kNoDataWaitParam,
                                              &kNoSyncParam,
                                              &kOverlapCommParam,
                                              &kGraphRegionParam,
                                              &kLaunchParam,
                                              &kPlanParam,
                                              &kSweepParam,
                                              &kDataLoadParam,
                                              &kCausalParam,
                                              &kSfuWeightParam,
                                              &kDeviceParam,
                                              &kDeviceSpecParam,
                                              &kCandidatesParam,
                                              &kPlainStepParam,
                                              &kWithoutRecordingParam};

}  // namespace

const AnalysisSpec kWhatIfVerb{
    .name = "whatif",
    .summary = "how long it would take if something were faster, and how sure that is",
    .example = "borescope whatif trace.json.gz --scale class:gemm=0.5",
    .needs = Needs::kEvents,
    .params = kWhatIfParams,
    .is_about_whole_steps = true,
    .answer = {.map = MapWhatIf,
               .reduce = ConcatTables,
               .finish = FinishWhatIf,
               .check_tables = CheckWhatIfTables},
    .check = CheckWhatIf,
    .memory = 1.5,
    .dear = ReplayModelIsDear,
    .views = kWhatIfViews,
    .report_tables = kSectionTables,
    .lack = WhyNoAnswer};

}  // namespace borescope::internal
