#include "borescope/packs/chakra/reference/sync_deps.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/packs/hta/critical_path/critical_graph.h"
#include "borescope/packs/hta/frame.h"

namespace borescope::internal::chakra::compat {

namespace {

constexpr std::string_view kStep = "ProfilerStep";

bool NamesStep(const HtaRow& row) { return row.name.find(kStep) != std::string_view::npos; }

// Times are rounded inwards if any begin in the trace has a fraction.
void SetTimes(const DeviceEvent& event, bool has_fractions, HtaRow& row) {
  if (!has_fractions) {
    row.begin = event.begin.whole;
    row.duration = event.duration.is_double ? static_cast<int64_t>(event.duration.fraction)
                                            : event.duration.whole;
    return;
  }
  row.begin = static_cast<int64_t>(std::ceil(event.begin.AsDouble()));
  row.duration = static_cast<int64_t>(std::floor(event.end().AsDouble())) - row.begin;
}

HtaRow RowOf(const DeviceEvent& event, uint32_t number, bool has_fractions) {
  HtaRow row;
  row.event = number;
  row.category = event.category;
  row.name = event.name;
  row.pid = LooseIntValue(event.pid).value_or(0);
  row.tid = LooseIntValue(event.tid).value_or(0);
  row.stream = ParseNumber<int64_t>(event.stream).value_or(kNone);
  row.correlation = event.correlation;
  row.wait_on_stream = event.wait_on_stream;
  row.wait_on_record_correlation = event.wait_on_record_correlation;
  SetTimes(event, has_fractions, row);
  return row;
}

std::vector<HtaRow> ReadRows(const DeviceTrace& trace) {
  const bool has_fractions = std::any_of(
      trace.events.begin(), trace.events.end(),
      [](const DeviceEvent& event) { return !event.has_begin || event.begin.is_double; });
  std::vector<HtaRow> rows;
  for (const uint32_t i : EachRow(trace.events.size())) {
    const DeviceEvent& event = trace.events[i];
    if (event.has_duration && !event.category.empty() && event.category != "Trace") {
      rows.push_back(RowOf(event, i, has_fractions));
    }
  }
  return rows;
}

// Streams up to 0 are not treated as on a device.
bool IsOnDevice(const HtaRow& row) { return row.stream > 0 || WaitsWithoutStream(row); }

void SetPartners(std::vector<HtaRow>& rows) {
  HashMap<int64_t, uint32_t> calls;
  HashMap<int64_t, uint32_t> works;
  for (const HtaRow& row : rows) {
    if (row.correlation != kNone) {
      (IsOnDevice(row) ? works : calls)[row.correlation] = row.event;
    }
  }
  for (HtaRow& row : rows) {
    row.partner = std::min<int64_t>(row.correlation, 0);
    if (row.correlation != kNone) {
      const auto& others = IsOnDevice(row) ? calls : works;
      const auto other = others.find(row.correlation);
      row.partner = other == others.end() ? row.partner : static_cast<int64_t>(other->second);
    }
  }
}

// If there are several steps, the last one is left out: the rows that its thread began before it
// stay, and their device work. Device work comes first in the new order.
std::vector<HtaRow> WithoutLastStep(std::vector<HtaRow> rows) {
  HashSet<std::string_view> steps;
  std::optional<int64_t> last;
  for (const HtaRow& row : rows) {
    if (NamesStep(row)) {
      steps.insert(row.name);
      last = IsOnDevice(row) ? last : std::max(last.value_or(row.begin), row.begin);
    }
  }
  if (steps.size() < 2) {
    return rows;
  }
  const auto stays = [&](const HtaRow& row) {
    return !IsOnDevice(row) && last.has_value() && row.begin < *last;
  };
  HashSet<int64_t> correlations;
  for (const HtaRow& row : rows) {
    if (stays(row)) {
      correlations.insert(row.correlation);
    }
  }
  std::vector<HtaRow> kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), [&](const HtaRow& row) {
    return IsOnDevice(row) && correlations.contains(row.correlation);
  });
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), stays);
  return kept;
}

