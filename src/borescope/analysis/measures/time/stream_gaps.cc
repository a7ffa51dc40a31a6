#include "borescope/analysis/measures/time/stream_gaps.h"

#include <algorithm>
#include <numeric>

#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

size_t RowsOf(const Tracks& all, std::span<const uint32_t> tracks) {
  return std::accumulate(tracks.begin(), tracks.end(), size_t{0}, [&](size_t sum, uint32_t track) {
    return sum + all.end_row[track] - all.first_row[track];
  });
}

// The works of a stream, by start. Each process has a track of its own for a stream they share.
std::vector<uint32_t> WorkRows(const Trace& trace, std::span<const uint32_t> tracks) {
  const DeviceEvents& device = trace.device();
  std::vector<uint32_t> rows;
  rows.reserve(RowsOf(trace.tracks(), tracks));
  for (const uint32_t track : tracks) {
    for (uint32_t row = trace.tracks().first_row[track]; row < trace.tracks().end_row[track];
         ++row) {
      CheckStopAt(row);
      if (IsDeviceWork(device.kind[row])) {
        rows.push_back(row);
      }
    }
  }
  if (tracks.size() > 1) {
    SortRuns(std::span(rows),
             [&](uint32_t a, uint32_t b) { return device.ts_ns[a] < device.ts_ns[b]; });
  }
  return rows;
}

WaitCause CauseOf(Interval gap, int64_t launch_ns, int64_t kernel_wait_ns) {
  if (launch_ns == kMissing) {
    return WaitCause::kUnlinked;
  }
  if (launch_ns > gap.begin) {
    return WaitCause::kHostWait;
  }
  return gap.length() < kernel_wait_ns ? WaitCause::kKernelWait : WaitCause::kOther;
}

int64_t Earlier(int64_t known, int64_t other) {
  return known == kMissing ? other : std::min(known, other);
}

// Calls `use(gap, ns)` for every gap with `ns` > 0 of it in the windows.
template <class Use>
void ForEachGapIn(const StreamGaps& stream, const IntervalSet& windows, const Use& use) {
  const StreamGap* open = nullptr;  // may go on in the next window
  int64_t open_ns = 0;
  for (const Interval& window : windows) {
    auto gap = std::partition_point(stream.gaps.begin(), stream.gaps.end(),
                                    [&](const auto& g) { return g.time.end <= window.begin; });
    for (; gap != stream.gaps.end() && gap->time.begin < window.end; ++gap) {
      CheckStopAt(static_cast<size_t>(gap - stream.gaps.begin()));
      if (open != &*gap && open != nullptr) {
        use(*open, open_ns);
        open_ns = 0;
      }
      open = &*gap;
      open_ns += std::min(gap->time.end, window.end) - std::max(gap->time.begin, window.begin);
    }
  }
  if (open != nullptr) {
    use(*open, open_ns);
  }
}

}  // namespace

std::string_view WaitCauseName(WaitCause cause) {
  constexpr std::string_view kNames[] = {"host_wait", "kernel_wait", "other", "unlinked"};
  return kNames[static_cast<size_t>(cause)];
}

StreamGaps FindStreamGaps(const RankView& view, std::span<const uint32_t> tracks,
                          int64_t kernel_wait_ns) {
  const DeviceEvents& device = view.trace.device();
  const std::vector<uint32_t> works = WorkRows(view.trace, tracks);
  StreamGaps stream;
  stream.gaps.reserve(works.size());
  DeviceId last;  // the work that ends at last_ns
  for (size_t i = 0; i < works.size();) {
    const Interval gap{stream.last_ns, device.ts_ns[works[i]]};
    const DeviceId before = last;
    const DeviceId after{works[i]};
    int64_t launch_ns = kMissing;
    for (; i < works.size() && device.ts_ns[works[i]] == gap.end; ++i) {
      CheckStopAt(i);
      const HostId launch = view.index.correlation.launch_of[works[i]];
      if (launch.valid()) {
        launch_ns = Earlier(launch_ns, view.trace.host().ts_ns[launch.value]);
      }
      const DeviceId work{works[i]};
      if (const int64_t end_ns = device.end_ns(work); end_ns > stream.last_ns) {
        stream.last_ns = end_ns;
        last = work;
      }
    }
    if (gap.begin == kMissing) {
      stream.first_ns = gap.end;
    } else if (gap.begin < gap.end) {
      stream.gaps.push_back(
          {gap, CauseOf(gap, launch_ns, kernel_wait_ns), launch_ns, before, after});
    }
  }
  return stream;
}

int64_t WaitSums::total_ns() const {
  return std::accumulate(by_cause.begin(), by_cause.end(), head_ns + tail_ns);
}

WaitSums SumWaits(const StreamGaps& stream, const IntervalSet& windows) {
  WaitSums sums;
  if (windows.empty()) {
    return sums;
  }
  if (stream.first_ns == kMissing) {
    sums.head_ns = Coverage(windows);
    return sums;
  }
  sums.head_ns = Coverage(Clip(windows, {windows.front().begin, stream.first_ns}));
  sums.tail_ns = Coverage(Clip(windows, {stream.last_ns, windows.back().end}));
  ForEachGapIn(stream, windows, [&](const StreamGap& gap, int64_t ns) {
    sums.by_cause[static_cast<size_t>(gap.cause)] += ns;
    ++sums.gaps;
  });
  return sums;
}

std::vector<GapPart> GapsIn(const StreamGaps& stream, const IntervalSet& windows) {
  std::vector<GapPart> parts;
  ForEachGapIn(stream, windows,
               [&](const StreamGap& gap, int64_t ns) { parts.push_back({&gap, ns}); });
  return parts;
}

std::array<std::vector<int64_t>, kWaitCauses> WaitLengths(const StreamGaps& stream,
                                                          const IntervalSet& windows) {
  std::array<std::vector<int64_t>, kWaitCauses> lengths;
  ForEachGapIn(stream, windows, [&](const StreamGap& gap, int64_t ns) {
    lengths[static_cast<size_t>(gap.cause)].push_back(ns);
  });
  return lengths;
}

}  // namespace borescope::internal
