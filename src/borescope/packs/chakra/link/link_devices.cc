#include "borescope/packs/chakra/link/link_devices.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
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

// Device work with a node, by node and then by begin. The rest is counted.
std::vector<Placed> PlaceWork(const Trace& trace, const TraceIndex& index, const HostMatch& match,
                              LinkCounts& counts) {
  const DeviceEvents& events = trace.device();
  std::vector<Placed> placed;
  placed.reserve(events.size());
  for (uint32_t row = 0; row < events.size(); ++row) {
    CheckStopAt(row);
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

// Waits of streams between linked work: for each device the ones it waits for.
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

// The rows of linked work by begin, those of one stream in their order.
std::vector<uint32_t> ByBegin(const Trace& trace, const DeviceMatch& devices) {
  std::vector<uint32_t> rows = devices.row_of_device;
  std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    const int64_t x = trace.device().ts_ns[a];
    const int64_t y = trace.device().ts_ns[b];
    return x != y ? x < y : a < b;
  });
  return rows;
}

// Of the thread of every node, the nodes by begin.
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
  devices.rank.assign(plan.devices.size(), kMissing);         // known once it is passed
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

}  // namespace borescope::internal::chakra