// Keeps what the threads began in the first step, its device work, and all waits of streams.
void Clip(HtaTable& table) {
  const auto step = std::find_if(table.rows.begin(), table.rows.end(), NamesStep);
  if (step == table.rows.end()) {
    table.failure = "there is no ProfilerStep, without which the reference ends with an error";
    return;
  }
  const auto is_inside = [&](const HtaRow& row) {
    return row.stream == kNone && step->begin <= row.begin && row.begin <= step->end() &&
           row.duration > 0;
  };
  for (const size_t i : EachIndex(table.rows.size())) {
    const HtaRow& row = table.rows[i];
    const HtaRow* const call = row.stream != kNone ? table.Find(row.partner) : nullptr;
    if (is_inside(row) || row.name == "Stream Wait Event" ||
        (call != nullptr && row.partner > 0 && is_inside(*call))) {
      table.clipped.push_back(i);
    }
  }
  std::sort(table.clipped.begin(), table.clipped.end(),
            [&](size_t a, size_t b) { return table.rows[a].event < table.rows[b].event; });
}

}  // namespace

HtaTable BuildHtaTable(const DeviceTrace& trace) {
  HtaTable table;
  std::vector<HtaRow> rows = ReadRows(trace);
  SetPartners(rows);
  table.rows = WithoutLastStep(std::move(rows));
  table.at.assign(trace.events.size(), kNone);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    table.at[table.rows[i].event] = static_cast<int64_t>(i);
  }
  Clip(table);
  return table;
}

bool IsHtaLaunch(const HtaRow& row) {
  constexpr std::string_view kNames[] = {"cudaMemsetAsync", "cudaMemcpyAsync", "cudaLaunchKernel",
                                         "cudaLaunchKernelExC", "cuLaunchKernel"};
  return row.partner > 0 &&
         std::find(std::begin(kNames), std::end(kNames), row.name) != std::end(kNames);
}

HtaGraph::Ends HtaGraph::AddEvent(uint32_t event, int64_t begin, int64_t end) {
  const auto first = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({event, begin});
  nodes_.push_back({event, end});
  return ends_[event] = {first, first + 1};
}

const HtaGraph::Ends* HtaGraph::Find(int64_t event) const {
  const auto found = event < 0 ? ends_.end() : ends_.find(static_cast<uint32_t>(event));
  return found == ends_.end() ? nullptr : &found->second;
}

void HtaGraph::Add(uint32_t from, uint32_t to, int64_t weight, bool is_sync) {
  const uint64_t key = uint64_t{from} << 32U | to;
  const auto [at, is_new] = edge_of_.try_emplace(key, static_cast<uint32_t>(edges_.size()));
  if (is_new) {
    edges_.emplace_back();
  }
  edges_[at->second] = {from, to, weight, is_sync};
}

bool HtaGraph::LongestPath(std::vector<HtaEdge>& path) const {
  std::vector<WeighedEdge> weighed;
  weighed.reserve(edges_.size());
  for (const HtaEdge& edge : edges_) {
    if (edge.weight < -1) {
      return false;
    }
    // Weights of -1 count as 0, so that no length is below 0.
    weighed.push_back({edge.from, edge.to, std::max<int64_t>(edge.weight, 0)});
  }
  std::vector<uint32_t> nodes(nodes_.size());
  std::iota(nodes.begin(), nodes.end(), 0U);
  const auto end_node = static_cast<uint32_t>(nodes.size());
  const std::optional<std::vector<uint32_t>> found = LongestPathOf(nodes, end_node, weighed);
  for (const uint32_t edge : found.value_or(std::vector<uint32_t>())) {
    path.push_back(edges_[edge]);
  }
  return found.has_value();
}

namespace {

bool HasNodes(const HtaRow& row) {
  return row.event > 0 && (row.category == "cpu_op" || row.category == "cuda_runtime" ||
                           row.category == "cuda_driver");
}

// Walks the events of one thread.
class ThreadWalk {
 public:
  ThreadWalk(std::vector<const HtaRow*> rows, HtaGraph& graph)
      : rows_(std::move(rows)), graph_(graph) {}

  void Run() {
    for (const Point& point : Points()) {
      if (point.is_begin) {
        open_.push_back(point.row);
        Enter(*point.row);
      } else {
        // The innermost event ends, even if it is another one.
        const HtaRow* const row = open_.back();
        open_.pop_back();
        Leave(*row);
      }
    }
  }

 private:
  struct Point {
    const HtaRow* row = nullptr;
    int64_t time = 0;
    bool is_begin = false;
  };

