// graphs: what graph launches do (graph_launches.h): how long they take on host and device, how
// much of that time is gaps between their kernels, which kernels a graph holds, and what making it
// cost (graph_captures.h). One row per graph and rank: handles and node numbers are those of a
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
#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"

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

Table NewTable() {
  Table table{"graph_operators", "Operators of graphs by their captures", {}, kOperatorRows};
  const auto count = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kCount, Role::kSum, doc);
  };
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  AddRankKey(table);
  AddInt(table, "graph", Unit::kNone, Role::kKey, "Number of the graph, as in `graph_launches`.");
  AddString(table, "match", Role::kKey,
            "exact: the capture requested as many kernels of the same names in the same order; "
            "aligned: some kernels are missing on one side; none: no capture fits.");
  AddString(table, "arguments", Role::kKey,
            "Whether shapes and types are known: yes, or no if captures that fit differ in them; "
            "missing without a capture.");
  AddString(table, "file", Role::kKey, "File of the captures; missing without one.");
  count("captures", "Different captures used; launches with the same kernels take them in turn.");
  count("launches", "Launches of the graph.");
  count("kernels", "Kernels that these ran.");
  count("tied", "Kernels that have a call in the capture.");
  ns("kernel_ns", "Sum of the durations of the kernels.");
  ns("tied_ns", "Sum of the durations of the tied ones.");
  AddFloat(table, "coverage", Unit::kShare, Role::kDerived,
           "Time of the tied kernels / time of the kernels; missing without time.");
  return table;
}

// `launches` with selected work. Without captures the table has no rows.
Table GraphOperators(const RankView& view, const GraphLaunches& launches) {
  Table table = NewTable();
  for (const auto& [key, sums] : SumsOf(view, launches)) {
    const bool has_capture = key.fit != CaptureFit::kNone;
    Row row(table);
    row.Int(view.rank).Int(key.graph).Text(FitName(key.fit));
    row.MaybeText(!has_capture ? "" : key.has_arguments ? "yes" : "no");
    row.MaybeText(view.trace.Text(StringId{key.file}));
    row.Int(static_cast<int64_t>(sums.captures.size())).Int(sums.launches).Int(sums.kernels);
    row.Int(sums.tied).Int(sums.kernel_ns).Int(sums.tied_ns);
    row.Share(sums.tied_ns, sums.kernel_ns);
  }
  return table;
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
  void PushGraph(uint32_t graph, int64_t whole_ns, Table& table) const;
  void PushRest(int64_t whole_ns, Table& table) const;
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

Table NewLaunchTable() {
  Table table{"graph_launches", "Launches of graphs", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  const auto mean = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddFloat(table, name, unit, Role::kDerived, doc);
  };
  AddRankKey(table);
  AddInt(table, "graph", Unit::kNone, Role::kKey,
         "Number of the graph, from 0 by its first launch; missing in the row of the device work "
         "that belongs to no graph, or whose launch nothing tells.");
  AddString(table, "told_by", Role::kDerived,
            "What tells its launches from others: the handle of the executable graph, the numbers "
            "of its nodes, or the names of its kernels; nothing: without recorded work. The last "
            "row is other device work.");
  AddInt(table, "launches", Unit::kCount, Role::kSum, "How often it was launched.");
  AddInt(table, "works", Unit::kCount, Role::kSum, "Kernels, memcpys and memsets of all launches.");
  mean("works_per_launch", Unit::kNone, "Mean number of works of a launch.");
  ns("host_ns", "Sum of the lengths of the launch calls; missing where none was recorded.");
  mean("mean_delay_ns", Unit::kNanoseconds,
       "Mean time from the end of the call to the first work, 0 if that is earlier.");
  ns("span_ns", "Sum of the times from the first start to the last end of the work of a launch.");
  mean("mean_span_ns", Unit::kNanoseconds, "Mean of these times.");
  AddInt(table, "min_span_ns", Unit::kNanoseconds, Role::kMin, "The shortest.");
  AddInt(table, "max_span_ns", Unit::kNanoseconds, Role::kMax, "The longest.");
  ns("device_ns", "Sum of the durations of the work; work side by side counts twice.");
  ns("gap_ns", "Time within the spans in which no work of the launch ran.");
  mean("share", Unit::kShare, "Device time / all device work of the rank.");
  return table;
}

void PushMean(Row& row, const DurationStats& stats) {
  stats.count == 0 ? row.Missing() : row.Float(ShareOf(stats.total_ns, stats.count));
}

void GraphTables::PushGraph(uint32_t graph, int64_t whole_ns, Table& table) const {
  const GraphSums& sums = sums_[graph];
  const Graph& told = found_.graphs[graph];
  const bool has_work = sums.spans.count > 0;
  const auto maybe = [&](bool is_known, int64_t value) { return is_known ? value : kMissing; };
  Row row(table);
  row.Int(view_.rank).Int(graph);
  row.Text(told.by == GraphBy::kHandle ? fmt::format("handle {:#x}", told.handle)
                                       : std::string(GraphByName(told.by)));
  row.Int(sums.launches).Int(sums.works).Float(ShareOf(sums.works, sums.launches));
  row.MaybeInt(maybe(sums.calls.count > 0, sums.calls.total_ns));
  PushMean(row, sums.delays);
  row.MaybeInt(maybe(has_work, sums.spans.total_ns));
  PushMean(row, sums.spans);
  row.MaybeInt(maybe(has_work, sums.spans.min_ns)).MaybeInt(maybe(has_work, sums.spans.max_ns));
  row.Int(sums.device_ns).MaybeInt(maybe(has_work, sums.gap_ns)).Share(sums.device_ns, whole_ns);
}

// What no graph did, so that the device time is whole.
void GraphTables::PushRest(int64_t whole_ns, Table& table) const {
  int64_t rest_ns = whole_ns;
  for (const GraphSums& sums : sums_) {
    rest_ns -= std::min(rest_ns, sums.device_ns);
  }
  const auto in_graphs = static_cast<int64_t>(found_.works.size());
  int64_t works = -in_graphs;
  for (uint32_t id = 0; id < view_.trace.device().size(); ++id) {
    works += selected_.Keeps(DeviceId{id}) ? 1 : 0;
  }
  Row row(table);
  row.Int(view_.rank).Missing().Text("(no graph)").Missing().Int(works).Missing();
  row.Missing().Missing().Missing().Missing().Missing().Missing();
  row.Int(rest_ns).Missing().Share(rest_ns, whole_ns);
}

Table GraphTables::LaunchTable() const {
  Table table = NewLaunchTable();
  std::vector<uint32_t> order(sums_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return sums_[a].device_ns > sums_[b].device_ns; });
  const int64_t whole_ns = SelectedDeviceTime();
  for (const uint32_t graph : order) {
    PushGraph(graph, whole_ns, table);
  }
  PushRest(whole_ns, table);
  return table;
}

