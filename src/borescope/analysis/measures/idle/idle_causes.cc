#include "borescope/analysis/measures/idle/idle_causes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/idle/late_host.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/base/check.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

// The work of a process or thread is small if it takes less than a tenth of the busiest one's.
constexpr int64_t kSmall = 10;

// Per thread (track of the trace) that launched work on `tracks`: the time of that work.
std::map<uint32_t, int64_t> TimesByThread(const RankView& view, std::span<const uint32_t> tracks) {
  const Tracks& all = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  std::map<uint32_t, int64_t> times;
  for (const uint32_t track : tracks) {
    for (const uint32_t row : EachRow(all.first_row[track], all.end_row[track])) {
      const HostId launch = view.index.correlation.launch_of[row];
      if (IsDeviceWork(device.kind[row]) && launch.valid()) {
        AddSaturatingTo(times[view.trace.host().track[launch.value].value], device.dur_ns[row]);
      }
    }
  }
  return times;
}

using TimeOfProcess = std::map<int64_t, int64_t>;

TimeOfProcess TimesByProcess(const RankView& view, uint32_t track) {
  TimeOfProcess times;
  for (const auto& [thread, ns] : TimesByThread(view, {&track, 1})) {
    AddSaturatingTo(times[view.trace.tracks().pid[thread]], ns);
  }
  return times;
}

// The time of the busiest process or thread.
template <class Key>
int64_t LongestOf(const std::map<Key, int64_t>& times) {
  int64_t longest_ns = 0;
  for (const auto& [key, ns] : times) longest_ns = std::max(longest_ns, ns);
  return longest_ns;
}

// The large processes by number; empty if all are large.
std::vector<int64_t> LargeOnes(const TimeOfProcess& times) {
  const int64_t longest_ns = LongestOf(times);
  std::vector<int64_t> pids;
  for (const auto& [pid, ns] : times) {
    if (ns >= longest_ns / kSmall) {
      pids.push_back(pid);
    }
  }
  return pids.size() == times.size() ? std::vector<int64_t>() : pids;
}

}  // namespace

MainProcesses FindMainProcesses(const RankView& view, const std::vector<uint32_t>& tracks) {
  std::vector<TimeOfProcess> by_track;
  TimeOfProcess all;
  for (const uint32_t track : tracks) {
    by_track.push_back(TimesByProcess(view, track));
    for (const auto& [pid, ns] : by_track.back()) {
      AddSaturatingTo(all[pid], ns);
    }
  }
  MainProcesses main{LargeOnes(all), {}};
  for (size_t i = 0; i < tracks.size(); ++i) {
    const bool is_used = std::any_of(main.pids.begin(), main.pids.end(),
                                     [&](int64_t pid) { return by_track[i].count(pid) > 0; });
    if (main.pids.empty() || by_track[i].empty() || is_used) {
      main.tracks.push_back(tracks[i]);
    }
  }
  return main;
}