  // At equal times ends come before begins; of ends the shorter events first, of begins the longer
  // ones.
  std::vector<Point> Points() const {
    std::vector<Point> points;
    points.reserve(rows_.size() * 2);
    for (const HtaRow* row : rows_) {
      points.push_back({row, row->begin, true});
      points.push_back({row, row->end(), false});
    }
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      if (a.time != b.time || a.is_begin != b.is_begin) {
        return a.time != b.time ? a.time < b.time : !a.is_begin;
      }
      return a.is_begin ? a.row->duration > b.row->duration : a.row->duration < b.row->duration;
    });
    return points;
  }

  void Enter(const HtaRow& row) {
    if (!HasNodes(row)) {
      return;
    }
    const uint32_t begin = graph_.AddEvent(row.event, row.begin, row.end()).begin;
    if (depth_ == 0 && outermost_end_.has_value()) {
      graph_.AddFree(*outermost_end_, begin);
    }
    if (last_.has_value()) {
      graph_.AddSpan(*last_, begin);
    }
    last_ = begin;
    ++depth_;
  }

  void Leave(const HtaRow& row) {
    if (!HasNodes(row)) {
      return;
    }
    const uint32_t end = graph_.Find(row.event)->end;
    if (last_.has_value()) {
      HtaIsBlockingCall(row.name) ? graph_.AddFree(*last_, end) : graph_.AddSpan(*last_, end);
    }
    --depth_;
    last_ = end;
    if (depth_ == 0) {
      last_ = std::nullopt;
      outermost_end_ = end;
    }
  }

  const std::vector<const HtaRow*> rows_;
  HtaGraph& graph_;
  std::vector<const HtaRow*> open_;
  std::optional<uint32_t> last_;
  std::optional<uint32_t> outermost_end_;
  int depth_ = 0;
};

}  // namespace

void AddHostEvents(const HtaTable& table, HtaGraph& graph) {
  std::map<std::pair<int64_t, int64_t>, std::vector<const HtaRow*>> threads;
  for (const size_t i : table.clipped) {
    const HtaRow& row = table.rows[i];
    threads[{row.pid, row.tid}].push_back(&row);
  }
  for (auto& [id, rows] : threads) {
    // Lines with device work are not threads.
    if (std::all_of(rows.begin(), rows.end(), [](const HtaRow* row) { return row->stream < 0; })) {
      ThreadWalk(std::move(rows), graph).Run();
    }
  }
}

namespace {

// A launch with the work it started.
struct Launch {
  const HtaRow* call = nullptr;
  const HtaRow* work = nullptr;
};

class DeviceBuilder {
 public:
  DeviceBuilder(const HtaTable& table, HtaGraph& graph) : table_(table), graph_(graph) {}

  std::string Run() {
    FindLaunches();
    if (launches_.empty()) {
      return "it has no launch that HTA knows, at which the reference ends with an error";
    }
    CountQueues();
    FindRecords();
    for (const HtaRow* row : RowsInOrder()) {
      const bool is_good = row->category == "cuda_sync" ? AddWait(*row) : AddWork(*row);
      if (!is_good) {
        return "a wait or kernel of the first step belongs to a call outside of it, at which the "
               "reference ends with an error";
      }
    }
    return {};
  }

 private:
  using Line = std::pair<int64_t, int64_t>;                // GPU, stream
  using CallLine = std::tuple<int64_t, int64_t, int64_t>;  // process, thread, stream

  // ---- Tables ----

  void FindLaunches() {
    for (const HtaRow& row : table_.rows) {
      const HtaRow* const work = IsHtaLaunch(row) ? table_.Find(row.partner) : nullptr;
      if (work != nullptr) {
        launches_.push_back({&row, work});
      }
    }
    std::stable_sort(launches_.begin(), launches_.end(), [](const Launch& a, const Launch& b) {
      return a.call->begin < b.call->begin;
    });
    for (const Launch& launch : launches_) {
      by_stream_[{launch.work->pid, launch.work->stream}].push_back(launch);
      by_thread_[{launch.call->pid, launch.call->tid, launch.work->stream}].push_back(launch);
    }
  }

  // Counts the launches of a stream that were pending, itself included, as each call or work began.
  void CountQueues() {
    struct Change {
      const HtaRow* row = nullptr;
      int64_t stream = 0;
      int64_t by = 0;
    };
    std::vector<Change> changes;
    changes.reserve(launches_.size() * 2);
    for (const Launch& launch : launches_) {
      changes.push_back({launch.call, launch.work->stream, 1});
      changes.push_back({launch.work, launch.work->stream, -1});
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.row->begin < b.row->begin; });
    HashMap<int64_t, int64_t> length;
    for (const Change& change : changes) {
      queue_[change.row->event] = length[change.stream] += change.by;
    }
  }

