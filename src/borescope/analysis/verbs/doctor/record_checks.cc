// Checks on what was recorded: options that were off, and events that fill the file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/text/sensitive.h"

namespace borescope::internal {

namespace {

CheckOutcome Absent(bool present) {
  CheckOutcome outcome;
  outcome.count = present ? 0 : 1;
  return outcome;
}

bool AnyDeviceKind(const Trace& trace, DeviceKind kind) {
  const auto& kinds = trace.device().kind;
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Options of PyTorch's profiler are no advice to those who used another one.
bool IsOfPyTorch(const RankView& view) {
  return view.trace.meta().format == TraceFormat::kKineto && IsOfPyTorchProgram(view.trace);
}

// What the allocator did over time, and nothing else.
bool IsOfMemoryOnly(const RankView& view) {
  return view.trace.meta().format == TraceFormat::kMemoryTimeline;
}

CheckOutcome NoDeviceWork(const RankView& view) {
  return IsOfMemoryOnly(view) ? NotApplicable() : Absent(HasDeviceWork(view.trace));
}

// Operators and training steps are those of PyTorch; other programs have none.
bool HasNoModel(const RankView& view) {
  return IsOfMemoryOnly(view) || !IsOfPyTorchProgram(view.trace);
}

CheckOutcome NoOperators(const RankView& view) {
  if (HasNoModel(view) || CalledNoOperators(view.trace) ||
      IsCounterReport(view.trace.meta().format)) {
    return NotApplicable();
  }
  CheckOutcome outcome = Absent(HasHostKind(view.trace, HostKind::kOp));
  // Other profilers record them only where programs name them by ranges.
  outcome.severity = IsOfPyTorch(view) ? Severity::kWarning : Severity::kInfo;
  return outcome;
}

CheckOutcome NoSteps(const RankView& view) {
  // The steps of a report of counters would have no times.
  return HasNoModel(view) || IsCounterReport(view.trace.meta().format)
             ? NotApplicable()
             : Absent(!view.steps().steps.empty());
}

CheckOutcome NoShapes(const RankView& view) {
  if (!HasHostKind(view.trace, HostKind::kOp)) {
    return NotApplicable();
  }
  const auto& dims = view.trace.ops().input_dims;
  return Absent(std::any_of(dims.begin(), dims.end(),
                            [](StringId id) { return id.valid() && id.value != 0; }));
}

CheckOutcome NoMemory(const RankView& view) { return Absent(view.trace.memory().size() > 0); }

CheckOutcome NoStacks(const RankView& view) {
  return !IsOfPyTorch(view) ? NotApplicable()
                            : Absent(view.trace.meta().options.with_stack ||
                                     HasHostKind(view.trace, HostKind::kPython));
}

CheckOutcome NoModules(const RankView& view) {
  if (!IsOfPyTorch(view)) {
    return NotApplicable();
  }
  const HostEvents& host = view.trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kPython &&
        view.trace.Name(HostId{row}).starts_with("nn.Module")) {
      return Absent(true);
    }
  }
  return Absent(view.trace.meta().options.with_modules);
}

// Only CUDA has them.
CheckOutcome NoSyncEvents(const RankView& view) {
  const bool is_cuda = IsOfPyTorch(view) && view.trace.meta().vendor == Vendor::kNvidia;
  return !is_cuda || !HasDeviceWork(view.trace)
             ? NotApplicable()
             : Absent(AnyDeviceKind(view.trace, DeviceKind::kSync));
}

CheckOutcome NoExecutionTrace(const RankView& view) {
  const auto& ids = view.trace.ops().record_function_id;
  return !IsOfPyTorch(view)
             ? NotApplicable()
             : Absent(std::any_of(ids.begin(), ids.end(), [](int64_t id) { return id > 0; }));
}

// Kernels are what counters are about.
CheckOutcome NoCounters(const RankView& view) {
  return !AnyDeviceKind(view.trace, DeviceKind::kKernel) && view.trace.ranges().size() == 0
             ? NotApplicable()
             : Absent(view.trace.ranges().size() > 0 || HasReports(view));
}

CheckOutcome UnknownNames(const RankView& view) {
  const StringId unknown = view.trace.strings().Find("unknown");
  const StringId empty{0};
  return CountHostCases(view, [&](HostId id) {
    const StringId name = view.trace.host().name[id.value];
    return name == empty || (unknown.valid() && name == unknown);
  });
}

CheckOutcome OtherKernels(const RankView& view) {
  return CountDeviceCases(view, [&](DeviceId id) {
    return view.trace.device().kind[id.value] == DeviceKind::kKernel &&
           view.index.ClassOf(view.trace, id) == KernelClass::kOther;
  });
}

// Fewer events than this are no burden, whatever their share.
constexpr uint64_t kManyEvents = 1000;

// Events of one kind as a part of all; they slow reading down and answer no question about time.
template <class Predicate>
CheckOutcome EventShare(const RankView& view, Predicate is_case) {
  uint64_t all = 0;
  uint64_t cases = 0;
  for (const EventCount& count : view.trace.event_counts()) {
    all += count.count;
    cases += is_case(count) ? count.count : 0;
  }
  CheckOutcome outcome;
  outcome.share = all == 0 ? 0.0 : static_cast<double>(cases) / static_cast<double>(all);
  outcome.count = *outcome.share > 0.5 && cases > kManyEvents ? static_cast<int64_t>(cases) : 0;
  return outcome;
}

CheckOutcome PythonEvents(const RankView& view) {
  return EventShare(view, [&](const EventCount& count) {
    return count.phase == 'X' && view.trace.Text(count.category) == "python_function";
  });
}

CheckOutcome MetadataEvents(const RankView& view) {
  return EventShare(view, [](const EventCount& count) { return count.phase == 'M'; });
}

constexpr QualityCheck kRecordChecks[] = {
    {"no-device-work", Severity::kWarning, "No kernel, memcpy or memset was recorded", NoDeviceWork,
     "add ProfilerActivity.CUDA (also for ROCm), and check that no other profiler holds the "
     "device.",
     MissingData::kDeviceWork},
    {"no-operators", Severity::kWarning, "No framework operators", NoOperators,
     "add ProfilerActivity.CPU, else kernels cannot be tied to code; under another profiler run "
     "the model in torch.autograd.profiler.emit_nvtx().",
     MissingData::kOperators},
    {"no-steps", Severity::kInfo, "No ProfilerStep windows", NoSteps,
     "call prof.step() after every iteration and profile with "
     "schedule=torch.profiler.schedule(wait=1, warmup=1, active=3).",
     MissingData::kSteps},
    {"no-shapes", Severity::kInfo, "No input shapes", NoShapes,
     "profile with record_shapes=True for FLOPs, --by shape and roofline.", MissingData::kShapes},
    {"no-memory-events", Severity::kInfo, "No allocator events", NoMemory,
     "profile with profile_memory=True for memory timelines.", MissingData::kMemory},
    {"no-stacks", Severity::kInfo,
     "No Python frames: profile with with_stack=True to find the lines of code.", NoStacks},
    {"no-modules", Severity::kInfo,
     "No module names: profile with with_stack=True (or with_modules=True for TorchScript) for "
     "--by module.",
     NoModules},
    {"no-sync-events", Severity::kInfo,
     "No CUDA synchronisation records: profile with experimental_config="
     "torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True) for critical paths.",
     NoSyncEvents},
    {"no-execution-trace", Severity::kInfo,
     "Operators carry no Record function id: register an ExecutionTraceObserver "
     "(execution_trace_observer=) to link an execution trace.",
     NoExecutionTrace},
    {"no-counters", Severity::kInfo, "No hardware counters of kernels", NoCounters,
     "measure them with Nsight Compute (`borescope counters --help`).", MissingData::kCounters},
    {"unknown-names", Severity::kInfo,
     "Host events without a usable name: the profiler writes \"unknown\" for names that are not "
     "plain ASCII. Share of host events.",
     UnknownNames},
    {"unclassified-kernels", Severity::kInfo,
     "Kernels whose name tells no class; they count as compute. Share of device time.",
     OtherKernels},
    {"python-events", Severity::kInfo,
     "More than half of the file are Python frames, which cost time to record and to read: "
     "with_stack=False if no lines of code are wanted. Share of all events.",
     PythonEvents},
    {"metadata-events", Severity::kInfo,
     "More than half of the file is metadata. Share of all events.", MetadataEvents},
};

}  // namespace