namespace {

// The threads that have only small work, in order.
std::vector<uint32_t> FindSmallThreads(const RankView& view, std::span<const uint32_t> tracks) {
  const std::map<uint32_t, int64_t> times = TimesByThread(view, tracks);
  const int64_t longest_ns = LongestOf(times);
  std::vector<uint32_t> small;
  for (const auto& [thread, ns] : times) {
    if (ns < longest_ns / kSmall) {
      small.push_back(thread);
    }
  }
  return small;
}

// When work of small threads ended, sorted.
std::vector<int64_t> SmallEnds(const RankView& view, std::span<const uint32_t> tracks,
                               std::span<const uint32_t> small) {
  const Tracks& all = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  std::vector<int64_t> ends;
  for (const uint32_t track : tracks) {
    for (const uint32_t row : EachRow(all.first_row[track], all.end_row[track])) {
      const HostId launch = view.index.correlation.launch_of[row];
      if (IsDeviceWork(device.kind[row]) && launch.valid() &&
          IsAmong(small, view.trace.host().track[launch.value])) {
        ends.push_back(device.end_ns(DeviceId{row}));
      }
    }
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

bool IsAfterOne(const std::vector<int64_t>& ends, Interval gap) {
  const auto next = std::upper_bound(ends.begin(), ends.end(), gap.end);
  return next != ends.begin() &&
         *std::prev(next) > std::max(gap.begin, SubtractSaturating(gap.end, kUsualDelayNs + 1));
}

}  // namespace

std::vector<MainGap> FindMainGaps(const RankView& view, std::span<const uint32_t> tracks) {
  const std::vector<uint32_t> small = FindSmallThreads(view, tracks);
  if (small.empty()) {
    return {};
  }
  const std::vector<int64_t> ends = SmallEnds(view, tracks, small);
  std::vector<MainGap> gaps;
  for (const StreamGap& gap : FindStreamGaps(view, tracks, 0, small).gaps) {
    gaps.push_back({gap, IsAfterOne(ends, gap.time)});
  }
  return gaps;
}

namespace {

constexpr size_t kLateHostPreview = 20;

using CauseTimes = std::array<int64_t, static_cast<size_t>(IdleCause::kCount)>;

// When the first work of all devices began; the end of the recording if there is none.
int64_t FirstWork(const Trace& trace) {
  const Tracks& tracks = trace.tracks();
  const DeviceEvents& device = trace.device();
  int64_t first_ns = trace.end_ns();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDevice) {
      continue;
    }
    uint32_t row = tracks.first_row[track];
    while (row < tracks.end_row[track] && !IsDeviceWork(device.kind[row])) {
      CheckStopAt(row);
      ++row;
    }
    if (row < tracks.end_row[track]) {
      first_ns = std::min(first_ns, device.ts_ns[row]);
    }
  }
  return first_ns;
}

// The times of a launch call on the clock of a device, which shows `skew_ns` less than that of the
// host.
LaunchTime TimeOfLaunch(const Trace& trace, HostId launch, int64_t skew_ns) {
  if (!launch.valid()) {
    return {};
  }
  return {SubtractSaturating(trace.host().ts_ns[launch.value], skew_ns),
          SubtractSaturating(trace.host().end_ns(launch), skew_ns)};
}

// What has to be added to the device's times to get times of the host.
int64_t SkewOf(const DeviceClocks& clocks, const std::vector<uint32_t>& tracks) {
  return tracks.empty() ? 0 : clocks.SkewOf(TrackId{tracks.front()});
}

// Calls `use` with each part of `time` within the windows.
template <class Use>
void ForPartsIn(const IntervalSet& windows, Interval time, const Use& use) {
  auto window = std::partition_point(windows.begin(), windows.end(),
                                     [&](const Interval& w) { return w.end <= time.begin; });
  for (; window != windows.end() && window->begin < time.end; ++window) {
    use(Interval{std::max(window->begin, time.begin), std::min(window->end, time.end)});
  }
}

// The length of `time` within the windows.
int64_t LengthIn(const IntervalSet& windows, Interval time) {
  int64_t ns = 0;
  ForPartsIn(windows, time, [&](Interval part) { ns += part.length(); });
  return ns;
}

// The idle time of one device by cause, and the gap with the most time of the host.
struct CauseSums {
  CauseTimes times{};
  int64_t longest_ns = 0;
  int64_t longest_sync_ns = 0;
  int64_t short_host_ns = 0;
  int64_t latency_of_sync_ns = 0;
  // Two parts of cause unrecorded, and the longest piece of each.
  int64_t late_begin_ns = 0;
  int64_t untraced_ns = 0;
  Interval longest_late_begin;
  Interval longest_untraced;
  Interval longest_gap;  // that gap up to the launch, on the clock of the device
  // Per cause: its longest piece, and the first one of equally long pieces; empty if it has none.
  std::array<Interval, static_cast<size_t>(IdleCause::kCount)> longest_of{};
  Interval longest_late;  // from the begin of that gap to the launch, on the clock of the host
  HostId longest_launch;
  Interval head_late;  // from the begin of the recording to the launch of the first work
  HostId head_launch;
  // The times of causes head and host, on the clock of the host.
  std::vector<LateTime> head;
  std::vector<LateTime> host;
  // The times of cause sync, on the clock of the host.
  std::vector<LateTime> sync;
};

// The longest time that is not within `gap`, and the first one of equally long times; empty if
// there is none. All are on one clock.
Interval LongestBeside(Interval gap, const std::vector<LateTime>& times) {
  Interval longest;
  for (const LateTime& late : times) {
    const bool is_within = gap.begin <= late.time.begin && late.time.end <= gap.end;
    longest = !is_within && late.time.length() > longest.length() ? late.time : longest;
  }
  return longest;
}

bool IsOfTheHost(IdleCause cause) { return cause == IdleCause::kSync || cause == IdleCause::kHost; }

class Causes {
 public:
  explicit Causes(const RankView& view)
      : trace_(view.trace), hosts_(view), first_ns_(FirstWork(view.trace)) {}

