// Checks on what was recorded: options that were off, and events that fill the file.
#include <algorithm>

#include "borescope/analysis/measures/recorded.h"
#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/base/stop.h"

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
bool IsOfPyTorch(const RankView& view) { return view.trace.meta().format == TraceFormat::kKineto; }

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
  return HasNoModel(view) ? NotApplicable() : Absent(HasHostKind(view.trace, HostKind::kOp));
}

CheckOutcome NoSteps(const RankView& view) {
  return HasNoModel(view) ? NotApplicable() : Absent(!view.steps().steps.empty());
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
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
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
    {"unknown-names", Severity::kInfo,
     "Host events without a usable name: the profiler writes \"unknown\" for names that are not "
     "plain "
     "ASCII. Share of host events.",
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

}  // namespace borescope::internal
