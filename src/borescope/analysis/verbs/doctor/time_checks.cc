// Checks on times: durations, overlaps, gaps, nesting.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/base/intervals.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// A gap is a clock jump, or parts two recordings, when it is longer than this and than
// kJumpFactor times everything recorded.
constexpr int64_t kJumpNs = 10'000'000'000;
constexpr int64_t kJumpFactor = 10;

CheckOutcome FromDiagnostics(const RankView& view, Diag diag) {
  const Diagnostics::Entry& loading = view.trace.diagnostics().Get(diag);
  const Diagnostics::Entry& indexing = view.index.diagnostics.Get(diag);
  const Diagnostics::Entry& first = loading.count != 0 ? loading : indexing;
  return {static_cast<int64_t>(loading.count + indexing.count), std::nullopt, first.first};
}

CheckOutcome ImpossibleDuration(const RankView& view) {
  return FromDiagnostics(view, Diag::kImpossibleDuration);
}

CheckOutcome ClampedFrame(const RankView& view) {
  return FromDiagnostics(view, Diag::kClampedFrame);
}

CheckOutcome NegativeDuration(const RankView& view) {
  return FromDiagnostics(view, Diag::kNegativeDuration);
}

CheckOutcome NotNested(const RankView& view) {
  CheckOutcome outcome = FromDiagnostics(view, Diag::kNotNested);
  const auto rows = static_cast<double>(view.trace.host().size());
  outcome.share = rows > 0 ? static_cast<double>(outcome.count) / rows : 0.0;
  return outcome;
}

CheckOutcome ZeroDeviceDuration(const RankView& view) {
  CheckOutcome outcome = CountDeviceCases(
      view, [&](DeviceId id) { return view.trace.device().dur_ns[id.value] == 0; });
  const auto& kinds = view.trace.device().kind;
  const auto work = std::count_if(kinds.begin(), kinds.end(), IsDeviceWork);
  outcome.share = work > 0 ? static_cast<double>(outcome.count) / static_cast<double>(work) : 0.0;
  return outcome;
}

CheckOutcome ZeroHostDuration(const RankView& view) {
  return CountHostCases(view, [&](HostId id) { return view.trace.host().dur_ns[id.value] == 0; });
}

// Work that starts before the work in front of it on the same stream ended.
CheckOutcome StreamOverlap(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  CheckOutcome outcome;
  TrackId track;
  int64_t busy_until = 0;
  int64_t all_ns = 0;
  int64_t overlap_ns = 0;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (!IsDeviceWork(device.kind[row])) {
      continue;
    }
    const int64_t end = device.end_ns(DeviceId{row});
    const bool same = device.track[row] == track;
    all_ns = AddSaturating(all_ns, device.dur_ns[row]);
    if (same && device.ts_ns[row] < busy_until) {
      overlap_ns = AddSaturating(overlap_ns, std::min(end, busy_until) - device.ts_ns[row]);
      if (outcome.count++ == 0) {
        outcome.first = Describe(view, DeviceId{row});
      }
    }
    busy_until = same ? std::max(busy_until, end) : end;
    track = device.track[row];
  }
  outcome.share = all_ns > 0 ? static_cast<double>(overlap_ns) / static_cast<double>(all_ns) : 0.0;
  return outcome;
}

// All that was recorded, as one set of intervals.
IntervalSet RecordedTime(const RankView& view) {
  const HostEvents& host = view.trace.host();
  const DeviceEvents& device = view.trace.device();
  std::vector<Interval> intervals;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (!view.index.tree.parent[row].valid()) {
      intervals.push_back(
          {host.ts_ns[row], std::max(host.end_ns(HostId{row}), host.ts_ns[row] + 1)});
    }
  }
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(device.kind[row])) {
      intervals.push_back(
          {device.ts_ns[row], std::max(device.end_ns(DeviceId{row}), device.ts_ns[row] + 1)});
    }
  }
  return Union(std::move(intervals));
}

