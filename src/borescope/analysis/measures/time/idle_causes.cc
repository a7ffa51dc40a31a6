#include "borescope/analysis/measures/time/idle_causes.h"

#include <algorithm>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/time/data_loading.h"
#include "borescope/analysis/measures/time/stream_gaps.h"
#include "borescope/base/check.h"
#include "borescope/base/stop.h"
#include "borescope/index/syncs/sync_calls.h"

namespace borescope::internal {
namespace {

enum class Cause : uint8_t { kHead, kTail, kSync, kData, kHost, kDevice, kUnknown, kCount };
using CauseTimes = std::array<int64_t, static_cast<size_t>(Cause::kCount)>;

constexpr std::string_view kLongestGap = "longest_gap_ns";

// What the host did, as sets of time.
struct HostTime {
  IntervalSet blocked;
  IntervalSet loading;
};

HostTime FindHostTime(const Trace& trace) {
  std::vector<char> blocking(trace.strings().size());
  const std::vector<char> loading = FindDataLoading(trace);
  for (uint32_t i = 0; i < trace.strings().size(); ++i) {
    blocking[i] = AlwaysBlocks(ClassifyBlockingCall(trace.Text(StringId{i}))) ? 1 : 0;
  }
  const HostEvents& host = trace.host();
  std::vector<Interval> blocked_calls;
  std::vector<Interval> loading_calls;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const Interval interval{host.ts_ns[row], host.end_ns(HostId{row})};
    const HostKind kind = host.kind[row];
    const uint32_t name = host.name[row].value;
    if (kind == HostKind::kRuntime && blocking[name] != 0) {
      blocked_calls.push_back(interval);
    } else if ((kind == HostKind::kOp || kind == HostKind::kAnnotation) && loading[name] != 0) {
      loading_calls.push_back(interval);
    }
  }
  return {Union(std::move(blocked_calls)), Union(std::move(loading_calls))};
}

// The part that holds `ts_ns`, its end included: a wait ends when the device does. None: empty.
Interval PartAt(const IntervalSet& set, int64_t ts_ns) {
  const auto next = std::partition_point(
      set.begin(), set.end(), [ts_ns](const Interval& part) { return part.end < ts_ns; });
  return next != set.end() && next->begin <= ts_ns ? *next : Interval{ts_ns, ts_ns};
}

// The streams of the device: its gaps are the times in which none of them works.
std::vector<uint32_t> TracksOf(const RankView& view, const Selected& selected, int64_t gpu) {
  const Tracks& tracks = view.trace.tracks();
  std::vector<uint32_t> found;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.pid[track] == gpu && HasDeviceWork(view.trace, track) &&
        selected.KeepsTrack(TrackId{track})) {
      found.push_back(track);
    }
  }
  return found;
}

// Up to where a gap would not be there had the host not been blocked: without, it would have
// launched earlier by the time it was. The begin of the gap where it was not blocked then.
int64_t EndOfSync(Interval gap, int64_t launch_ns, const HostTime& host) {
  const Interval call = PartAt(host.blocked, gap.begin);
  if (call.length() == 0) {
    return gap.begin;
  }
  const int64_t late_ns = std::min(launch_ns, gap.end);  // launches may be recorded as too late
  const int64_t blocked_ns = Coverage(Clip(host.blocked, {call.begin, late_ns}));
  return blocked_ns >= late_ns - gap.begin ? gap.end : gap.begin + blocked_ns;
}

// What the host did instead of launching, in a part of a gap.
Cause CauseOfLateness(Interval late, const HostTime& host) {
  const int64_t loading_ns = Coverage(Clip(host.loading, late));
  return loading_ns >= late.length() - loading_ns ? Cause::kData : Cause::kHost;
}