  // The sums for `device`, whose gaps are on its clock; times of the host are moved to that clock
  // by `skew_ns`. `of_main`: the gaps between the work of the main threads alone; empty: all
  // threads are main threads. `has_inherited`: the device has work that was launched before the
  // recording. `cut_ns`: the end of the last such work; the time of gaps before it is of cause
  // inherited. Adds every piece of idle time to `pieces`, by time.
  CauseSums SumsOf(const StreamGaps& device, const std::vector<MainGap>& of_main,
                   const IntervalSet& windows, std::span<const int64_t> pids, int64_t skew_ns,
                   bool has_inherited, int64_t cut_ns, std::vector<IdlePiece>& pieces) {
    sums_ = {};
    has_inherited_ = has_inherited;
    cut_ns_ = cut_ns;
    pieces_ = &pieces;
    main_gap_ = {};
    skew_ns_ = skew_ns;
    of_pids_ = pids.empty() ? HostTime() : hosts_.Of(pids);
    host_ = pids.empty() ? &hosts_.all() : &of_pids_;
    if (device.first_ns == kMissing) {
      for (const Interval& window : windows) {
        AddTime(IdleCause::kHead, windows, window, {});
      }
      return sums_;
    }
    AddHead(device, windows);
    auto main = of_main.begin();
    for (const GapPart& part : GapsIn(device, windows)) {
      const Interval gap = part.gap->time;
      while (main != of_main.end() && main->gap.time.end <= gap.begin) {
        ++main;
      }
      const bool is_within =
          main != of_main.end() && main->gap.time.begin <= gap.begin && main->gap.time != gap;
      is_within ? AddGapWithin(*part.gap, *main, windows) : AddGap(*part.gap, windows);
    }
    AddTime(IdleCause::kTail, windows, {device.last_ns, trace_.end_ns()}, {});
    return sums_;
  }

 private:
  // Adds time of one cause, and returns how much of it is in the windows.
  int64_t AddTime(IdleCause cause, const IntervalSet& windows, Interval time, HostId launch) {
    const int64_t ns = LengthIn(windows, time);
    sums_.times[static_cast<size_t>(cause)] += ns;
    ForPartsIn(windows, time, [&](Interval part) { pieces_->push_back({part, cause, launch}); });
    KeepLongestPart(cause, windows, time, ns);
    return ns;
  }

  void KeepLongestPart(IdleCause cause, const IntervalSet& windows, Interval time, int64_t ns) {
    KeepLongestPart(sums_.longest_of[static_cast<size_t>(cause)], windows, time, ns);
  }

  static void KeepLongestPart(Interval& longest, const IntervalSet& windows, Interval time,
                              int64_t ns) {
    if (ns > longest.length()) {
      ForPartsIn(windows, time, [&](Interval part) {
        longest = part.length() > longest.length() ? part : longest;
      });
    }
  }

