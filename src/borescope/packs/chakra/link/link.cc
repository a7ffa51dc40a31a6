#include "borescope/packs/chakra/link/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/index/id_map.h"
#include "borescope/index/syncs/sync_edges.h"
#include "borescope/output/json_writer.h"

namespace borescope::internal::chakra {

namespace {

// Texts of the trace as JSON, each made once.
class JsonTexts {
 public:
  JsonTexts(const Trace& trace, LinkPlan& plan)
      : trace_(trace), plan_(plan), texts_(trace.strings().size()) {}

  std::string_view Of(StringId id) {
    std::string_view& text = id.valid() ? texts_[id.value] : empty_;
    if (text.empty()) {
      std::string json;
      AppendJsonString(json, trace_.strings().Get(id));
      text = plan_.texts.emplace_back(std::move(json));
    }
    return text;
  }

  std::string_view Of(int64_t number) {
    std::string_view& text = numbers_[number];
    if (text.empty()) {
      text = plan_.texts.emplace_back(std::to_string(number));
    }
    return text;
  }

 private:
  const Trace& trace_;
  LinkPlan& plan_;
  std::vector<std::string_view> texts_;
  HashMap<int64_t, std::string_view> numbers_;
  std::string_view empty_;
};

std::string_view CategoryOf(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kMemcpy:
      return "gpu_memcpy";
    case DeviceKind::kMemset:
      return "gpu_memset";
    default:
      return "kernel";
  }
}

// The node that launched the work, or kNoRow.
uint32_t NodeOf(const TraceIndex& index, const HostMatch& match, uint32_t row) {
  for (const HostId around : {index.correlation.launch_of[row], index.correlation.op_of[row]}) {
    if (around.valid() && match.node_around[around.value] != kNoRow) {
      return match.node_around[around.value];
    }
  }
  return kNoRow;
}

std::string_view GroupOf(const Trace& trace, uint32_t row, JsonTexts& texts) {
  const uint32_t detail = trace.device().detail[row];
  if (trace.device().kind[row] != DeviceKind::kKernel || detail == kNoDetail ||
      trace.kernels().collective[detail] == kNoDetail) {
    return {};
  }
  const StringId group = trace.collectives().group[trace.kernels().collective[detail]];
  return trace.strings().Get(group).empty() ? std::string_view() : texts.Of(group);
}

LinkedDevice DeviceOf(const Trace& trace, uint32_t row, uint32_t node, JsonTexts& texts) {
  const DeviceEvents& events = trace.device();
  const TrackId track = events.track[row];
  LinkedDevice device;
  device.host = node;
  device.name = texts.Of(events.name[row]);
  device.phase = "\"X\"";
  const int64_t stream = trace.tracks().tid[track.value];
  device.stream = stream == kMissing ? "null" : texts.Of(stream);
  device.group = GroupOf(trace, row, texts);
  device.category = CategoryOf(events.kind[row]);
  const int64_t gpu = trace.tracks().pid[track.value];
  device.device = gpu == kMissing ? std::nullopt : std::optional(gpu);
  device.begin = LinkTime::Nanos(events.ts_ns[row]);
  device.duration = LinkTime::Nanos(events.dur_ns[row]);
  return device;
}

struct Placed {
  uint32_t node;
  uint32_t row;
};

// Device work that has a node, by node and then by begin. The rest is counted.
std::vector<Placed> PlaceWork(const Trace& trace, const TraceIndex& index, const HostMatch& match,
                              LinkCounts& counts) {
  const DeviceEvents& events = trace.device();
  std::vector<Placed> placed;
  placed.reserve(events.size());
  for (const uint32_t row : EachRow(events.size())) {
    if (!IsDeviceWork(events.kind[row])) {
      continue;
    }
    const uint32_t node = NodeOf(index, match, row);
    (node == kNoRow ? counts.device_orphaned : counts.device_linked) += 1;
    (node == kNoRow ? counts.orphaned_ns : counts.linked_ns) += events.dur_ns[row];
    if (node != kNoRow) {
      placed.push_back({node, row});
    }
  }
  std::stable_sort(placed.begin(), placed.end(), [&](const Placed& a, const Placed& b) {
    return a.node != b.node ? a.node < b.node : events.ts_ns[a.row] < events.ts_ns[b.row];
  });
  return placed;
}

// Waits of streams between linked work: for each device row, the rows for which it waits.
std::vector<std::pair<uint32_t, uint32_t>> StreamWaits(const SyncEdges& syncs,
                                                       const DeviceMatch& devices) {
  std::vector<std::pair<uint32_t, uint32_t>> waits;
  for (const SyncEdge& edge : syncs.edges) {
    if (edge.kind != SyncKind::kStreamWait || !edge.target.valid() || !edge.source.valid()) {
      continue;
    }
    const uint32_t waiting = devices.device_of_row[edge.target.value];
    const uint32_t source = devices.device_of_row[edge.source.value];
    if (waiting != kNoRow && source != kNoRow) {
      waits.emplace_back(waiting, source);
    }
  }
  std::sort(waits.begin(), waits.end());
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  return waits;
}

// The rows of linked work by begin; those of one stream in their order.
std::vector<uint32_t> ByBegin(const Trace& trace, const DeviceMatch& devices) {
  std::vector<uint32_t> rows = devices.row_of_device;
  std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    const int64_t x = trace.device().ts_ns[a];
    const int64_t y = trace.device().ts_ns[b];
    return x != y ? x < y : a < b;
  });
  return rows;
}

