#include "borescope/index/call_tree.h"

#include <algorithm>

#include "borescope/base/each_row.h"
#include "borescope/base/parallel.h"
#include "borescope/index/trace_index.h"
#include "borescope/trace/repaired_times.h"

namespace borescope::internal {

namespace {

bool IsOver(const HostEvents& host, HostId open, HostId next) {
  const int64_t end = host.end_ns(open);
  const int64_t start = host.ts_ns[next.value];
  if (end != start) {
    return end < start;
  }
  return host.dur_ns[next.value] > 0 || host.kind[open.value] > host.kind[next.value];
}

// Ranges that may overlap contain nothing.
void BuildAsyncTrack(uint32_t first_row, uint32_t end_row, CallTree& tree) {
  for (const uint32_t row : EachRow(first_row, end_row)) {
    tree.subtree_end[row] = row + 1;
  }
}

// Diagnostics of one track; tracks are merged in order, so the first case is always the same.
struct TrackReport {
  uint64_t not_nested = 0;
  HostId first;
};

// The events of one track that are open, outermost first.
class OpenEvents {
 public:
  OpenEvents(const HostEvents& host, int64_t rounding_ns, CallTree& tree)
      : host_(host), rounding_ns_(rounding_ns), tree_(tree) {}

  bool empty() const { return open_.empty(); }
  HostId innermost() const { return open_.back(); }
  bool IsOutlivedBy(HostId id) const {
    return !open_.empty() && host_.end_ns(open_.back()) < host_.end_ns(id);
  }

  void CloseBefore(HostId next) {
    while (!open_.empty() && IsOver(host_, open_.back(), next)) {
      Close(next.value);
    }
  }
  // Closes the events that do not cover `next`. Events that begin later within them are also within
  // `next`, so they have no further children.
  void CloseOutlivedBy(HostId next) {
    while (IsOutlivedBy(next) && !IsRounded(next)) {
      Close(next.value);
    }
  }
  void CloseAll(uint32_t end_row) {
    while (!open_.empty()) {
      Close(end_row);
    }
  }
  void Open(HostId id) { open_.push_back(id); }

 private:
  // Whether `next` may outlive the innermost event by rounding only.
  bool IsRounded(HostId next) const {
    const int64_t end_ns = host_.end_ns(open_.back());
    const int64_t outside_ns = host_.end_ns(next) - end_ns;
    return outside_ns <= rounding_ns_ && outside_ns < end_ns - host_.ts_ns[next.value];
  }
  void Close(uint32_t next_row) {
    tree_.subtree_end[open_.back().value] = next_row;
    open_.pop_back();
  }