  // Before the launch, unrecorded time is time in calls that copy. The rest, before the first work,
  // is added to `late_begin_ns`.
  void AddUnrecorded(Interval time, int64_t ns, int64_t launched_ns, const IntervalSet& windows,
                     int64_t* late_begin_ns) {
    if (time.end <= launched_ns) {
      sums_.untraced_ns += ns;
      KeepLongestPart(sums_.longest_untraced, windows, time, ns);
    } else if (late_begin_ns != nullptr) {
      *late_begin_ns += ns;
      KeepLongestPart(sums_.longest_late_begin, windows, time, ns);
    }
  }

  void AddHead(const StreamGaps& device, const IntervalSet& windows) {
    const LaunchTime launch = TimeOfLaunch(trace_, device.first_launch, skew_ns_);
    DivideHead(OnHost({trace_.begin_ns(), device.first_ns}),
               TimeOfLaunch(trace_, device.first_launch, 0),
               {has_inherited_, AddSaturating(first_ns_, skew_ns_)}, *host_, parts_);
    MoveToDevice(parts_);
    for (const IdlePart& part : parts_) {
      const int64_t ns = AddTime(part.cause, windows, part.time, device.first_launch);
      if (part.cause == IdleCause::kHead) {
        Keep(sums_.head, windows, part.time, device.first_launch);
      } else if (part.cause == IdleCause::kUnrecorded) {
        AddUnrecorded(part.time, ns, launch.begin_ns, windows, &sums_.late_begin_ns);
      }
    }
    sums_.head_launch = device.first_launch;
    if (device.first_launch.valid()) {
      sums_.head_late = OnHost({trace_.begin_ns(), std::min(launch.begin_ns, device.first_ns)});
    }
  }

  // All times here are on the clock of the device; the host is asked on its own clock.
  void Divide(const StreamGap& gap, std::vector<IdlePart>& parts) const {
    DivideGap(OnHost(gap.time), TimeOfLaunch(trace_, gap.launch, 0), *host_, parts);
    MoveToDevice(parts);
  }

  void MoveToDevice(std::vector<IdlePart>& parts) const {
    for (IdlePart& part : parts) {
      part.time = {SubtractSaturating(part.time.begin, skew_ns_),
                   SubtractSaturating(part.time.end, skew_ns_)};
    }
  }

  void AddGap(const StreamGap& gap, const IntervalSet& windows) {
    LateGap late = LateGapOf(gap);
    Divide(gap, parts_);
    for (const IdlePart& part : parts_) {
      AddPart(part.time, part, windows, late);
    }
    KeepLongest(late);
  }

  // A gap that small work of another thread cut out of a gap of the main threads. The next work of
  // the main threads decides its cause; but if that may have waited for the small work, only up to
  // its launch.
  void AddGapWithin(const StreamGap& gap, const MainGap& main, const IntervalSet& windows) {
    const LaunchTime launch = TimeOfLaunch(trace_, main.gap.launch, skew_ns_);
    if (main_gap_ != main.gap.time) {
      main_gap_ = main.gap.time;
      main_late_ = LateGapOf(main.gap);
      Divide(main.gap, main_parts_);
    }
    const bool may_wait = main.after_small && main.gap.launch.valid();
    const int64_t end_ns =
        may_wait ? std::clamp(ReadyTime(launch), gap.time.begin, gap.time.end) : gap.time.end;
    for (const IdlePart& part : main_parts_) {
      AddPart({std::max(part.time.begin, gap.time.begin), std::min(part.time.end, end_ns)}, part,
              windows, main_late_);
    }
    KeepLongest(main_late_);
    if (end_ns < gap.time.end) {
      StreamGap rest = gap;
      rest.time.begin = end_ns;
      AddGap(rest, windows);
    }
  }

