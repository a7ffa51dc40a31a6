// critical-path: what the wall time of a recording is spent on, one thing at every moment. The
// definition is in docs/how-it-works/critical-path.md.
#include <string>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/critical_path/saved/saved_graph.h"
#include "borescope/analysis/verbs/critical_path/tables.h"
#include "borescope/analysis/verbs/critical_path/what_if.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/check.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {
namespace {

// How many names are asked about in what_if.
constexpr size_t kWhatIfs = 10;

constexpr std::string_view kSyncHelp =
    "What calls wait for is inferred from their names and from the order of streams; waits between "
    "streams are not known. Record them: torch.profiler.profile(experimental_config="
    "torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True))";

constexpr std::string_view kNoWaitsHelp =
    "Device work was launched, but no call that waits for it was recorded (…Synchronize, a "
    "blocking copy): where the host waits it seems to work, and path, what_if and slack take the "
    "time for cpu.";

// Stands above the numbers it is about; the table of notes is the last of a long page.
constexpr std::string_view kNoWaitsTitle =
    " (cpu may hold waits that were not recorded: see How far waits are known)";

// What there is to know, then what would tell more.
std::string HelpOf(const RankView& view, const SyncEdges& syncs) {
  const bool helps = !syncs.has_records && view.trace.meta().format == TraceFormat::kKineto &&
                     view.trace.meta().vendor != Vendor::kAmd && view.trace.device().size() != 0;
  const bool lacks_waits = HasNoWaits(view.trace);
  std::string text(lacks_waits ? kNoWaitsHelp : std::string_view());
  text += lacks_waits && helps ? " " : "";
  return text.append(helps ? kSyncHelp : std::string_view());
}

Result<void> CheckCriticalPath(const Params& params) {
  if (!params.selection.gpus.empty() || !params.selection.streams.empty()) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .cause = "critical-path: `gpu` and `stream` would leave out work that other work waits for",
        .remedy = "select time, with `step`, `annotation` or `begin` and `end`",
        .parameter = "gpu"};
  }
  return {};
}

Result<Tables> MapCriticalPath(const RankView& view, const Params& params) {
  return AnswerCriticalPath(view, *SharedPathGraph(view, params), params);
}

Result<Tables> FinishCriticalPath(Tables findings, const Params&) {
  const StringValues& helps = Texts(findings.back(), "help");
  bool lacks_waits = false;
  for (size_t row = 0; row < helps.size(); ++row) {
    lacks_waits = lacks_waits || helps[row].starts_with(kNoWaitsHelp);
  }
  findings.front().title += lacks_waits ? kNoWaitsTitle : std::string_view();
  return findings;
}

Result<void> SaveCriticalPath(const RankView& view, const Params& params, const PutBytes& put) {
  return SaveGraph(view, SharedPathGraph(view, params)->recording, put);
}

Result<SavedAnswer> LoadCriticalPath(ByteSource& source, const std::string& file,
                                     const Params& params) {
  BS_ASSIGN(SavedGraph saved, LoadGraph(source, file, params.Text(kDataLoadParam)));
  const Meta& meta = saved.trace.meta();
  RankView view{meta.rank.value_or(0), saved.trace, saved.index};
  Steps matched;
  if (const std::string& pattern = params.selection.step_pattern; !pattern.empty()) {
    BS_ASSIGN(matched, MatchSteps(saved.trace, saved.index.correlation, pattern));
    view.matched_steps = &matched;
  }
  return SavedAnswer{meta.rank, meta.world_size,
                     saved.trace.host().size() + saved.trace.device().size(), view.trace.begin_ns(),
                     AnswerCriticalPath(view, FindPaths(view, std::move(saved.recording)), params)};
}

constexpr const ParamSpec* kCriticalPathParams[] = {&kDataLoadParam,        &kFreeLaunchesParam,
                                                    &kGraphParam,           &kOverlayAllEventsParam,
                                                    &kOverlayAllEdgesParam, &kIncludeLastStepParam};