// The part of a gap in the windows, to its causes. Returns what of it is the host's, in sync or
// not.
int64_t AddGap(const GapPart& part, const IntervalSet& windows, const HostTime& host,
               CauseTimes& times) {
  const auto add = [&](Cause cause, int64_t ns) { times[static_cast<size_t>(cause)] += ns; };
  const Interval gap = part.gap->time;
  const int64_t launch_ns = part.gap->launch_ns;
  if (launch_ns == kMissing || launch_ns <= gap.begin) {
    add(launch_ns == kMissing ? Cause::kUnknown : Cause::kDevice, part.ns);
    return 0;
  }
  const int64_t sync_end_ns = EndOfSync(gap, launch_ns, host);
  const int64_t sync_ns =
      sync_end_ns > gap.begin ? Coverage(Clip(windows, {gap.begin, sync_end_ns})) : 0;
  const Interval late{sync_end_ns, std::max(sync_end_ns, std::min(launch_ns, gap.end))};
  const Cause rest = part.ns > sync_ns ? CauseOfLateness(late, host) : Cause::kHost;
  add(Cause::kSync, sync_ns);
  add(rest, part.ns - sync_ns);
  return rest == Cause::kHost ? part.ns : sync_ns;
}

struct CauseSums {
  CauseTimes times{};
  int64_t longest_ns = 0;  // of what is the host's of one gap
};

CauseSums SumCauses(const StreamGaps& device, const WaitSums& sums, const IntervalSet& windows,
                    const HostTime& host) {
  CauseSums causes;
  causes.times[static_cast<size_t>(Cause::kHead)] = sums.head_ns;
  causes.times[static_cast<size_t>(Cause::kTail)] = sums.tail_ns;
  for (const GapPart& part : GapsIn(device, windows)) {
    causes.longest_ns = std::max(causes.longest_ns, AddGap(part, windows, host, causes.times));
  }
  return causes;
}

Table NewTable() {
  Table table{"idle_causes", "Why the devices idle", {}};
  const auto ns = [&](std::string_view name, Tone tone, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc).hints.tone = tone;
  };
  AddRankKey(table);
  AddGpuKey(table);
  ns("idle_ns", Tone::kIdle, "Idle time, as in the breakdown; the sum of the other times.");
  AddInt(table, "gaps", Unit::kCount, Role::kSum, "Gaps between device work.");
  ns("head_ns", Tone::kIdle, "Before the first device work of the recording.");
  ns("tail_ns", Tone::kTail, "After the last device work of the recording.");
  ns("sync_ns", Tone::kSync,
     "The host was blocked when the gap began: what would not be idle had it gone on at once.");
  ns("data_ns", Tone::kData, "The host was loading data before it launched the next work.");
  ns("host_ns", Tone::kHost, "The next work was launched late for another reason.");
  ns("device_ns", Tone::kDevice,
     "The next work had been launched: launch latency or dependencies.");
  ns("unknown_ns", Tone::kFaint, "The launch of the next work was not recorded.");
  AddInt(table, kLongestGap, Unit::kNanoseconds, Role::kMax, "Most of sync and host in one gap.");
  return table;
}

}  // namespace

Result<Table> IdleCauses(const RankView& view, const Selection& selection) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, selection));
  const HostTime host = FindHostTime(view.trace);
  Table table = NewTable();
  for (const DeviceTime& time : DeviceTimes(view, selected, PerTrack::kGpu)) {
    const StreamGaps gaps = FindStreamGaps(view, TracksOf(view, selected, time.gpu), 0);
    const IntervalSet windows = selected.TimeOf(time.tracks);
    const WaitSums sums = SumWaits(gaps, windows);
    const int64_t idle_ns = SplitTime(time, windows).idle_ns;
    int64_t parts_ns = 0;
    Row row(table);
    row.Int(view.rank).MaybeInt(time.gpu).Int(idle_ns).Int(sums.gaps);
    const CauseSums causes = SumCauses(gaps, sums, windows, host);
    for (const int64_t ns : causes.times) {
      row.Int(ns);
      parts_ns += ns;
    }
    row.Int(causes.longest_ns);
    BS_CHECK(parts_ns == idle_ns);
  }
  return table;
}

Table ShownCauses(Table causes) {
  std::erase_if(causes.columns, [](const Column& column) { return column.name == kLongestGap; });
  return causes;
}

}  // namespace borescope::internal