  // Finds the work before each recorded event for which something waits.
  void FindRecords() {
    HashMap<int64_t, Line> waited_for;  // by correlation of the recording call
    for (const HtaRow& row : table_.rows) {
      if (row.category == "cuda_sync" && row.wait_on_stream > kNone) {
        waited_for[row.wait_on_record_correlation] = {row.pid, row.wait_on_stream};
      }
    }
    for (const HtaRow& row : table_.rows) {
      const auto line =
          row.name == "cudaEventRecord" ? waited_for.find(row.correlation) : waited_for.end();
      if (line == waited_for.end()) {
        continue;
      }
      const std::vector<Launch>& launches = by_stream_[line->second];
      const auto end = std::partition_point(
          launches.begin(), launches.end(),
          [&](const Launch& launch) { return launch.call->begin < row.begin; });
      if (end != launches.begin()) {
        work_before_[row.correlation] = std::prev(end)->work;
      }
    }
  }

  // The first work that the thread gave to the stream after the call.
  const HtaRow* NextWork(const HtaRow& call, int64_t stream) const {
    const auto found = by_thread_.find({call.pid, call.tid, stream});
    if (found == by_thread_.end()) {
      return nullptr;
    }
    const auto next =
        std::partition_point(found->second.begin(), found->second.end(),
                             [&](const Launch& launch) { return launch.call->begin < call.begin; });
    return next == found->second.end() ? nullptr : next->work;
  }

  const HtaRow* WorkBefore(const HtaRow& wait) const {
    const auto found = work_before_.find(wait.wait_on_record_correlation);
    return found == work_before_.end() ? nullptr : found->second;
  }

  // Sorted by begin; waits by their end.
  std::vector<const HtaRow*> RowsInOrder() const {
    std::vector<const HtaRow*> rows;
    for (const size_t i : table_.clipped) {
      const HtaRow& row = table_.rows[i];
      if ((row.stream != kNone || WaitsWithoutStream(row)) && row.partner >= 0) {
        rows.push_back(&row);
      }
    }
    const auto key = [](const HtaRow* row) {
      return row->category == "cuda_sync" ? row->end() : row->begin;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const HtaRow* a, const HtaRow* b) { return key(a) < key(b); });
    return rows;
  }

  // ---- Edges ----

  bool AddWait(const HtaRow& row) {
    if (row.name == "Stream Wait Event") {
      const HtaRow* const call = table_.Find(row.partner);
      const HtaRow* const next = call == nullptr ? nullptr : NextWork(*call, row.stream);
      const HtaRow* const before = WorkBefore(row);
      if (next != nullptr && before != nullptr) {
        source_of_[next->event] = before->event;
      }
      return true;
    }
    if (row.name == "Event Sync") {
      const HtaRow* const before = WorkBefore(row);
      const HtaGraph::Ends* const source = before == nullptr ? nullptr : graph_.Find(before->event);
      return source == nullptr || AddHostWait(source->end, row);
    }
    if (row.name == "Context Sync") {
      return std::all_of(last_.begin(), last_.end(),
                         [&](const auto& entry) { return AddHostWait(entry.second, row); });
    }
    const auto last = std::find_if(last_.begin(), last_.end(),
                                   [&](const auto& entry) { return entry.first == row.stream; });
    return row.name != "Stream Sync" || last == last_.end() || AddHostWait(last->second, row);
  }

  bool AddHostWait(uint32_t source, const HtaRow& row) {
    const HtaGraph::Ends* const call = graph_.Find(row.partner);
    if (call != nullptr) {
      graph_.AddSync(source, call->end);
    }
    return call != nullptr;
  }

  bool AddWork(const HtaRow& row) {
    const HtaGraph::Ends own = graph_.AddEvent(row.event, row.begin, row.end());
    graph_.AddSpan(own.begin, own.end);
    const auto scheduled = source_of_.find(row.event);
    const HtaGraph::Ends* const source =
        scheduled == source_of_.end() ? nullptr : graph_.Find(scheduled->second);
    std::optional<int64_t> source_end;
    if (source != nullptr) {
      graph_.AddSync(source->end, own.begin);
      source_end = graph_.node(source->end).time;
    }
    const bool is_good = AddDelay(row, own.begin, source_end);
    SetLast(row.stream, own.end);
    return is_good;
  }

  // Adds what the work waited for, if not for another stream: its launch, or the work before it.
  bool AddDelay(const HtaRow& row, uint32_t begin, std::optional<int64_t> source_end) {
    const auto last = std::find_if(last_.begin(), last_.end(),
                                   [&](const auto& entry) { return entry.first == row.stream; });
    const auto last_end =
        last == last_.end() ? std::optional<int64_t>() : graph_.node(last->second).time;
    const HtaRow* const call = table_.Find(row.partner);
    const auto is_before = [](std::optional<int64_t> time, int64_t limit) {
      return !time.has_value() || *time < limit;
    };
    if (call != nullptr && QueueAt(call->event) == 1 && QueueAt(row.event) == 0 &&
        is_before(last_end, call->begin) && is_before(source_end, call->begin)) {
      const HtaGraph::Ends* const launch = graph_.Find(call->event);
      if (launch != nullptr) {
        graph_.AddSpan(launch->begin, begin);
      }
      return launch != nullptr;
    }
    if (last_end.has_value() && is_before(source_end, *last_end)) {
      graph_.AddSpan(last->second, begin);
    }
    return true;
  }

  int64_t QueueAt(uint32_t event) const {
    const auto found = queue_.find(event);
    return found == queue_.end() ? kNone : found->second;
  }

  void SetLast(int64_t stream, uint32_t node) {
    const auto last = std::find_if(last_.begin(), last_.end(),
                                   [&](const auto& entry) { return entry.first == stream; });
    if (last == last_.end()) {
      last_.emplace_back(stream, node);
    } else {
      last->second = node;
    }
  }

  const HtaTable& table_;
  HtaGraph& graph_;
  std::vector<Launch> launches_;  // by begin
  std::map<Line, std::vector<Launch>> by_stream_;
  std::map<CallLine, std::vector<Launch>> by_thread_;
  HashMap<uint32_t, int64_t> queue_;                // by event
  HashMap<int64_t, const HtaRow*> work_before_;     // by correlation of the record
  HashMap<uint32_t, uint32_t> source_of_;           // events: work -> what it waits for
  std::vector<std::pair<int64_t, uint32_t>> last_;  // per stream as they appear: its end
};

}  // namespace