  // A gap for which the host was late.
  struct LateGap {
    HostId launch;
    Interval time;         // from the begin of the gap to the launch
    int64_t ahead_ns = 0;  // how long before the gap it would be launched if no call had waited
    int64_t host_ns = 0;
    int64_t sync_ns = 0;
  };

  LateGap LateGapOf(const StreamGap& gap) const {
    const int64_t launched_ns = TimeOfLaunch(trace_, gap.launch, skew_ns_).begin_ns;
    const Interval late{gap.time.begin, std::clamp(launched_ns, gap.time.begin, gap.time.end)};
    return {gap.launch, late, BlockedBeyond(OnHost(late), *host_)};
  }

  // Adds a part of a gap, as far as it is in `time`, which may be empty.
  void AddPart(Interval time, const IdlePart& part, const IntervalSet& windows, LateGap& late) {
    if (time.begin < std::min(time.end, cut_ns_)) {
      const int64_t end_ns = std::min(time.end, cut_ns_);
      AddTime(IdleCause::kInherited, windows, {time.begin, end_ns}, late.launch);
      time.begin = end_ns;
    }
    if (time.begin >= time.end) {
      return;
    }
    const int64_t ns = AddTime(part.cause, windows, time, late.launch);
    if (part.cause == IdleCause::kHost) {
      Keep(sums_.host, windows, time, late.launch);
    }
    if (part.cause == IdleCause::kSync) {
      Keep(sums_.sync, windows, time, late.launch);
    }
    if (part.cause == IdleCause::kUnrecorded) {
      AddUnrecorded(time, ns, late.time.end, windows, nullptr);
    }
    if (part.cause == IdleCause::kLatency) {
      const int64_t of_sync_ns = std::min(ns, late.ahead_ns);
      sums_.latency_of_sync_ns += of_sync_ns;
      late.ahead_ns -= of_sync_ns;
    }
    late.host_ns += IsOfTheHost(part.cause) ? ns : 0;
    late.sync_ns += part.cause == IdleCause::kSync ? ns : 0;
    const bool is_short = part.time.length() < kOrdinaryLaunchNs;
    sums_.short_host_ns += part.cause == IdleCause::kHost && is_short ? ns : 0;
  }

  void KeepLongest(const LateGap& late) {
    if (late.host_ns > sums_.longest_ns) {
      sums_.longest_ns = late.host_ns;
      sums_.longest_sync_ns = late.sync_ns;
      sums_.longest_gap = late.time;
      sums_.longest_late = OnHost(late.time);
      sums_.longest_launch = late.launch;
    }
  }

  void Keep(std::vector<LateTime>& late, const IntervalSet& windows, Interval time,
            HostId launch) const {
    ForPartsIn(windows, time, [&](Interval part) { late.push_back({OnHost(part), launch}); });
  }

  Interval OnHost(Interval time) const {
    return {AddSaturating(time.begin, skew_ns_), AddSaturating(time.end, skew_ns_)};
  }