  const HostEvents& host_;
  int64_t rounding_ns_;
  CallTree& tree_;
  std::vector<HostId> open_;
};

TrackReport BuildTrack(const HostEvents& host, uint32_t first_row, uint32_t end_row,
                       Nesting nesting, int64_t rounding_ns, CallTree& tree) {
  TrackReport report;
  OpenEvents open(host, rounding_ns, tree);
  for (const uint32_t row : EachRow(first_row, end_row)) {
    const HostId id{row};
    open.CloseBefore(id);
    if (open.IsOutlivedBy(id)) {
      report.first = report.not_nested++ == 0 ? id : report.first;
    }
    if (nesting == Nesting::kCovering) {
      open.CloseOutlivedBy(id);
    }
    if (!open.empty()) {
      tree.parent[row] = open.innermost();
    }
    open.Open(id);
  }
  open.CloseAll(end_row);
  return report;
}

}  // namespace

bool Covers(const HostEvents& host, HostId outer, HostId inner) {
  return host.ts_ns[outer.value] <= host.ts_ns[inner.value] &&
         host.end_ns(inner) <= host.end_ns(outer);
}

CallTree BuildCallTree(const Trace& trace, int threads, Diagnostics& diagnostics, Nesting nesting) {
  const HostEvents& host = trace.host();
  const Tracks& tracks = trace.tracks();
  CallTree tree;
  tree.parent.resize(host.size());
  tree.subtree_end.resize(host.size());
  const int64_t rounding_ns = RoundingOf(host);
  std::vector<TrackReport> reports(tracks.size());
  ParallelFor(tracks.size(), threads, [&](size_t track) {
    if (tracks.is_async[track] != 0) {
      BuildAsyncTrack(tracks.first_row[track], tracks.end_row[track], tree);
    } else if (tracks.kind[track] == TrackKind::kHost) {
      reports[track] = BuildTrack(host, tracks.first_row[track], tracks.end_row[track], nesting,
                                  rounding_ns, tree);
    }
  });
  for (const TrackReport& report : reports) {
    if (report.not_nested != 0) {
      diagnostics.CountMany(Diag::kNotNested, report.not_nested, Diagnostics::kNoByte,
                            trace.Name(report.first));
    }
  }
  return tree;
}

void AppendCaptured(const Trace& trace, CallTree& tree) {
  const ColumnData<HostId>& parents = trace.captured().parent;
  const auto first = static_cast<uint32_t>(trace.host().size());
  tree.parent.insert(tree.parent.end(), parents.begin(), parents.end());
  tree.subtree_end.resize(tree.parent.size());
  // Rows are in preorder, so backwards every subtree is complete before its parent is reached.
  for (auto row = static_cast<uint32_t>(tree.parent.size()); row-- > first;) {
    tree.subtree_end[row] = std::max(tree.subtree_end[row], row + 1);
    const HostId parent = tree.parent[row];
    if (parent.valid()) {
      uint32_t& end = tree.subtree_end[parent.value];
      end = std::max(end, tree.subtree_end[row]);
    }
  }
}

namespace {

struct Numbered {
  int64_t sequence;
  int64_t ts_ns;
  HostId row;

  friend auto operator<=>(const Numbered&, const Numbered&) = default;
};

bool IsBackward(const Ops& ops, uint32_t detail) {
  return ops.forward_thread[detail] != kMissing && ops.forward_thread[detail] > 0;
}

// The sequence number of an operator row, or kMissing.
int64_t SequenceOf(const Trace& trace, HostId row) {
  const HostEvents& host = trace.host();
  const uint32_t detail = host.detail[row.value];
  const bool has_number = detail != kNoDetail && trace.ops().sequence[detail] >= 0;
  return has_number ? int64_t{trace.ops().sequence[detail]} : kMissing;
}

}  // namespace

ColumnData<ForwardBackwardLink> LinkForwardBackward(const Trace& trace, const CallTree& tree) {
  const HostEvents& host = trace.host();
  ColumnData<Numbered> forward;
  ColumnData<Numbered> backward;
  std::vector<HostId> open;  // operators around the current row, outer first
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] != HostKind::kOp) {
      continue;
    }
    while (!open.empty() && tree.subtree_end[open.back().value] <= row) {
      open.pop_back();
    }
    const HostId around = open.empty() ? HostId{} : open.back();
    if (tree.subtree_end[row] > row + 1) {
      open.push_back({row});
    }
    const int64_t sequence = SequenceOf(trace, {row});
    if (sequence == kMissing) {
      continue;
    }
    if (!IsBackward(trace.ops(), host.detail[row])) {
      forward.push_back({sequence, host.ts_ns[row], {row}});
    } else if (!around.valid() || SequenceOf(trace, around) != sequence) {
      backward.push_back({sequence, host.ts_ns[row], {row}});
    }
  }
  std::sort(forward.begin(), forward.end());
  ColumnData<ForwardBackwardLink> links;
  for (const Numbered& call : backward) {
    const auto after = std::upper_bound(forward.begin(), forward.end(), call);
    if (after != forward.begin() && std::prev(after)->sequence == call.sequence) {
      links.push_back({call.row, std::prev(after)->row});
    }
  }
  return links;
}

}  // namespace borescope::internal
