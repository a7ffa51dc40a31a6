// critical-path: what the wall time of a recording is spent on, one thing at every moment. The
// definition is in docs/how-it-works/critical-path.md.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/measures/path/path_overlay.h"
#include "borescope/analysis/verbs/critical_path/saved_graph.h"
#include "borescope/analysis/verbs/critical_path/tables.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/stop.h"
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

// It is shown above the numbers it is about: the table of notes is the last of a long page.
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

namespace {

// --overlay: the path in the trace itself, as arrows between its events, which are marked.

// What an arrow is called; kThread and kWork have none: they are events.
PathKind ArrowKind(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kLaunch:
      return PathKind::kLaunchDelay;
    case EdgeKind::kStream:
    case EdgeKind::kInferredWork:
      return PathKind::kKernelKernelDelay;
    case EdgeKind::kSync:
    case EdgeKind::kInferredSync:
      return PathKind::kSync;
    default:
      return PathKind::kDependency;
  }
}

bool IsArrow(EdgeKind kind) {
  return kind != EdgeKind::kWork && kind != EdgeKind::kThread && kind != EdgeKind::kEnds;
}

class Drawing {
 public:
  Drawing(const RankView& view, const RecordingGraph& recording, const Selected& selected)
      : trace_(view.trace), recording_(recording), graph_(recording.graph), selected_(selected) {
    arrows_.name = "critical_path";
    for (size_t kind = 0; kind <= static_cast<size_t>(PathKind::kSync); ++kind) {
      arrows_.types.emplace_back(PathKindName(static_cast<PathKind>(kind)));
    }
  }

  void Add(EdgeId edge, NodeId from, bool is_critical) {
    const NodeId to = graph_.target[edge];
    if (!IsArrow(graph_.kind[edge]) || !selected_.KeepsTime(graph_.ts_ns[to])) {
      return;
    }
    constexpr double kNsPerUs = 1000;
    const auto weight_ns = static_cast<double>(std::max(graph_.weight_ns[edge], int64_t{0}));
    arrows_.arrows.push_back({EndOf(from), EndOf(to),
                              static_cast<uint32_t>(ArrowKind(graph_.kind[edge])),
                              weight_ns / kNsPerUs, is_critical});
  }

  OverlayArrows Take() { return std::move(arrows_); }

 private:
  // Where the node is in the trace, whose devices have clocks of their own.
  int64_t TimeInTrace(NodeId node) const {
    if (graph_.side[node] == NodeSide::kHost) {
      return graph_.ts_ns[node];
    }
    const uint32_t row = graph_.event[node];
    return node == recording_.start_of_work[row] ? trace_.device().ts_ns[row]
                                                 : trace_.device().end_ns({row});
  }

  // Inside of the event, so that viewers tie the arrow to it and not to the next one.
  OverlayArrow::End EndOf(NodeId node) const {
    const bool is_host = graph_.side[node] == NodeSide::kHost;
    const uint32_t event = graph_.event[node];
    const TrackId track = is_host ? trace_.host().track[event] : trace_.device().track[event];
    const int64_t begin_ns = is_host ? trace_.host().ts_ns[event] : trace_.device().ts_ns[event];
    const int64_t ts_ns = TimeInTrace(node);
    return {trace_.tracks().pid[track.value], trace_.tracks().tid[track.value],
            ts_ns > begin_ns ? ts_ns - 1 : ts_ns};
  }

  const Trace& trace_;
  const RecordingGraph& recording_;
  const EventGraph& graph_;
  const Selected& selected_;
  OverlayArrows arrows_;
};

OverlayArrows DrawArrows(const RankView& view, const RecordingGraph& recording,
                         const LongestPaths& paths, const Selected& selected, bool all) {
  const EventGraph& graph = recording.graph;
  Drawing drawing(view, recording, selected);
  std::vector<char> is_critical(graph.edges());
  for (const EdgeId edge : PathEdges(paths)) {
    is_critical[edge] = 1;
  }
  for (NodeId from = 0; from < graph.nodes(); ++from) {
    CheckStopAt(from);
    for (EdgeId edge = graph.first_edge[from]; edge < graph.first_edge[from + 1]; ++edge) {
      if (all || is_critical[edge] != 0) {
        drawing.Add(edge, from, is_critical[edge] != 0);
      }
    }
  }
  return drawing.Take();
}

std::vector<uint32_t> PositionsOf(const Trace& trace, const ColumnData<PathStep>& steps) {
  std::vector<uint32_t> positions;
  for (const PathStep& step : steps) {
    const ColumnData<uint32_t>& all =
        step.side == NodeSide::kHost ? trace.host().position : trace.device().position;
    if (step.event != kNoEvent && !all.empty() && all[step.event] != kNoPosition) {
      positions.push_back(all[step.event]);
    }
  }
  return positions;
}

}  // namespace

Result<Overlay> OverlayCriticalPath(const RankView& view, const Params& params) {
  BS_ASSIGN(const PathOverlayOptions options, PathOverlayOptions::From(params));
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::shared_ptr<const PathGraph> path = SharedPathGraph(view, params);
  const RecordingGraph& recording = path->recording;
  const LongestPaths& paths = path->paths;
  Overlay overlay;
  overlay.arrows = DrawArrows(view, recording, paths, selected, options.all_edges);
  overlay.marks = MarkPath(
      PositionsOf(view.trace, ClipSteps(path->steps, path->WindowsOf(view, selected))), options);
  return overlay;
}

}  // namespace borescope::internal