// The time that one thread recorded, the most of all: no more than RecordedTime, without its
// memory.
int64_t LongestThread(const RankView& view) {
  const HostEvents& host = view.trace.host();
  int64_t longest_ns = 0;
  int64_t thread_ns = 0;
  int64_t until_ns = 0;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (row == 0 || host.track[row] != host.track[row - 1]) {
      thread_ns = 0;
      until_ns = std::numeric_limits<int64_t>::min();
    }
    const int64_t end_ns = host.end_ns(HostId{row});
    if (!view.index.tree.parent[row].valid() && end_ns > until_ns) {
      thread_ns += end_ns - std::max(until_ns, host.ts_ns[row]);
      until_ns = end_ns;
      longest_ns = std::max(longest_ns, thread_ns);
    }
  }
  return longest_ns;
}

CheckOutcome ClockJump(const RankView& view) {
  CheckOutcome outcome;
  const int64_t span_ns = view.trace.span_ns();
  if (span_ns <= kJumpNs) {
    return outcome;
  }
  outcome.share = 0.0;
  if (span_ns / kJumpFactor <= LongestThread(view)) {
    return outcome;  // no gap can be long enough
  }
  const IntervalSet recorded = RecordedTime(view);
  const int64_t recorded_ns = Coverage(recorded);
  int64_t jumps_ns = 0;
  for (size_t i = 1; i < recorded.size(); ++i) {
    const int64_t gap_ns = recorded[i].begin - recorded[i - 1].end;
    if (gap_ns > kJumpNs && gap_ns / kJumpFactor > recorded_ns) {
      jumps_ns += gap_ns;
      if (outcome.count++ == 0) {
        outcome.first = fmt::format("{} without an event, from ts {}", FormatTime(gap_ns),
                                    FormatTimestamp(recorded[i - 1].end));
      }
    }
  }
  outcome.share = static_cast<double>(jumps_ns) / static_cast<double>(span_ns);
  return outcome;
}

CheckOutcome WholeMicroseconds(const RankView& view) {
  const auto fraction = [](int64_t ns) { return ns % 1000 != 0; };
  const auto any = [&](std::span<const int64_t> times) {
    return std::any_of(times.begin(), times.end(), fraction);
  };
  const DeviceEvents& device = view.trace.device();
  const HostEvents& host = view.trace.host();
  const bool whole = !any(device.dur_ns) && !any(host.dur_ns) && !any(device.ts_ns);
  return {whole && host.size() + device.size() > 0 ? 1 : 0, std::nullopt, {}};
}

constexpr QualityCheck kTimeChecks[] = {
    {"impossible-duration", Severity::kWarning,
     "Durations that no event of this recording can have were cut at the next event of their "
     "track: longer than the recording, or device work that runs over later work of its own "
     "stream.",
     ImpossibleDuration},
    {"negative-duration", Severity::kWarning,
     "Negative durations (profilers of 2022 and before) were set to zero.", NegativeDuration},
    {"zero-device-duration", Severity::kInfo,
     "Device work of no length: its time is lost to rounding. Share of device work events.",
     ZeroDeviceDuration},
    {"zero-host-duration", Severity::kInfo,
     "Host events of no length: shorter than the clock's step. Share of host events.",
     ZeroHostDuration},
    {"whole-microseconds", Severity::kInfo,
     "All times are whole microseconds (PyTorch before 2.3): a short kernel may be off by one "
     "microsecond.",
     WholeMicroseconds},
    {"stream-overlap", Severity::kInfo,
     "Work overlaps on one stream (timer jitter, or a queue split by the driver); busy time counts "
     "it once, sums twice. Share of device time.",
     StreamOverlap},
    {"not-nested", Severity::kInfo,
     "Host events that outlive the event they start in; both keep their times. Share of host "
     "events.",
     NotNested},
    {"clamped-frame", Severity::kWarning,
     "Python frames that outlive the frame that called them, which were left open by the profiler; "
     "in the call tree they end with their caller.",
     ClampedFrame},
    {"clock-jump", Severity::kWarning,
     "A gap without any event, longer than 10 s and than 10 times everything recorded: a clock "
     "jump, "
     "or events of another session. Select a window with --step or --annotation. Share of the "
     "span.",
     ClockJump},
};

}  // namespace

std::span<const QualityCheck> TimeChecks() { return kTimeChecks; }

}  // namespace borescope::internal