// Finds the next node of a thread by begin.
class NextNodes {
 public:
  NextNodes(const Trace& trace, const HostMatch& match) : trace_(trace), match_(match) {
    for (uint32_t row = 0; row < match.node_of_row.size(); ++row) {
      if (match.node_of_row[row] != kNoRow) {
        rows_.push_back(row);
      }
    }
  }

  // The first node of the track that begins at `time` or later; kNoRow without one.
  uint32_t At(TrackId track, int64_t time) const {
    const HostEvents& host = trace_.host();
    const auto next = std::partition_point(rows_.begin(), rows_.end(), [&](uint32_t row) {
      return host.track[row] != track ? host.track[row] < track : host.ts_ns[row] < time;
    });
    return next != rows_.end() && host.track[*next] == track ? match_.node_of_row[*next] : kNoRow;
  }

 private:
  const Trace& trace_;
  const HostMatch& match_;
  std::vector<uint32_t> rows_;  // of nodes: by track and begin, as the trace is
};

}  // namespace

DeviceMatch AddDevices(const Trace& trace, const TraceIndex& index, const HostMatch& match,
                       LinkPlan& plan) {
  DeviceMatch devices;
  devices.device_of_row.assign(trace.device().size(), kNoRow);
  JsonTexts texts(trace, plan);
  const std::vector<Placed> placed = PlaceWork(trace, index, match, plan.counts);
  plan.devices.reserve(placed.size());
  devices.row_of_device.reserve(placed.size());
  size_t at = 0;
  for (uint32_t node = 0; node < plan.hosts.size(); ++node) {
    plan.hosts[node].first_device = static_cast<uint32_t>(plan.devices.size());
    for (; at < placed.size() && placed[at].node == node; ++at) {
      const uint32_t row = placed[at].row;
      devices.device_of_row[row] = static_cast<uint32_t>(plan.devices.size());
      devices.row_of_device.push_back(row);
      plan.devices.push_back(DeviceOf(trace, row, node, texts));
    }
    plan.hosts[node].end_device = static_cast<uint32_t>(plan.devices.size());
  }
  return devices;
}

void AddDeviceDeps(const Trace& trace, const SyncEdges& syncs, const HostMatch& match,
                   DeviceMatch& devices, LinkPlan& plan) {
  const std::vector<std::pair<uint32_t, uint32_t>> waits = StreamWaits(syncs, devices);
  std::vector<uint32_t> last(trace.tracks().size(), kNoRow);  // on each stream
  devices.rank.assign(plan.devices.size(), kMissing);         // known once it was visited
  for (const uint32_t row : ByBegin(trace, devices)) {
    CheckStopAt(row);
    const uint32_t own = devices.device_of_row[row];
    LinkedDevice& device = plan.devices[own];
    int64_t rank = std::max(trace.device().ts_ns[row], match.rank_of_node[device.host]);
    device.first_dep = static_cast<uint32_t>(plan.device_deps.size());
    const auto add = [&](uint32_t other, uint64_t& count) {
      rank = std::max(rank, devices.rank[other]);
      plan.device_deps.push_back(plan.IdOfDevice(other));
      ++count;
    };
    uint32_t& before = last[trace.device().track[row].value];
    if (before != kNoRow) {
      add(before, plan.counts.stream_order);
    }
    auto wait = std::lower_bound(waits.begin(), waits.end(), std::pair(own, uint32_t{0}));
    for (; wait != waits.end() && wait->first == own; ++wait) {
      if (wait->second != before && devices.rank[wait->second] != kMissing) {
        add(wait->second, plan.counts.stream_waits);
      }
    }
    before = own;
    device.end_dep = static_cast<uint32_t>(plan.device_deps.size());
    devices.rank[own] = rank;
  }
}

