// graphs: what graph launches do (graph_launches.h): how long they take on host and device, how
// much of that time is gaps between their kernels, which kernels a graph holds, and what making it
// cost (graph_launches.h). One row per graph and rank: handles and node numbers are those of a
// process.
//
//   span     first start to last end of the work of a launch
//   gap      the part of it in which none of the work of the launch runs
//   delay    end of the call to the first start, 0 if that is earlier
#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// The table graph_operators: how the kernels of graphs got operators from captures in other files.

constexpr size_t kOperatorRows = 20;

struct Key {
  uint32_t graph = 0;
  CaptureFit fit = CaptureFit::kNone;
  bool has_arguments = false;
  uint32_t file = 0;  // StringId

  auto operator<=>(const Key&) const = default;
};

struct Sums {
  std::set<uint32_t> captures;
  int64_t launches = 0;
  int64_t kernels = 0;
  int64_t tied = 0;
  int64_t kernel_ns = 0;
  int64_t tied_ns = 0;
};

std::string_view FitName(CaptureFit fit) {
  constexpr std::string_view kNames[] = {"none", "exact", "aligned"};
  return kNames[static_cast<size_t>(fit)];
}

void AddKernels(const RankView& view, std::span<const DeviceId> works, Sums& sums) {
  const DeviceEvents& device = view.trace.device();
  for (const DeviceId id : works) {
    if (device.kind[id.value] != DeviceKind::kKernel) continue;
    const bool is_tied = view.index.correlation.CapturedCallOf(id).valid();
    ++sums.kernels;
    AddSaturatingTo(sums.kernel_ns, device.dur_ns[id.value]);
    sums.tied += is_tied ? 1 : 0;
    AddSaturatingTo(sums.tied_ns, is_tied ? device.dur_ns[id.value] : 0);
  }
}

std::map<Key, Sums> SumsOf(const RankView& view, const GraphLaunches& launches) {
  HashMap<uint32_t, const CaptureMatch*> match_of;  // by row of the launch
  for (const CaptureMatch& match : view.trace.captured().matches) {
    match_of[match.launch.value] = &match;
  }
  std::map<Key, Sums> sums;
  for (const GraphLaunch& launch : launches.launches) {
    const auto found = match_of.find(launch.call.value);
    if (found == match_of.end()) continue;
    const CaptureMatch& match = *found->second;
    Sums& sum = sums[{launch.graph, match.fit, match.has_arguments, match.file.value}];
    ++sum.launches;
    if (match.fit != CaptureFit::kNone) sum.captures.insert(match.capture);
    AddKernels(view, launches.WorksOf(launch), sum);
  }
  return sums;
}

struct GraphOperatorRow {
  int64_t rank = 0;
  int64_t graph = 0;
  std::string_view match = {};
  std::optional<std::string_view> arguments = {};
  std::optional<std::string_view> file = {};
  int64_t captures = 0;
  int64_t launches = 0;
  int64_t kernels = 0;
  int64_t tied = 0;
  int64_t kernel_ns = 0;
  int64_t tied_ns = 0;
  double coverage = 0;

