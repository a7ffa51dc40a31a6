#include "borescope/packs/chakra/link/link_hosts.h"

#include <algorithm>
#include <numeric>

#include "borescope/base/stop.h"
#include "borescope/index/id_map.h"

namespace borescope::internal::chakra {
namespace {

constexpr int64_t kIdleNs = 1'000'000;

// Rows of operators and annotations by the number that `numbers`, of Ops, gives them.
template <class Number>
IdMap64 MapRowsBy(const ColumnData<Number>& numbers, const Trace& trace, LinkCounts& counts) {
  const HostEvents& host = trace.host();
  IdMap64 rows(trace.ops().size());
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
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

// Profilers that know no record functions count operators alike for the External id.
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

// For how long nothing began or ended on a thread.
class IdleTimes {
 public:
  // Before an event begins. REQUIRES: events come in the order of a track.
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
  for (uint32_t node = 0; node < host.nodes.size(); ++node) {
    CheckStopAt(node);
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
      continue;  // counted alike by chance
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
  std::vector<int64_t> inside(host.size(), 0);  // what nodes inside a row take of it
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

}  // namespace borescope::internal::chakra