void AddSyncs(const Trace& trace, const SyncEdges& syncs, const HostMatch& match,
              const DeviceMatch& devices, LinkPlan& plan) {
  const NextNodes next(trace, match);
  for (const SyncEdge& edge : syncs.edges) {
    if (edge.kind == SyncKind::kStreamWait || !edge.call.valid() || !edge.source.valid()) {
      continue;
    }
    if (edge.kind == SyncKind::kEventQuery) {
      plan.counts.sync_queries += 1;
      continue;
    }
    (edge.inferred ? plan.counts.sync_inferred : plan.counts.sync_found) += 1;
    const uint32_t source = devices.device_of_row[edge.source.value];
    const uint32_t node =
        next.At(trace.host().track[edge.call.value], trace.host().end_ns(edge.call));
    if (source == kNoRow || node == kNoRow || devices.rank[source] >= match.rank_of_node[node]) {
      continue;
    }
    plan.syncs.push_back({plan.IdOf(node), plan.IdOfDevice(source)});
    plan.counts.sync_attached += 1;
  }
  const auto key = [](const LinkedSync& sync) { return std::pair(sync.waits, sync.on); };
  std::sort(plan.syncs.begin(), plan.syncs.end(),
            [&](const LinkedSync& a, const LinkedSync& b) { return key(a) < key(b); });
  plan.syncs.erase(
      std::unique(plan.syncs.begin(), plan.syncs.end(),
                  [&](const LinkedSync& a, const LinkedSync& b) { return key(a) == key(b); }),
      plan.syncs.end());
}

namespace {

constexpr int64_t kIdleNs = 1'000'000;

// Rows of operators and annotations by their number in the column `numbers` of Ops.
template <class Number>
IdMap64 MapRowsBy(const ColumnData<Number>& numbers, const Trace& trace, LinkCounts& counts) {
  const HostEvents& host = trace.host();
  IdMap64 rows(trace.ops().size());
  for (const uint32_t row : EachRow(host.size())) {
    const bool is_op = host.kind[row] == HostKind::kOp || host.kind[row] == HostKind::kAnnotation;
    const int64_t id =
        is_op && host.detail[row] != kNoDetail ? int64_t{numbers[host.detail[row]]} : kMissing;
    if (id == kMissing || id <= 0) {
      continue;
    }
    uint32_t& place = rows[id];
    if (place == IdMap64::kNone) {
      place = row;
    } else {
      counts.duplicates += 1;
    }
  }
  return rows;
}

// Profilers that do not record record functions number operators in the same way for the External
// id.
IdMap64 MapRows(const Trace& trace, LinkCounts& counts) {
  const auto& record_functions = trace.ops().record_function_id;
  counts.by_external_id = std::none_of(record_functions.begin(), record_functions.end(),
                                       [](int64_t id) { return id != kMissing && id > 0; });
  return counts.by_external_id ? MapRowsBy(trace.ops().external_id, trace, counts)
                               : MapRowsBy(record_functions, trace, counts);
}

// Names with escapes are not compared.
bool HasOtherName(const Trace& trace, uint32_t row, const HostNode& node) {
  return trace.strings().Get(trace.host().name[row]) != node.name &&
         node.name.find('\\') == std::string_view::npos;
}

void SetAround(const CallTree& tree, HostMatch& match) {
  match.node_around = match.node_of_row;
  for (size_t row = 0; row < match.node_around.size(); ++row) {  // parents come first
    const HostId parent = tree.parent[row];
    if (match.node_around[row] == kNoRow && parent.valid()) {
      match.node_around[row] = match.node_around[parent.value];
    }
  }
}

void SetRanks(const Trace& trace, HostMatch& match) {
  std::vector<int64_t> reached(trace.tracks().size(), kMissing);
  match.rank_of_node.assign(match.row_of_node.size(), kMissing);
  for (size_t node = 0; node < match.row_of_node.size(); ++node) {
    const uint32_t row = match.row_of_node[node];
    if (row != kNoRow) {
      int64_t& own = reached[trace.host().track[row].value];
      own = std::max(own, trace.host().ts_ns[row]);
      match.rank_of_node[node] = own;
    }
  }
}

// Finds the node of another thread that began last before a time.
class OtherThreads {
 public:
  OtherThreads(const Trace& trace, const HostMatch& match) : host_(trace.host()) {
    for (uint32_t row = 0; row < match.node_of_row.size(); ++row) {
      if (match.node_of_row[row] != kNoRow) {
        rows_.push_back(row);
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&](uint32_t a, uint32_t b) { return host_.ts_ns[a] < host_.ts_ns[b]; });
    foreign_.assign(rows_.size(), kNoRow);
    for (uint32_t i = 1; i < rows_.size(); ++i) {
      const bool is_same = host_.track[rows_[i]] == host_.track[rows_[i - 1]];
      foreign_[i] = is_same ? foreign_[i - 1] : i - 1;
    }
  }

