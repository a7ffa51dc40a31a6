#include "borescope/analysis/stream_gaps.h"

#include <algorithm>
#include <numeric>

namespace borescope {
namespace {

// The works of a stream, by start.
class WorkRows {
 public:
  WorkRows(const Trace& trace, uint32_t track)
      : device_(trace.device()),
        row_(trace.tracks().first_row[track]),
        end_(trace.tracks().end_row[track]) {
    SkipOthers();
  }

  bool done() const { return row_ == end_; }
  uint32_t row() const { return row_; }
  void Next() {
    ++row_;
    SkipOthers();
  }

 private:
  void SkipOthers() {
    while (row_ != end_ && !IsDeviceWork(device_.kind[row_])) {
      ++row_;
    }
  }

  const DeviceEvents& device_;
  uint32_t row_;
  uint32_t end_;
};

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

StreamGaps FindStreamGaps(const RankView& view, uint32_t track, int64_t kernel_wait_ns) {
  const DeviceEvents& device = view.trace.device();
  StreamGaps stream;
  for (WorkRows works(view.trace, track); !works.done();) {
    const Interval gap{stream.last_ns, device.ts_ns[works.row()]};
    int64_t launch_ns = kMissing;
    for (; !works.done() && device.ts_ns[works.row()] == gap.end; works.Next()) {
      const HostId launch = view.index.correlation.launch_of[works.row()];
      if (launch.valid()) {
        launch_ns = Earlier(launch_ns, view.trace.host().ts_ns[launch.value]);
      }
      stream.last_ns = std::max(stream.last_ns, device.end_ns(DeviceId{works.row()}));
    }
    if (gap.begin == kMissing) {
      stream.first_ns = gap.end;
    } else if (gap.begin < gap.end) {
      stream.gaps.push_back({gap, CauseOf(gap, launch_ns, kernel_wait_ns)});
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

std::array<std::vector<int64_t>, kWaitCauses> WaitLengths(const StreamGaps& stream,
                                                          const IntervalSet& windows) {
  std::array<std::vector<int64_t>, kWaitCauses> lengths;
  ForEachGapIn(stream, windows, [&](const StreamGap& gap, int64_t ns) {
    lengths[static_cast<size_t>(gap.cause)].push_back(ns);
  });
  return lengths;
}

}  // namespace borescope