  const Trace& trace_;
  const HostTimes hosts_;
  HostTime of_pids_;
  const HostTime* host_ = nullptr;
  int64_t skew_ns_ = 0;
  bool has_inherited_ = false;
  int64_t cut_ns_ = 0;
  const int64_t first_ns_;
  CauseSums sums_;
  std::vector<IdlePart> parts_;
  Interval main_gap_;  // the current gap of the main threads
  LateGap main_late_;
  std::vector<IdlePart> main_parts_;
  std::vector<IdlePiece>* pieces_ = nullptr;
};

struct CauseColumn {
  IdleCause cause;
  std::string_view name;
  Tone tone;
  std::string_view doc;
};

constexpr CauseColumn kCauseColumns[] = {
    {IdleCause::kHead, "head_ns", Tone::kIdle, "Before the launch of the first device work."},
    {IdleCause::kTail, "tail_ns", Tone::kTail, "After the last device work of the recording."},
    {IdleCause::kBeforeRecording, "before_recording_ns", Tone::kFaint,
     "The first work was launched, or the host waited for the device, while the device was busy "
     "with work from before the recording."},
    {IdleCause::kInherited, "inherited_ns", Tone::kFlameOther,
     "Gaps up to the end of the last work from before the recording."},
    {IdleCause::kSync, "sync_ns", Tone::kSync,
     "The host was blocked when the gap began: the time that would not be idle if it had continued "
     "at once."},
    {IdleCause::kData, "data_ns", Tone::kData,
     "The host was loading data before it launched the next work."},
    {IdleCause::kHost, "host_ns", Tone::kHost,
     "The next work had not been launched for another reason."},
    {IdleCause::kLaunchCall, "launch_call_ns", Tone::kCopy,
     "Inside launch calls of 100 us or more, which load code or allocate memory."},
    {IdleCause::kLatency, "latency_ns", Tone::kDevice,
     "Launch latency: the next work began less than 100 us after its launch."},
    {IdleCause::kDevice, "device_ns", Tone::kCompute,
     "Less than 100 us before work launched earlier: dependencies, time between queued work."},
    {IdleCause::kUnrecorded, "unrecorded_ns", Tone::kComm,
     "The next work had been launched, but something else held it back: another device, or what "
     "was not recorded; or the host was in calls whose copies were not recorded."},
    {IdleCause::kUnknown, "unknown_ns", Tone::kUnknown,
     "The launch of the next work was not recorded."},
};
static_assert(std::size(kCauseColumns) == static_cast<size_t>(IdleCause::kCount));

Table NewTable() {
  Table table{"idle_causes", "Why the devices idle", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddInt(table, "idle_ns", Unit::kNanoseconds, Role::kSum,
         "Idle time, as in the breakdown; the sum of the other times.")
      .hints.tone = Tone::kIdle;
  AddInt(table, "gaps", Unit::kCount, Role::kSum, "Gaps between device work.");
  for (const CauseColumn& column : kCauseColumns) {
    AddInt(table, column.name, Unit::kNanoseconds, Role::kSum, column.doc).hints.tone = column.tone;
  }
  AddInt(table, kLongestGap, Unit::kNanoseconds, Role::kMax, "Most of sync and host in one gap.");
  AddInt(table, kLongestGapSync, Unit::kNanoseconds, Role::kMax, "Of this sync.");
  AddString(table, kLongestGapEvent, Role::kDerived, "What the host mostly did in it.");
  AddString(table, kHeadEvent, Role::kDerived, "What the host mostly did before the first launch.");
  AddInt(table, kShortHost, Unit::kNanoseconds, Role::kSum, "Of host, what is short in its gap.");
  AddInt(table, kLatencyOfSync, Unit::kNanoseconds, Role::kSum,
         "Of latency, what would not be idle if the host had not waited before the launch.");
  AddString(table, kHostEvent, Role::kDerived, "What the host mostly did in time of cause host.");
  AddInt(table, kLateBegin, Unit::kNanoseconds, Role::kSum,
         "Of unrecorded, what precedes the first work.");
  AddInt(table, kUntraced, Unit::kNanoseconds, Role::kSum,
         "Of unrecorded, what the host spent in calls whose copies were not recorded.");
  return table;
}

// Divides the gaps between the work of the main processes; those within a gap of the main threads
// by what these threads did. Time in which other processes use the device is not idle. `all`: the
// gaps between the work of all processes.
CauseSums SumsOfDevice(const RankView& view, const InheritedWork& inherited, DeviceIdle& device,
                       Causes& causes) {
  const DeviceTime& time = *device.time;
  const IntervalSet& windows = device.windows;
  const MainProcesses main = FindMainProcesses(view, time.tracks);
  const bool are_all = main.tracks.size() == time.tracks.size();
  const StreamGaps some = are_all ? StreamGaps() : FindStreamGaps(view, main.tracks, 0);
  const InheritedByDevice* const on_device = inherited.On(time.gpu);
  return causes.SumsOf(
      are_all ? device.gaps : some, FindMainGaps(view, main.tracks),
      main.pids.empty() ? windows : Subtract(windows, time.busy), main.pids, device.skew_ns,
      inherited.IsOnAny(time.tracks),
      on_device == nullptr ? std::numeric_limits<int64_t>::min() : on_device->cut_ns,
      device.pieces);
}

Table NewLateHost() {
  Table table{"late_host", "What the host did while devices waited for its launches", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddString(table, "cause", Role::kKey, "host or head, as in idle_causes.");
  AddString(table, "activity", Role::kKey,
            "call: in a call of CUDA, HIP, a library or the operating system; no processor: the "
            "thread had none; sampled: by its call stack, as sampled; event: in an operator, a "
            "range or a frame; unknown.");
  AddString(table, "name", Role::kKey,
            "Outermost call, innermost function with a name, or innermost event; missing without "
            "one.");
  AddString(table, "caller", Role::kKey,
            "Function that made the call, by its recorded stack; missing without one.");
  AddString(table, "op", Role::kKey, "Innermost operator or range around it; missing outside.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum,
         "Time of it; adds up to that of the cause in idle_causes.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of the time of the cause.");
  table.preview_rows = kLateHostPreview;
  return table;
}

// Largest sums first; the part of `all_ns` that no sum explains is unknown.
void PushLateHost(Table& table, const RankView& view, int64_t gpu, std::string_view cause,
                  std::vector<LateHostSum> sums, int64_t all_ns) {
  int64_t rest_ns = all_ns;
  for (const LateHostSum& sum : sums) {
    rest_ns -= sum.ns;
  }
  if (rest_ns > 0) {
    sums.push_back({HostActivity::kUnknown, {}, {}, {}, rest_ns});
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const LateHostSum& a, const LateHostSum& b) { return a.ns > b.ns; });
  const auto text = [&](StringId id) {
    return id.valid() ? view.trace.Text(id) : std::string_view();
  };
  for (const LateHostSum& sum : sums) {
    Row row(table);
    row.Int(view.rank).MaybeInt(gpu).Text(cause).Text(HostActivityName(sum.activity));
    row.MaybeText(text(sum.name)).MaybeText(text(sum.caller)).MaybeText(text(sum.operation));
    row.Int(sum.ns).Share(sum.ns, all_ns);
  }
}

Table NewIdlePlaces() {
  Table table{"idle_places", "Where idle time of each cause is longest", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddString(table, "cause", Role::kKey,
            "Column of idle_causes, or its time beside the longest gap.");
  AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kKey, "When that begins.");
  AddInt(table, "end_ns", Unit::kNanoseconds, Role::kKey, "When it ends.");
  return table;
}

void PushIdlePlaces(Table& table, int64_t rank, int64_t gpu, const CauseSums& sums) {
  const auto push = [&](std::string_view cause, Interval time) {
    if (time.begin < time.end) {
      Row(table).Int(rank).MaybeInt(gpu).Text(cause).Int(time.begin).Int(time.end);
    }
  };
  for (const CauseColumn& column : kCauseColumns) {
    push(column.name, sums.longest_of[static_cast<size_t>(column.cause)]);
  }
  push(kLongestGap, sums.longest_gap);
  push(kLateBegin, sums.longest_late_begin);
  push(kUntraced, sums.longest_untraced);
  // How far the clock of the host is ahead.
  const int64_t skew_ns = SubtractSaturating(sums.longest_late.begin, sums.longest_gap.begin);
  const auto push_beside = [&](std::string_view cause, const std::vector<LateTime>& times) {
    const Interval time = LongestBeside(sums.longest_late, times);
    push(cause, {SubtractSaturating(time.begin, skew_ns), SubtractSaturating(time.end, skew_ns)});
  };
  push_beside(kHostBesideGap, sums.host);
  push_beside(kSyncBesideGap, sums.sync);
}

int64_t& TimeOf(CauseTimes& times, IdleCause cause) { return times[static_cast<size_t>(cause)]; }

// Adds the rows of a device to idle_causes, late_host and idle_places.
void PushDevice(Tables& tables, const RankView& view, const DeviceTime& time, int64_t idle_ns,
                int64_t gaps, CauseSums sums, LateHost& late) {
  const std::vector<LateHostSum> host = late.Explain(sums.host);
  int64_t parts_ns = 0;
  Row row(tables[0]);
  row.Int(view.rank).MaybeInt(time.gpu).Int(idle_ns).Int(gaps);
  for (const CauseColumn& column : kCauseColumns) {
    const int64_t ns = TimeOf(sums.times, column.cause);
    row.Int(ns);
    parts_ns += ns;
  }
  row.Int(sums.longest_ns).Int(sums.longest_sync_ns);
  row.Text(late.MostlyWords({sums.longest_late, sums.longest_launch}));
  row.Text(late.MostlyWords({sums.head_late, sums.head_launch}));
  row.Int(sums.short_host_ns).Int(sums.latency_of_sync_ns).Text(MostlyWords(view.trace, host));
  row.Int(sums.late_begin_ns).Int(sums.untraced_ns);
  BS_CHECK(parts_ns == idle_ns);
  PushIdlePlaces(tables[2], view.rank, time.gpu, sums);
  PushLateHost(tables[1], view, time.gpu, "host", host, TimeOf(sums.times, IdleCause::kHost));
  PushLateHost(tables[1], view, time.gpu, "head", late.Explain(sums.head),
               TimeOf(sums.times, IdleCause::kHead));
}

Result<IdleTimes> FindIdleTimes(const RankView& view, const Selection& selection) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, selection));
  Causes causes(view);
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  const auto waits = SyncsByRecordedTimes(view);
  IdleTimes found{DeviceTimes(view, selected, PerTrack::kGpu),
                  {},
                  {NewTable(), NewLateHost(), NewIdlePlaces()}};
  found.devices.reserve(found.times->size());
  LateHost late(view);
  for (const DeviceTime& time : *found.times) {
    found.devices.push_back({&time,
                             selected.TimeOf(time.tracks),
                             FindStreamGaps(view, time.tracks, 0),
                             {},
                             SkewOf(waits->clocks, time.tracks)});
    DeviceIdle& device = found.devices.back();
    CauseSums sums = SumsOfDevice(view, *inherited, device, causes);
    PushDevice(found.tables, view, time, SplitTime(time, device.windows).idle_ns,
               SumWaits(device.gaps, device.windows).gaps, std::move(sums), late);
  }
  return found;
}

}  // namespace

std::string_view IdleCauseName(IdleCause cause) {
  const auto* const found =
      std::find_if(std::begin(kCauseColumns), std::end(kCauseColumns),
                   [cause](const CauseColumn& column) { return column.cause == cause; });
  const std::string_view column = found->name;
  return column.substr(0, column.size() - std::string_view("_ns").size());
}

std::shared_ptr<const Result<IdleTimes>> SharedIdleTimes(const RankView& view,
                                                         const Selection& selection) {
  return view.Shared<IdleTimes>([&] { return FindIdleTimes(view, selection); });
}

Table ShownCauses(Table causes) {
  constexpr std::string_view kHidden[] = {kLongestGap, kLongestGapSync, kLongestGapEvent,
                                          kHeadEvent,  kShortHost,      kLatencyOfSync,
                                          kHostEvent,  kLateBegin,      kUntraced};
  std::erase_if(causes.columns, [&](const Column& column) {
    return std::find(std::begin(kHidden), std::end(kHidden), column.name) != std::end(kHidden);
  });
  return causes;
}

}  // namespace borescope::internal
