#include "borescope/index/call_tree.h"

#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"

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
  for (uint32_t row = first_row; row < end_row; ++row) {
    CheckStopAt(row);
    tree.subtree_end[row] = row + 1;
  }
}

// Diagnostics of one track; tracks are merged in order, so the first case is always the same.
struct TrackReport {
  uint64_t not_nested = 0;
  HostId first;
};

TrackReport BuildTrack(const HostEvents& host, uint32_t first_row, uint32_t end_row,
                       CallTree& tree) {
  TrackReport report;
  std::vector<HostId> open;
  for (uint32_t row = first_row; row < end_row; ++row) {
    CheckStopAt(row);
    const HostId id{row};
    while (!open.empty() && IsOver(host, open.back(), id)) {
      tree.subtree_end[open.back().value] = row;
      open.pop_back();
    }
    if (!open.empty()) {
      tree.parent[row] = open.back();
      if (host.end_ns(id) > host.end_ns(open.back())) {
        report.first = report.not_nested++ == 0 ? id : report.first;
      }
    }
    open.push_back(id);
  }
  for (const HostId id : open) {
    tree.subtree_end[id.value] = end_row;
  }
  return report;
}

}  // namespace

bool Covers(const HostEvents& host, HostId outer, HostId inner) {
  return host.ts_ns[outer.value] <= host.ts_ns[inner.value] &&
         host.end_ns(inner) <= host.end_ns(outer);
}

CallTree BuildCallTree(const Trace& trace, int threads, Diagnostics& diagnostics) {
  const HostEvents& host = trace.host();
  const Tracks& tracks = trace.tracks();
  CallTree tree;
  tree.parent.resize(host.size());
  tree.subtree_end.resize(host.size());
  std::vector<TrackReport> reports(tracks.size());
  ParallelFor(tracks.size(), threads, [&](size_t track) {
    if (tracks.is_async[track] != 0) {
      BuildAsyncTrack(tracks.first_row[track], tracks.end_row[track], tree);
    } else if (tracks.kind[track] == TrackKind::kHost) {
      reports[track] = BuildTrack(host, tracks.first_row[track], tracks.end_row[track], tree);
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

}  // namespace borescope::internal