Table NewKernelTable() {
  Table table{"graph_kernels", "What the graphs run", {}, kPreviewRows};
  AddRankKey(table);
  AddInt(table, "graph", Unit::kNone, Role::kKey, "Number of the graph, as in `graph_launches`.");
  AddInt(table, "position", Unit::kNone, Role::kKey,
         "Place by start in the first launch, from 0; what only later launches have comes last.");
  AddInt(table, "node", Unit::kNone, Role::kDerived,
         "Number of the graph node as recorded; missing where it was not.");
  AddString(table, "name", Role::kKey, "Name of the kernel, memcpy or memset as recorded.");
  AddString(table, "class", Role::kDerived, "Class of the kernel: gemm, copy, ...");
  AddInt(table, "launches", Unit::kCount, Role::kSum, "Launches of the graph with this work.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of its durations.");
  AddFloat(table, "mean_ns", Unit::kNanoseconds, Role::kDerived, "Mean duration.");
  AddInt(table, "min_ns", Unit::kNanoseconds, Role::kMin, "Shortest duration.");
  AddInt(table, "max_ns", Unit::kNanoseconds, Role::kMax, "Longest duration.");
  AddFloat(table, "mean_gap_before_ns", Unit::kNanoseconds, Role::kDerived,
           "Mean time before its start in which no work of the launch ran.");
  return table;
}

Table GraphTables::KernelTable() const {
  Table table = NewKernelTable();
  std::vector<uint32_t> order(nodes_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(nodes_[a].graph, nodes_[a].position) <
           std::pair(nodes_[b].graph, nodes_[b].position);
  });
  for (const uint32_t place : order) {
    const NodeSums& node = nodes_[place];
    const DurationStats& lengths = node.lengths;
    const bool is_kernel = view_.trace.device().kind[node.first.value] == DeviceKind::kKernel;
    Row row(table);
    row.Int(view_.rank).Int(node.graph).Int(node.position);
    row.MaybeInt(GraphNodeOf(view_.trace, node.first)).Text(view_.trace.Name(node.first));
    row.Text(KernelClassName(is_kernel ? view_.index.ClassOf(view_.trace, node.first)
                                       : KernelClass::kCopy));
    row.Int(lengths.count).Int(lengths.total_ns).Float(ShareOf(lengths.total_ns, lengths.count));
    row.Int(lengths.min_ns).Int(lengths.max_ns).Float(ShareOf(node.gap_ns, lengths.count));
  }
  return table;
}

Table GraphTables::CaptureTable() const {
  Table table{"graph_captures", "How graphs were made", {}, kPreviewRows};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kDerived, doc);
  };
  AddRankKey(table);
  AddInt(table, "thread", Unit::kNone, Role::kKey, "Thread that made it.");
  ns("begin_ns", "Start of the first of its calls, on the clock of the file.");
  ns("capture_ns", "Start of BeginCapture to end of EndCapture; missing without both.");
  AddInt(table, "captured", Unit::kCount, Role::kDerived,
         "Launch calls in the capture, which start no work, on any thread of the process.");
  ns("instantiate_ns", "Length of the call that made the graph executable; missing without one.");
  for (const GraphCapture& capture : FindGraphCaptures(view_, selected_)) {
    Row row(table);
    row.Int(view_.rank).Int(view_.trace.tracks().tid[capture.track.value]).Int(capture.begin_ns);
    row.MaybeInt(capture.capture_ns).MaybeInt(capture.launches).MaybeInt(capture.instantiate_ns);
  }
  return table;
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