  static constexpr TableNames kTable{"graph_operators", "Operators of graphs by their captures",
                                     kOperatorRows};
  static constexpr ColumnOf<GraphOperatorRow> kColumns[] = {
      {"rank", &GraphOperatorRow::rank, Role::kKey, kRankDoc},
      {"graph", &GraphOperatorRow::graph, Role::kKey,
       "Number of the graph, as in `graph_launches`."},
      {"match", &GraphOperatorRow::match, Role::kKey,
       "exact: the capture requested as many kernels of the same names in the same order; "
       "aligned: some kernels are missing on one side; none: no capture fits."},
      {"arguments", &GraphOperatorRow::arguments, Role::kKey,
       "Whether shapes and types are known: yes, or no if captures that fit differ in them; "
       "missing without a capture."},
      {"file", &GraphOperatorRow::file, Role::kKey, "File of the captures; missing without one."},
      {"captures", &GraphOperatorRow::captures, Unit::kCount, Role::kSum,
       "Different captures used; launches with the same kernels take them in turn."},
      {"launches", &GraphOperatorRow::launches, Unit::kCount, Role::kSum, "Launches of the graph."},
      {"kernels", &GraphOperatorRow::kernels, Unit::kCount, Role::kSum, "Kernels that these ran."},
      {"tied", &GraphOperatorRow::tied, Unit::kCount, Role::kSum,
       "Kernels that have a call in the capture."},
      {"kernel_ns", &GraphOperatorRow::kernel_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the durations of the kernels."},
      {"tied_ns", &GraphOperatorRow::tied_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the durations of the tied ones."},
      {"coverage", &GraphOperatorRow::coverage, Unit::kShare, Role::kDerived,
       "Time of the tied kernels / time of the kernels; missing without time."}};
};

// `launches` with selected work. Without captures the table has no rows.
Table GraphOperators(const RankView& view, const GraphLaunches& launches) {
  std::vector<GraphOperatorRow> rows;
  for (const auto& [key, sums] : SumsOf(view, launches)) {
    GraphOperatorRow& row =
        rows.emplace_back(GraphOperatorRow{.rank = view.rank,
                                           .graph = key.graph,
                                           .match = FitName(key.fit),
                                           .file = Recorded(view.trace.Text(StringId{key.file})),
                                           .captures = static_cast<int64_t>(sums.captures.size()),
                                           .launches = sums.launches,
                                           .kernels = sums.kernels,
                                           .tied = sums.tied,
                                           .kernel_ns = sums.kernel_ns,
                                           .tied_ns = sums.tied_ns,
                                           .coverage = ShareOf(sums.tied_ns, sums.kernel_ns)});
    if (key.fit != CaptureFit::kNone) row.arguments = key.has_arguments ? "yes" : "no";
  }
  return MakeTable(rows);
}

constexpr size_t kPreviewRows = 20;

struct GraphSums {
  int64_t launches = 0;
  int64_t works = 0;
  DurationStats calls, delays, spans;
  int64_t device_ns = 0;
  int64_t gap_ns = 0;
};

// One place of a graph: a node, or the n-th work of one name.
struct NodeSums {
  uint32_t graph = 0;
  int64_t position = 0;
  DeviceId first;
  DurationStats lengths;
  int64_t gap_ns = 0;
};

struct LaunchedGraphRow;

class GraphTables {
 public:
  GraphTables(const RankView& view, const Selected& selected)
      : view_(view),
        selected_(selected),
        found_(FindGraphLaunches(view, selected)),
        sums_(found_.graphs.size()),
        lengths_(found_.graphs.size()),
        places_(4) {}

  Tables Make();

 private:
  void AddLaunch(const GraphLaunch& launch);
  void AddNodes(const GraphLaunch& launch);
  uint32_t PlaceOf(uint32_t graph, DeviceId id, int64_t occurrence);
  int64_t SelectedDeviceTime() const;
  Table LaunchTable() const;
  LaunchedGraphRow RowOf(uint32_t graph, int64_t whole_ns) const;
  LaunchedGraphRow RestOf(int64_t whole_ns) const;
  Table KernelTable() const;
  Table CaptureTable() const;

  const RankView& view_;
  const Selected& selected_;
  GraphLaunches found_;
  std::vector<GraphSums> sums_;   // per graph
  std::vector<int64_t> lengths_;  // per graph: places seen
  Grouper places_;                // graph, node, name, occurrence of these in the launch
  std::vector<NodeSums> nodes_;   // per place
};

// First start to last end, and what of it the intervals do not cover.
struct Extent {
  int64_t span_ns = 0;
  int64_t gap_ns = 0;
};

Extent ExtentOf(const DeviceEvents& device, std::span<const DeviceId> works) {
  std::vector<Interval> times;
  times.reserve(works.size());
  int64_t end_ns = device.end_ns(works.front());
  for (const DeviceId id : works) {
    times.push_back({device.ts_ns[id.value], device.end_ns(id)});
    end_ns = std::max(end_ns, device.end_ns(id));
  }
  const int64_t span_ns = end_ns - times.front().begin;
  return {span_ns, span_ns - Coverage(Union(std::move(times)))};
}

void GraphTables::AddLaunch(const GraphLaunch& launch) {
  const DeviceEvents& device = view_.trace.device();
  const std::span<const DeviceId> works = found_.WorksOf(launch);
  GraphSums& sums = sums_[launch.graph];
  ++sums.launches;
  sums.works += static_cast<int64_t>(works.size());
  if (launch.call.valid()) {
    sums.calls.Add(view_.trace.host().dur_ns[launch.call.value]);
  }
  if (works.empty()) {
    return;
  }
  if (launch.call.valid()) {
    sums.delays.Add(LaunchDelay(view_, launch.call, works.front()));
  }
  for (const DeviceId id : works) {
    AddSaturatingTo(sums.device_ns, device.dur_ns[id.value]);
  }
  const Extent extent = ExtentOf(device, works);
  sums.spans.Add(extent.span_ns);
  AddSaturatingTo(sums.gap_ns, extent.gap_ns);
}

uint32_t GraphTables::PlaceOf(uint32_t graph, DeviceId id, int64_t occurrence) {
  const int64_t key[] = {graph, GraphNodeOf(view_.trace, id),
                         view_.trace.device().name[id.value].value, occurrence};
  const uint32_t place = places_.Find(key);
  if (place == nodes_.size()) {
    NodeSums node;
    node.graph = graph;
    node.position = lengths_[graph]++;
    node.first = id;
    nodes_.push_back(node);
  }
  return place;
}

void GraphTables::AddNodes(const GraphLaunch& launch) {
  const DeviceEvents& device = view_.trace.device();
  std::map<std::pair<int64_t, uint32_t>, int64_t> seen;  // per node and name
  int64_t end_ns = kMissing;                             // last end so far
  for (const DeviceId id : found_.WorksOf(launch)) {
    const int64_t occurrence = seen[{GraphNodeOf(view_.trace, id), device.name[id.value].value}]++;
    NodeSums& node = nodes_[PlaceOf(launch.graph, id, occurrence)];
    node.lengths.Add(device.dur_ns[id.value]);
    if (end_ns != kMissing) {
      AddSaturatingTo(node.gap_ns, std::max<int64_t>(0, device.ts_ns[id.value] - end_ns));
    }
    end_ns = std::max(end_ns, device.end_ns(id));
  }
}

int64_t GraphTables::SelectedDeviceTime() const {
  const DeviceEvents& device = view_.trace.device();
  int64_t total_ns = 0;
  for (uint32_t row = 0; row < device.size(); ++row) {
    AddSaturatingTo(total_ns, selected_.Keeps(DeviceId{row}) ? device.dur_ns[row] : 0);
  }
  return total_ns;
}

struct LaunchedGraphRow {
  int64_t rank = 0;
  std::optional<int64_t> graph = {};
  std::string told_by = {};
  std::optional<int64_t> launches = {};
  int64_t works = 0;
  std::optional<double> works_per_launch = {};
  std::optional<int64_t> host_ns = {};
  std::optional<double> mean_delay_ns = {};
  std::optional<int64_t> span_ns = {};
  std::optional<double> mean_span_ns = {};
  std::optional<int64_t> min_span_ns = {};
  std::optional<int64_t> max_span_ns = {};
  int64_t device_ns = 0;
  std::optional<int64_t> gap_ns = {};
  double share = 0;

  static constexpr TableNames kTable{"graph_launches", "Launches of graphs"};
  static constexpr ColumnOf<LaunchedGraphRow> kColumns[] = {
      {"rank", &LaunchedGraphRow::rank, Role::kKey, kRankDoc},
      {"graph", &LaunchedGraphRow::graph, Role::kKey,
       "Number of the graph, from 0 by its first launch; missing in the row of the device work "
       "that belongs to no graph, or whose launch nothing tells."},
      {"told_by", &LaunchedGraphRow::told_by, Role::kDerived,
       "What tells its launches from others: the handle of the executable graph, the numbers "
       "of its nodes, or the names of its kernels; nothing: without recorded work. The last "
       "row is other device work."},
      {"launches", &LaunchedGraphRow::launches, Unit::kCount, Role::kSum,
       "How often it was launched."},
      {"works", &LaunchedGraphRow::works, Unit::kCount, Role::kSum,
       "Kernels, memcpys and memsets of all launches."},
      {"works_per_launch", &LaunchedGraphRow::works_per_launch, Role::kDerived,
       "Mean number of works of a launch."},
      {"host_ns", &LaunchedGraphRow::host_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the lengths of the launch calls; missing where none was recorded."},
      {"mean_delay_ns", &LaunchedGraphRow::mean_delay_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean time from the end of the call to the first work, 0 if that is earlier."},
      {"span_ns", &LaunchedGraphRow::span_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the times from the first start to the last end of the work of a launch."},
      {"mean_span_ns", &LaunchedGraphRow::mean_span_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean of these times."},
      {"min_span_ns", &LaunchedGraphRow::min_span_ns, Unit::kNanoseconds, Role::kMin,
       "The shortest."},
      {"max_span_ns", &LaunchedGraphRow::max_span_ns, Unit::kNanoseconds, Role::kMax,
       "The longest."},
      {"device_ns", &LaunchedGraphRow::device_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the durations of the work; work side by side counts twice."},
      {"gap_ns", &LaunchedGraphRow::gap_ns, Unit::kNanoseconds, Role::kSum,
       "Time within the spans in which no work of the launch ran."},
      {"share", &LaunchedGraphRow::share, Unit::kShare, Role::kDerived,
       "Device time / all device work of the rank."}};
};

std::optional<double> MeanOf(const DurationStats& stats) {
  return stats.count == 0 ? std::nullopt : std::optional(ShareOf(stats.total_ns, stats.count));
}

LaunchedGraphRow GraphTables::RowOf(uint32_t graph, int64_t whole_ns) const {
  const GraphSums& sums = sums_[graph];
  const Graph& told = found_.graphs[graph];
  LaunchedGraphRow row{.rank = view_.rank,
                       .graph = graph,
                       .told_by = told.by == GraphBy::kHandle
                                      ? fmt::format("handle {:#x}", told.handle)
                                      : std::string(GraphByName(told.by)),
                       .launches = sums.launches,
                       .works = sums.works,
                       .works_per_launch = ShareOf(sums.works, sums.launches),
                       .mean_delay_ns = MeanOf(sums.delays),
                       .mean_span_ns = MeanOf(sums.spans),
                       .device_ns = sums.device_ns,
                       .share = ShareOf(sums.device_ns, whole_ns)};
  if (sums.calls.count > 0) row.host_ns = sums.calls.total_ns;
  if (sums.spans.count > 0) {
    row.span_ns = sums.spans.total_ns;
    row.min_span_ns = sums.spans.min_ns;
    row.max_span_ns = sums.spans.max_ns;
    row.gap_ns = sums.gap_ns;
  }
  return row;
}

// What no graph did, so that the device time is whole.
LaunchedGraphRow GraphTables::RestOf(int64_t whole_ns) const {
  int64_t rest_ns = whole_ns;
  for (const GraphSums& sums : sums_) {
    rest_ns -= std::min(rest_ns, sums.device_ns);
  }
  const auto in_graphs = static_cast<int64_t>(found_.works.size());
  int64_t works = -in_graphs;
  for (uint32_t id = 0; id < view_.trace.device().size(); ++id) {
    works += selected_.Keeps(DeviceId{id}) ? 1 : 0;
  }
  return {.rank = view_.rank,
          .told_by = "(no graph)",
          .works = works,
          .device_ns = rest_ns,
          .share = ShareOf(rest_ns, whole_ns)};
}

Table GraphTables::LaunchTable() const {
  std::vector<uint32_t> order(sums_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return sums_[a].device_ns > sums_[b].device_ns; });
  const int64_t whole_ns = SelectedDeviceTime();
  std::vector<LaunchedGraphRow> rows;
  rows.reserve(order.size() + 1);
  for (const uint32_t graph : order) {
    rows.push_back(RowOf(graph, whole_ns));
  }
  rows.push_back(RestOf(whole_ns));
  return MakeTable(rows);
}

struct GraphKernelRow {
  int64_t rank = 0;
  int64_t graph = 0;
  int64_t position = 0;
  std::optional<int64_t> node = {};
  std::string_view name = {};
  std::string_view of_class = {};
  int64_t launches = 0;
  int64_t total_ns = 0;
  double mean_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  double mean_gap_before_ns = 0;

  static constexpr TableNames kTable{"graph_kernels", "What the graphs run", kPreviewRows};
  static constexpr ColumnOf<GraphKernelRow> kColumns[] = {
      {"rank", &GraphKernelRow::rank, Role::kKey, kRankDoc},
      {"graph", &GraphKernelRow::graph, Role::kKey, "Number of the graph, as in `graph_launches`."},
      {"position", &GraphKernelRow::position, Role::kKey,
       "Place by start in the first launch, from 0; what only later launches have comes last."},
      {"node", &GraphKernelRow::node, Role::kDerived,
       "Number of the graph node as recorded; missing where it was not."},
      {"name", &GraphKernelRow::name, Role::kKey,
       "Name of the kernel, memcpy or memset as recorded."},
      {"class", &GraphKernelRow::of_class, Role::kDerived, "Class of the kernel: gemm, copy, ..."},
      {"launches", &GraphKernelRow::launches, Unit::kCount, Role::kSum,
       "Launches of the graph with this work."},
      {"total_ns", &GraphKernelRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of its durations."},
      {"mean_ns", &GraphKernelRow::mean_ns, Unit::kNanoseconds, Role::kDerived, "Mean duration."},
      {"min_ns", &GraphKernelRow::min_ns, Unit::kNanoseconds, Role::kMin, "Shortest duration."},
      {"max_ns", &GraphKernelRow::max_ns, Unit::kNanoseconds, Role::kMax, "Longest duration."},
      {"mean_gap_before_ns", &GraphKernelRow::mean_gap_before_ns, Unit::kNanoseconds,
       Role::kDerived, "Mean time before its start in which no work of the launch ran."}};
};

Table GraphTables::KernelTable() const {
  std::vector<uint32_t> order(nodes_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(nodes_[a].graph, nodes_[a].position) <
           std::pair(nodes_[b].graph, nodes_[b].position);
  });
  std::vector<GraphKernelRow> rows;
  rows.reserve(order.size());
  for (const uint32_t place : order) {
    const NodeSums& node = nodes_[place];
    const DurationStats& lengths = node.lengths;
    const bool is_kernel = view_.trace.device().kind[node.first.value] == DeviceKind::kKernel;
    rows.push_back(
        {.rank = view_.rank,
         .graph = node.graph,
         .position = node.position,
         .node = Recorded(GraphNodeOf(view_.trace, node.first)),
         .name = view_.trace.Name(node.first),
         .of_class = KernelClassName(is_kernel ? view_.index.ClassOf(view_.trace, node.first)
                                               : KernelClass::kCopy),
         .launches = lengths.count,
         .total_ns = lengths.total_ns,
         .mean_ns = ShareOf(lengths.total_ns, lengths.count),
         .min_ns = lengths.min_ns,
         .max_ns = lengths.max_ns,
         .mean_gap_before_ns = ShareOf(node.gap_ns, lengths.count)});
  }
  return MakeTable(rows);
}

struct CaptureRow {
  int64_t rank = 0;
  int64_t thread = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> capture_ns = {};
  std::optional<int64_t> captured = {};
  std::optional<int64_t> instantiate_ns = {};

  static constexpr TableNames kTable{"graph_captures", "How graphs were made", kPreviewRows};
  static constexpr ColumnOf<CaptureRow> kColumns[] = {
      {"rank", &CaptureRow::rank, Role::kKey, kRankDoc},
      {"thread", &CaptureRow::thread, Role::kKey, "Thread that made it."},
      {"begin_ns", &CaptureRow::begin_ns, Unit::kNanoseconds, Role::kDerived,
       "Start of the first of its calls, on the clock of the file."},
      {"capture_ns", &CaptureRow::capture_ns, Unit::kNanoseconds, Role::kDerived,
       "Start of BeginCapture to end of EndCapture; missing without both."},
      {"captured", &CaptureRow::captured, Unit::kCount, Role::kDerived,
       "Launch calls in the capture, which start no work, on any thread of the process."},
      {"instantiate_ns", &CaptureRow::instantiate_ns, Unit::kNanoseconds, Role::kDerived,
       "Length of the call that made the graph executable; missing without one."}};
};

Table GraphTables::CaptureTable() const {
  std::vector<CaptureRow> rows;
  for (const GraphCapture& capture : FindGraphCaptures(view_, selected_)) {
    rows.push_back({.rank = view_.rank,
                    .thread = view_.trace.tracks().tid[capture.track.value],
                    .begin_ns = capture.begin_ns,
                    .capture_ns = Recorded(capture.capture_ns),
                    .captured = Recorded(capture.launches),
                    .instantiate_ns = Recorded(capture.instantiate_ns)});
  }
  return MakeTable(rows);
}

Tables GraphTables::Make() {
  for (const GraphLaunch& launch : found_.launches) {
    AddLaunch(launch);
    AddNodes(launch);
  }
  return {LaunchTable(), KernelTable(), CaptureTable(), GraphOperators(view_, found_)};
}

Result<Tables> MapGraphs(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  return GraphTables(view, selected).Make();
}

}  // namespace

const AnalysisSpec kGraphsVerb{
    .name = "graphs",
    .summary = "launches of CUDA and HIP graphs: spans, gaps, their kernels, captures",
    .example = "borescope graphs trace.json.gz",
    .needs = Needs::kGraphs,
    .answer = {.map = MapGraphs, .reduce = ConcatTables}};

}  // namespace borescope::internal