std::string AddDeviceEvents(const HtaTable& table, HtaGraph& graph) {
  return DeviceBuilder(table, graph).Run();
}

namespace {

// Waits between work of one stream are not waits; HTA rejects a graph with such waits.
bool HasWaitInStream(const HtaTable& table, const HtaGraph& graph) {
  return std::any_of(graph.edges().begin(), graph.edges().end(), [&](const HtaEdge& edge) {
    const HtaRow* const from = table.Find(graph.node(edge.from).event);
    const HtaRow* const to = table.Find(graph.node(edge.to).event);
    return edge.is_sync && from->stream == to->stream && from->stream != kNone;
  });
}

void Extract(const DeviceTrace& trace, const HtaGraph& graph, const std::vector<HtaEdge>& path,
             SyncDeps& deps) {
  for (const HtaEdge& edge : path) {
    const std::optional<int64_t> from = trace.events[graph.node(edge.from).event].external_id_given;
    const std::optional<int64_t> to = trace.events[graph.node(edge.to).event].external_id_given;
    if (edge.is_sync && from.has_value() && to.has_value() && *from != *to) {
      deps.by_waiting[*to].push_back(*from);
    }
  }
}

}  // namespace

SyncDeps FindSyncDeps(const DeviceTrace& trace) {
  SyncDeps deps;
  if (std::none_of(trace.events.begin(), trace.events.end(),
                   [](const DeviceEvent& event) { return event.category == "cuda_sync"; })) {
    return deps;  // no wait can be on any path
  }
  const HtaTable table = BuildHtaTable(trace);
  deps.failure = table.failure;
  if (!deps.failure.empty()) {
    return deps;
  }
  HtaGraph graph;
  AddHostEvents(table, graph);
  deps.failure = AddDeviceEvents(table, graph);
  if (!deps.failure.empty()) {
    return deps;
  }
  std::vector<HtaEdge> path;
  if (HasWaitInStream(table, graph) || !graph.LongestPath(path)) {
    deps.failure = "the event graph of HTA is not valid, so that the reference links without waits";
    return deps;
  }
  Extract(trace, graph, path, deps);
  return deps;
}

}  // namespace borescope::internal::chakra::compat