std::span<const QualityCheck> RecordChecks() { return kRecordChecks; }

namespace {

// Checks on times: durations, overlaps, gaps, nesting.

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

// Work that starts before the previous work of the same stream has ended.
CheckOutcome StreamOverlap(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  CheckOutcome outcome;
  TrackId track;
  int64_t busy_until = 0;
  int64_t all_ns = 0;
  int64_t overlap_ns = 0;
  for (const uint32_t row : EachRow(device.size())) {
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
  for (const uint32_t row : EachRow(host.size())) {
    if (!view.index.tree.parent[row].valid()) {
      intervals.push_back(
          {host.ts_ns[row], std::max(host.end_ns(HostId{row}), host.ts_ns[row] + 1)});
    }
  }
  for (const uint32_t row : EachRow(device.size())) {
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
  for (const uint32_t row : EachRow(host.size())) {
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
     "All times are whole microseconds, as some profilers write them (PyTorch's before 2.3): a "
     "short kernel may be off by one microsecond.",
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
     "jump, or events of another session. Select a window with --step or --annotation. Share of "
     "the span.",
     ClockJump},
};

}  // namespace

std::span<const QualityCheck> TimeChecks() { return kTimeChecks; }

namespace {

// What a recording holds that should not be given away unseen.

struct HelpRow {
  std::string_view what;
  std::string_view help;
};
constexpr HelpRow kHelp[] = {
    {"members", "Members of the document that are not read, which may hold anything"},
    {"environment", "Rows with names of hosts and systems, or with environment variables"},
    {"output", "Rows with what the program printed"},
    {"processes", "Rows with the processes of the machine and their command lines"},
    {"network", "Rows with network devices and addresses"},
    {"files", "Rows with names of files"},
};

}  // namespace

std::vector<SensitiveCount> CountSensitive(const Trace& trace) {
  std::vector<SensitiveCount> counts = trace.meta().sensitive;
  std::array<uint64_t, kSensitiveKinds> texts{};
  for (const uint32_t id : EachRow(trace.strings().size())) {
    std::array<bool, kSensitiveKinds> found{};
    for (const SensitiveSpan& span : FindSensitive(trace.Text(StringId{id}))) {
      found[static_cast<size_t>(span.kind)] = true;
    }
    for (size_t kind = 0; kind < found.size(); ++kind) {
      texts[kind] += found[kind] ? 1 : 0;
    }
  }
  for (size_t kind = 0; kind < texts.size(); ++kind) {
    if (texts[kind] > 0) {
      counts.push_back({std::string(SensitiveWord(static_cast<Sensitive>(kind))), texts[kind]});
    }
  }
  return counts;
}

std::string SensitiveHelp(std::string_view what) {
  constexpr std::string_view kRemedy = "; borescope convert --scrub writes a copy without them.";
  for (const HelpRow& row : kHelp) {
    if (row.what == what) {
      return std::string(row.help) + std::string(kRemedy);
    }
  }
  for (size_t kind = 0; kind < kSensitiveKinds; ++kind) {
    if (SensitiveWord(static_cast<Sensitive>(kind)) == what) {
      return "Texts with " + std::string(SensitiveName(static_cast<Sensitive>(kind))) +
             std::string(kRemedy);
    }
  }
  return "";
}

}  // namespace borescope::internal
