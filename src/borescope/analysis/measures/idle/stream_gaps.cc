#include "borescope/analysis/measures/idle/stream_gaps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

size_t RowsOf(const Tracks& all, std::span<const uint32_t> tracks) {
  return std::accumulate(tracks.begin(), tracks.end(), size_t{0}, [&](size_t sum, uint32_t track) {
    return sum + all.end_row[track] - all.first_row[track];
  });
}

// Whether none of these threads launched the work, as far as is known.
bool IsOfOthers(const RankView& view, uint32_t row, std::span<const uint32_t> threads) {
  const HostId launch = view.index.correlation.launch_of[row];
  return !launch.valid() || !IsAmong(threads, view.trace.host().track[launch.value]);
}

// The rows of the work of a stream, by start. Each process has a track of its own for a shared
// stream.
std::vector<uint32_t> WorkRows(const RankView& view, std::span<const uint32_t> tracks,
                               std::span<const uint32_t> left_out) {
  const Trace& trace = view.trace;
  const DeviceEvents& device = trace.device();
  std::vector<uint32_t> rows;
  rows.reserve(RowsOf(trace.tracks(), tracks));
  for (const uint32_t track : tracks) {
    for (const uint32_t row :
         EachRow(trace.tracks().first_row[track], trace.tracks().end_row[track])) {
      if (IsDeviceWork(device.kind[row]) && IsOfOthers(view, row, left_out)) {
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

StreamGap DividedGap(const HostEvents& host, Interval time, HostId launch, int64_t kernel_wait_ns) {
  StreamGap gap{time, time.begin, WaitCause::kUnlinked, launch, {}, {}};
  if (launch.valid()) {
    gap.launched_ns = std::clamp(host.ts_ns[launch.value], time.begin, time.end);
    gap.rest =
        time.end - gap.launched_ns < kernel_wait_ns ? WaitCause::kKernelWait : WaitCause::kOther;
  }
  return gap;
}

// The earlier of two calls: by begin, then by end.
HostId Earlier(const HostEvents& host, HostId known, HostId other) {
  if (!known.valid() || !other.valid()) {
    return known.valid() ? known : other;
  }
  const auto key = [&](HostId call) {
    return std::pair(host.ts_ns[call.value], host.dur_ns[call.value]);
  };
  return key(other) < key(known) ? other : known;
}

// The length of the intersection of `a` and `b`.
int64_t Shared(Interval a, Interval b) {
  return std::max<int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

// How much of a gap is in the windows: before the launch, and after it.
struct Divided {
  int64_t late_ns = 0;
  int64_t rest_ns = 0;

  int64_t all_ns() const { return late_ns + rest_ns; }
  void Add(const StreamGap& gap, Interval window) {
    late_ns += Shared({gap.time.begin, gap.launched_ns}, window);
    rest_ns += Shared({gap.launched_ns, gap.time.end}, window);
  }
};

// Calls `use(gap, divided)` for every gap with time in the windows.
template <class Use>
void ForEachGapIn(const StreamGaps& stream, const IntervalSet& windows, const Use& use) {
  const StreamGap* open = nullptr;  // may continue in the next window
  Divided divided;
  for (const Interval& window : windows) {
    auto gap = std::partition_point(stream.gaps.begin(), stream.gaps.end(),
                                    [&](const auto& g) { return g.time.end <= window.begin; });
    for (; gap != stream.gaps.end() && gap->time.begin < window.end; ++gap) {
      CheckStopAt(static_cast<size_t>(gap - stream.gaps.begin()));
      if (open != &*gap && open != nullptr) {
        use(*open, divided);
        divided = {};
      }
      open = &*gap;
      divided.Add(*gap, window);
    }
  }
  if (open != nullptr) {
    use(*open, divided);
  }
}

}  // namespace

bool IsAmong(std::span<const uint32_t> threads, TrackId thread) {
  return std::binary_search(threads.begin(), threads.end(), thread.value);
}

std::string_view WaitCauseName(WaitCause cause) {
  constexpr std::string_view kNames[] = {"host_wait", "kernel_wait", "other", "unlinked"};
  return kNames[static_cast<size_t>(cause)];
}

StreamGaps FindStreamGaps(const RankView& view, std::span<const uint32_t> tracks,
                          int64_t kernel_wait_ns, std::span<const uint32_t> left_out) {
  const DeviceEvents& device = view.trace.device();
  const std::vector<uint32_t> works = WorkRows(view, tracks, left_out);
  StreamGaps stream;
  stream.gaps.reserve(works.size());
  DeviceId last;  // the work that ends at last_ns
  for (size_t i = 0; i < works.size();) {
    const Interval gap{stream.last_ns, device.ts_ns[works[i]]};
    const DeviceId before = last;
    const DeviceId after{works[i]};
    HostId launch;
    for (; i < works.size() && device.ts_ns[works[i]] == gap.end; ++i) {
      CheckStopAt(i);
      launch = Earlier(view.trace.host(), launch, view.index.correlation.launch_of[works[i]]);
      const DeviceId work{works[i]};
      if (const int64_t end_ns = device.end_ns(work); end_ns > stream.last_ns) {
        stream.last_ns = end_ns;
        last = work;
      }
    }
    if (gap.begin == kMissing) {
      stream.first_ns = gap.end;
      stream.first_launch = launch;
    } else if (gap.begin < gap.end) {
      StreamGap& found =
          stream.gaps.emplace_back(DividedGap(view.trace.host(), gap, launch, kernel_wait_ns));
      found.before = before;
      found.after = after;
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
  ForEachGapIn(stream, windows, [&](const StreamGap& gap, const Divided& divided) {
    sums.by_cause[static_cast<size_t>(WaitCause::kHostWait)] += divided.late_ns;
    sums.by_cause[static_cast<size_t>(gap.rest)] += divided.rest_ns;
    ++sums.gaps;
  });
  return sums;
}

std::vector<GapPart> GapsIn(const StreamGaps& stream, const IntervalSet& windows) {
  std::vector<GapPart> parts;
  ForEachGapIn(stream, windows, [&](const StreamGap& gap, const Divided& divided) {
    parts.push_back({&gap, divided.all_ns()});
  });
  return parts;
}

std::array<std::vector<int64_t>, kWaitCauses> WaitLengths(const StreamGaps& stream,
                                                          const IntervalSet& windows) {
  std::array<std::vector<int64_t>, kWaitCauses> lengths;
  const auto add = [&](WaitCause cause, int64_t ns) {
    if (ns > 0) {
      lengths[static_cast<size_t>(cause)].push_back(ns);
    }
  };
  ForEachGapIn(stream, windows, [&](const StreamGap& gap, const Divided& divided) {
    add(WaitCause::kHostWait, divided.late_ns);
    add(gap.rest, divided.rest_ns);
  });
  return lengths;
}

namespace {

void AddPart(Interval time, IdleCause cause, std::vector<IdlePart>& parts) {
  if (time.begin < time.end) {
    parts.push_back({time, cause});
  }
}

// The first interval of a set that contains `ts_ns` or ends up to kClockDoubtNs before it, as a
// wait ends when the device's work does; empty if there is none.
Interval PartAt(const IntervalSet& set, int64_t ts_ns) {
  const int64_t earliest_ns = SubtractSaturating(ts_ns, kClockDoubtNs);
  const auto next =
      std::partition_point(set.begin(), set.end(),
                           [earliest_ns](const Interval& part) { return part.end < earliest_ns; });
  return next != set.end() && next->begin <= ts_ns ? *next : Interval{ts_ns, ts_ns};
}

// For how long the host had been blocked when `late` ended, if it was when `late` began.
int64_t BlockedBefore(Interval late, const HostTime& host) {
  const Interval call = PartAt(host.blocked, late.begin);
  return call.length() == 0 ? 0 : Coverage(Clip(host.blocked, {call.begin, late.end}));
}

// Until when `late` is due to the host having been blocked when it began.
int64_t EndOfSync(Interval late, const HostTime& host) {
  const int64_t blocked_ns = BlockedBefore(late, host);
  return blocked_ns >= late.length() ? late.end : late.begin + blocked_ns;
}

bool IsOfDataLoading(Interval late, const HostTime& host) {
  const int64_t loading_ns = Coverage(Clip(host.loading, late));
  return loading_ns >= late.length() - loading_ns;
}

// Adds the time after a launch. `held`: the cause if the work begins later than usual and the
// device seems idle all that time.
void AddRest(Interval rest, LaunchTime launch, IdleCause held, std::vector<IdlePart>& parts) {
  const int64_t ready_ns = ReadyTime(launch);
  const int64_t call_end_ns = std::clamp(ready_ns, rest.begin, rest.end);
  const Interval wait{call_end_ns, rest.end};
  const IdleCause cause = rest.end - ready_ns < kOrdinaryLaunchNs ? IdleCause::kLatency
                          : wait.length() < kOrdinaryLaunchNs     ? IdleCause::kDevice
                                                                  : held;
  AddPart({rest.begin, call_end_ns}, IdleCause::kLaunchCall, parts);
  AddPart(wait, cause, parts);
}

// Adds the time up to a launch. `use` gets each piece of it in which no unrecorded copy may have
// run.
template <class Use>
void ForRecorded(Interval late, const HostTime& host, std::vector<IdlePart>& parts,
                 const Use& use) {
  const auto use_some = [&](Interval piece) {
    if (piece.begin < piece.end) {
      use(piece);
    }
  };
  int64_t now_ns = late.begin;
  for (const Interval& copy : Clip(host.untraced, late)) {
    use_some({now_ns, copy.begin});
    AddPart(copy, IdleCause::kUnrecorded, parts);
    now_ns = copy.end;
  }
  use_some({now_ns, late.end});
}

void AddLate(Interval late, const HostTime& host, std::vector<IdlePart>& parts) {
  const int64_t sync_end_ns = EndOfSync(late, host);
  const Interval rest{sync_end_ns, late.end};
  AddPart({late.begin, sync_end_ns}, IdleCause::kSync, parts);
  AddPart(rest, IsOfDataLoading(rest, host) ? IdleCause::kData : IdleCause::kHost, parts);
}

// Adds the time up to the launch of the first work: while the host waits for devices with work from
// before the recording, one of them works.
void AddLateHead(Interval late, const RecordingBegin& begin, const HostTime& host,
                 std::vector<IdlePart>& parts) {
  const int64_t busy_until_ns = begin.has_inherited ? begin.first_work_ns : late.begin;
  const IntervalSet blocked =
      Clip(host.blocked, {late.begin, std::clamp(busy_until_ns, late.begin, late.end)});
  int64_t now_ns = late.begin;
  const IdleCause other = IsOfDataLoading(late, host) ? IdleCause::kData : IdleCause::kHead;
  for (const Interval& wait : blocked) {
    AddPart({now_ns, wait.begin}, other, parts);
    AddPart(wait, IdleCause::kBeforeRecording, parts);
    now_ns = wait.end;
  }
  AddPart({now_ns, late.end}, other, parts);
}

}  // namespace

int64_t BlockedBeyond(Interval late, const HostTime& host) {
  const int64_t blocked_ns = late.length() == 0 ? 0 : BlockedBefore(late, host);
  return std::max<int64_t>(0, blocked_ns - late.length());
}

int64_t ReadyTime(LaunchTime launch) {
  const bool is_long_call = launch.end_ns - launch.begin_ns >= kOrdinaryLaunchNs;
  return is_long_call ? launch.end_ns : launch.begin_ns;
}

void DivideGap(Interval gap, LaunchTime launch, const HostTime& host,
               std::vector<IdlePart>& parts) {
  parts.clear();
  if (launch.begin_ns == kMissing) {
    AddPart(gap, IdleCause::kUnknown, parts);
    return;
  }
  const Interval late{gap.begin, std::clamp(launch.begin_ns, gap.begin, gap.end)};
  ForRecorded(late, host, parts, [&](Interval piece) { AddLate(piece, host, parts); });
  AddRest({late.end, gap.end}, launch, IdleCause::kUnrecorded, parts);
}

void DivideHead(Interval head, LaunchTime launch, const RecordingBegin& begin, const HostTime& host,
                std::vector<IdlePart>& parts) {
  parts.clear();
  if (launch.begin_ns == kMissing) {
    AddPart(head, begin.has_inherited ? IdleCause::kBeforeRecording : IdleCause::kHead, parts);
    return;
  }
  const Interval late{head.begin, std::clamp(launch.begin_ns, head.begin, head.end)};
  ForRecorded(late, host, parts, [&](Interval piece) { AddLateHead(piece, begin, host, parts); });
  AddRest({late.end, head.end}, launch,
          begin.has_inherited ? IdleCause::kBeforeRecording : IdleCause::kUnrecorded, parts);
}

}  // namespace borescope::internal