constexpr std::string_view kBoundBy[] = {"rank", "bound_by"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr std::string_view kSavedBy[] = {"rank", "name"};
constexpr std::string_view kSaved[] = {"saved_ns"};
// What has a row for every event is for the verb alone.
constexpr std::string_view kPageTables[] = {"critical_path_summary", "critical_ops", "what_if",
                                            "clock_skew", "sync_quality"};
constexpr ViewSpec kViews[] = {
    {"critical_path_summary", ViewKind::kBars, "Time on the critical path", kBoundBy, kTotal},
    {"what_if", ViewKind::kBars, "Saved if it took no time", kSavedBy, kSaved}};
constexpr SavedForm kSavedGraph{.save = SaveCriticalPath, .load = LoadCriticalPath};

}  // namespace

Table SyncQualityTable(const RankView& view, const SyncEdges& syncs,
                       const ColumnData<PathStep>& steps) {
  Table table{"sync_quality", "How far waits are known", {}};
  AddRankKey(table);
  AddBool(table, "recorded", Role::kDerived,
          "Whether the file holds records of waits (cuda_sync).");
  const auto count = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kCount, Role::kDerived, doc);
  };
  count("edges", "Edges of sync_edges in the whole recording.");
  count("inferred", "Those that were not recorded.");
  count("backward",
        "Waits whose work ends after them by more than clocks drift, which give no edge: lost or "
        "wrong records.");
  count("unresolved", "Waits of which it cannot be known what they wait for.");
  AddInt(table, "path_inferred_ns", Unit::kNanoseconds, Role::kDerived,
         "Time on the critical path that rests on inferred dependencies: the sum of inferred_ns in "
         "the summary.");
  AddFloat(table, "path_inferred_share", Unit::kShare, Role::kDerived,
           "Part of the window without before_recording.");
  AddString(table, "help", Role::kDerived,
            "What is missing, and what would tell more; missing where nothing is.");
  PathTime time;
  for (const PathStep& step : steps) {
    time.Add(step);
  }
  int64_t inferred = 0;
  for (const SyncEdge& edge : syncs.edges) {
    inferred += edge.inferred ? 1 : 0;
  }
  Row(table)
      .Int(view.rank)
      .Bool(syncs.has_records)
      .Count(syncs.edges.size())
      .Int(inferred)
      .Count(syncs.backward)
      .Count(syncs.unresolved)
      .Int(time.inferred_ns)
      .Share(time.inferred_ns, time.recorded_ns())
      .MaybeText(HelpOf(view, syncs));
  return table;
}

Result<Tables> AnswerCriticalPath(const RankView& view, const PathGraph& path,
                                  const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const RecordingGraph& recording = path.recording;
  const IntervalSet windows = path.WindowsOf(view, selected);
  // Not as a list in braces, which would copy every table.
  Tables tables;
  Table quality;
  {
    const ColumnData<PathStep> steps = path.StepsIn(view, windows);
    quality = SyncQualityTable(view, recording.syncs, steps);
    const std::vector<PathOp> ops = SumPath(view, steps);
    const PathRest rest = SumRest(steps);
    const int64_t recorded_ns =
        Coverage(windows) - rest[static_cast<size_t>(BoundBy::kBeforeRecording)];
    tables.push_back(PathSummary(view, steps));
    tables.push_back(OpTable(view, ops, rest, recorded_ns));
    tables.push_back(WhatIfTable(
        view, AskWhatIf(view, recording, path.order, ops, kWhatIfs, windows), recorded_ns));
    tables.push_back(params.for_page ? NewPathTable() : PathTable(view, steps));
  }
  tables.push_back(params.for_page ? NewSyncTable() : SyncTable(view, recording, selected));
  tables.push_back(params.for_page ? NewSlackTable()
                                   : SlackTable(view, recording, path.order, path.paths, selected));
  tables.push_back(ClockTable(view, recording.clocks));
  tables.push_back(std::move(quality));
  return tables;
}

const AnalysisSpec kCriticalPathVerb{
    .name = "critical-path",
    .summary = "what decides how long it takes: one cause for every moment, and what would help",
    .example = "borescope critical-path trace.json.gz --step 2",
    .needs = Needs::kEvents,
    .params = kCriticalPathParams,
    .answer = {.map = MapCriticalPath, .reduce = ConcatTables, .finish = FinishCriticalPath},
    .check = CheckCriticalPath,
    .overlay = OverlayCriticalPath,
    .memory = 0.75,
    .dear = PathGraphIsDear,
    .views = kViews,
    .report_tables = kPageTables,
    .saved = &kSavedGraph};

}  // namespace borescope::internal