  // Its row, or kNoRow.
  uint32_t LastBefore(int64_t time, TrackId track) const {
    const auto end = std::partition_point(rows_.begin(), rows_.end(),
                                          [&](uint32_t row) { return host_.ts_ns[row] < time; });
    if (end == rows_.begin()) {
      return kNoRow;
    }
    auto at = static_cast<uint32_t>(end - rows_.begin() - 1);
    at = host_.track[rows_[at]] == track ? foreign_[at] : at;
    return at == kNoRow ? kNoRow : rows_[at];
  }

 private:
  const HostEvents& host_;
  std::vector<uint32_t> rows_;     // of nodes, by begin
  std::vector<uint32_t> foreign_;  // the last place before this one that is of another thread
};

// Finds how long nothing began or ended on a thread.
class IdleTimes {
 public:
  // The idle time before an event begins. REQUIRES: events come in the order of a track.
  int64_t Before(int64_t begin, int64_t end) {
    while (!open_.empty() && open_.back() <= begin) {
      last_ = std::max(last_, open_.back());
      open_.pop_back();
    }
    const int64_t idle = last_ == kMissing ? 0 : begin - last_;
    last_ = std::max(last_, begin);
    open_.push_back(end);
    return idle;
  }

 private:
  std::vector<int64_t> open_;  // ends of the events that are under way
  int64_t last_ = kMissing;
};

}  // namespace

HostMatch MatchHosts(const HostTrace& host, const Trace& trace, const CallTree& tree,
                     LinkCounts& counts) {
  const IdMap64 rows = MapRows(trace, counts);
  HostMatch match;
  match.row_of_node.assign(host.nodes.size(), kNoRow);
  match.node_of_row.assign(trace.host().size(), kNoRow);
  for (const uint32_t node : EachRow(host.nodes.size())) {
    const int64_t id = host.nodes[node].rf_id.value_or(0);
    const uint32_t row = id > 0 ? rows.Get(id) : IdMap64::kNone;
    if (row == IdMap64::kNone) {
      continue;
    }
    if (match.node_of_row[row] != kNoRow) {
      counts.duplicates += 1;
      continue;
    }
    const bool has_other_name = HasOtherName(trace, row, host.nodes[node]);
    counts.renamed += has_other_name ? 1 : 0;
    if (has_other_name && counts.by_external_id) {
      continue;  // equal numbers by chance
    }
    match.row_of_node[node] = row;
    match.node_of_row[row] = node;
  }
  SetAround(tree, match);
  SetRanks(trace, match);
  return match;
}

void SetHostTimes(const Trace& trace, const CallTree& tree, const HostMatch& match,
                  LinkPlan& plan) {
  const HostEvents& host = trace.host();
  std::vector<int64_t> inside(host.size(), 0);  // time of the nodes inside a row
  for (auto row = static_cast<uint32_t>(host.size()); row-- > 0;) {
    CheckStopAt(row);
    const uint32_t node = match.node_of_row[row];
    const HostId parent = tree.parent[row];
    if (node != kNoRow) {
      LinkedHost& linked = plan.hosts[node];
      linked.is_matched = true;
      linked.begin = LinkTime::Nanos(host.ts_ns[row]);
      linked.inclusive = LinkTime::Nanos(host.dur_ns[row]);
      linked.exclusive = LinkTime::Nanos(std::max<int64_t>(host.dur_ns[row] - inside[row], 0));
    }
    if (parent.valid()) {
      inside[parent.value] += node != kNoRow ? host.dur_ns[row] : inside[row];
    }
  }
}

