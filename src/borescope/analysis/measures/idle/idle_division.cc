#include "borescope/analysis/measures/idle/idle_division.h"

#include <algorithm>

#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

void AddPart(Interval time, IdleCause cause, std::vector<IdlePart>& parts) {
  if (time.begin < time.end) {
    parts.push_back({time, cause});
  }
}

// The first part of a set that holds `ts_ns` or ends up to kClockDoubtNs before it: a wait ends
// when the device does. None: empty.
Interval PartAt(const IntervalSet& set, int64_t ts_ns) {
  const int64_t earliest_ns = SubtractSaturating(ts_ns, kClockDoubtNs);
  const auto next =
      std::partition_point(set.begin(), set.end(),
                           [earliest_ns](const Interval& part) { return part.end < earliest_ns; });
  return next != set.end() && next->begin <= ts_ns ? *next : Interval{ts_ns, ts_ns};
}

// Up to where the host would not be late had it not been blocked when `late` began.
int64_t EndOfSync(Interval late, const HostTime& host) {
  const Interval call = PartAt(host.blocked, late.begin);
  const int64_t blocked_ns =
      call.length() == 0 ? 0 : Coverage(Clip(host.blocked, {call.begin, late.end}));
  return blocked_ns >= late.length() ? late.end : late.begin + blocked_ns;
}

bool IsOfDataLoading(Interval late, const HostTime& host) {
  const int64_t loading_ns = Coverage(Clip(host.loading, late));
  return loading_ns >= late.length() - loading_ns;
}

// What follows a launch: `held` is the cause if the work begins later than usual and the device
// seems idle for as long.
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

// The time up to a launch: `use` gets each piece of it in which no copy may have run unrecorded.
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

// The time up to the launch of the first work: while the host waits for devices that have work from
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