std::vector<uint32_t> FindThreadWaits(const Trace& trace, const HostMatch& match) {
  const HostEvents& host = trace.host();
  const OtherThreads others(trace, match);
  std::vector<uint32_t> waits(match.row_of_node.size(), kNoRow);
  IdleTimes idle;
  TrackId track;
  bool was_idle = true;
  for (uint32_t row = 0; row < host.size(); ++row) {
    if (host.track[row] != track) {
      track = host.track[row];
      was_idle = true;
      idle = {};
    }
    if (host.kind[row] == HostKind::kPython) {
      continue;
    }
    was_idle |= idle.Before(host.ts_ns[row], host.end_ns({row})) > kIdleNs;
    const uint32_t node = match.node_of_row[row];
    if (node == kNoRow || !was_idle) {
      continue;
    }
    was_idle = false;
    const uint32_t other = others.LastBefore(host.ts_ns[row], track);
    const uint32_t source = other == kNoRow ? kNoRow : match.node_of_row[other];
    const bool is_forward =
        source != kNoRow && match.rank_of_node[source] < match.rank_of_node[node];
    waits[node] = is_forward ? source : kNoRow;
  }
  return waits;
}

Result<void> CheckLinked(const LinkCounts& counts) {
  const uint64_t by_number = counts.host_matched - counts.by_zero;
  if (by_number == 0) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("none of the {} nodes of the host trace is in the device trace, by "
                             "the \"Record function id\" of its operators",
                             counts.host_nodes),
                 "record both at once: "
                 "torch.profiler.profile(execution_trace_observer=ExecutionTraceObserver()."
                 "register_callback(FILE))"};
  }
  // By record function, pairs with different names are among the matched; by External id they are
  // not.
  const uint64_t compared = by_number + (counts.by_external_id ? counts.renamed : 0);
  if (counts.renamed * 2 >= compared) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("{} of {} operators have another name in the host trace: the two were "
                             "not recorded at the same time, or by different processes",
                             counts.renamed, compared)};
  }
  if (counts.device_linked == 0 && counts.device_orphaned != 0) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("none of {} kernels and copies of the device trace was launched in an "
                             "operator of the host trace",
                             counts.device_orphaned),
                 "are both of one process?"};
  }
  return {};
}

namespace {

// Needs the ids, which are known when all device work has its place.
void SetThreadDeps(const std::vector<uint32_t>& waits, LinkPlan& plan) {
  for (uint32_t node = 0; node < waits.size(); ++node) {
    if (waits[node] != kNoRow) {
      plan.hosts[node].inter_thread_dep = plan.IdOf(waits[node]);
      plan.counts.thread_deps += 1;
    }
  }
}

void CountHosts(LinkPlan& plan) {
  plan.counts.host_nodes = plan.hosts.size();
  for (const LinkedHost& host : plan.hosts) {
    plan.counts.host_matched += host.is_matched ? 1 : 0;
  }
}

}  // namespace

Result<LinkPlan> LinkTrace(const HostTrace& host, const Trace& trace, const TraceIndex& index) {
  LinkPlan plan;
  plan.hosts.resize(host.nodes.size());
  const HostMatch match = MatchHosts(host, trace, index.tree, plan.counts);
  SetHostTimes(trace, index.tree, match, plan);
  CountHosts(plan);
  DeviceMatch devices = AddDevices(trace, index, match, plan);
  BS_TRY(CheckLinked(plan.counts));
  SetThreadDeps(FindThreadWaits(trace, match), plan);
  const SyncEdges syncs = FindSyncEdges(trace, index.correlation);
  plan.counts.has_sync_records = syncs.has_records;
  AddDeviceDeps(trace, syncs, match, devices, plan);
  AddSyncs(trace, syncs, match, devices, plan);
  return plan;
}

}  // namespace borescope::internal::chakra
