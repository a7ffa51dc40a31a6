#include "borescope/analysis/measures/recorded.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/flops/counter_list.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

// Parts of the names of kernels that PyTorch or its compiler makes.
constexpr std::string_view kPyTorchParts[] = {
    "at::native", "at::cuda", "c10::", "torch::", "triton_poi_", "triton_red_", "triton_per_"};

bool IsPyTorchKernel(std::string_view name) {
  return std::any_of(
      std::begin(kPyTorchParts), std::end(kPyTorchParts),
      [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// Whether nobody knows which program wrote the file: Chrome JSON that is read as Kineto's, in which
// no event is one of PyTorch's.
bool IsOfUnknownProgram(const Trace& trace) { return trace.meta().producer.starts_with("unknown"); }

// Whether the profiler is that of one framework, and knows how its programs are marked.
bool IsOfFrameworksProfiler(TraceFormat format) {
  return IsOfPyTorchProfiler(format) || format == TraceFormat::kXla ||
         format == TraceFormat::kAscend || format == TraceFormat::kOnnxRuntime;
}

// Whether annotations are those of XLA, which runs without PyTorch where no operator was recorded.
bool IsMarkedByXla(const Trace& trace) {
  constexpr std::string_view kMark = "TSL:Xla";
  const HostEvents& host = trace.host();
  if (!HasHostKind(trace, HostKind::kAnnotation) || HasHostKind(trace, HostKind::kOp)) {
    return false;
  }
  const std::vector<char> is_mark =
      FlagNames(trace.strings(), [&](std::string_view name) { return name.starts_with(kMark); });
  return std::any_of(host.name.begin(), host.name.end(),
                     [&](StringId name) { return is_mark[name.value] != 0; });
}

}  // namespace

bool IsOfWholeProcess(const Trace& trace) { return !IsOfPyTorchProfiler(trace.meta().format); }

bool IsOfOtherFramework(const Trace& trace) {
  return trace.meta().format == TraceFormat::kXla ||
         trace.meta().format == TraceFormat::kOnnxRuntime || IsMarkedByXla(trace);
}

bool CalledNoOperators(const Trace& trace) {
  return trace.meta().format == TraceFormat::kKineto && !HasHostKind(trace, HostKind::kOp) &&
         (HasHostKind(trace, HostKind::kPython) || HasHostKind(trace, HostKind::kAnnotation));
}

bool IsOfPyTorchProgram(const Trace& trace) {
  if (IsOfUnknownProgram(trace) || IsMarkedByXla(trace)) {
    return false;
  }
  if (IsOfPyTorchProfiler(trace.meta().format) || HasHostKind(trace, HostKind::kOp)) {
    return true;
  }
  const std::vector<char> is_pytorch = FlagNames(trace.strings(), IsPyTorchKernel);
  const DeviceEvents& device = trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kKernel && is_pytorch[device.name[row].value] != 0) {
      return true;
    }
  }
  return false;
}

namespace {

constexpr std::string_view kCountersInstead =
    "hardware counters were measured instead (`borescope counters`); record once more without "
    "profiler_metrics for times";

constexpr std::string_view kHostWithoutOperators =
    "annotations or frames of the host were recorded, so that the CPU activity was on: the "
    "recorded part called no operators";

bool IsOfCountersOnly(const Trace& trace) {
  return trace.meta().format == TraceFormat::kKineto && trace.ranges().size() > 0 &&
         !HasDeviceWork(trace);
}

constexpr std::string_view kNoDeviceSeen =
    "PyTorch's profiler saw no GPU in this process; where it has one of CUDA, ROCm or XPU, add its "
    "ProfilerActivity, and on a Mac record MPS with torch.mps.profiler";

// Files with a schema version of Kineto list the devices of the process, whichever activities were
// on.
bool SawNoDevice(const Trace& trace) {
  const Meta& meta = trace.meta();
  return meta.producer.starts_with("PyTorch profiler (Kineto") && meta.devices.empty() &&
         meta.vendor == Vendor::kUnknown && trace.device().size() == 0 &&
         HasHostKind(trace, HostKind::kOp);
}

// Whether the missing data would come with device work, so that a recording of counters alone
// cannot hold it.
bool IsOfDevices(MissingData lack) {
  return lack == MissingData::kDeviceWork || lack == MissingData::kLaunches ||
         lack == MissingData::kCollectives || lack == MissingData::kGraphs ||
         lack == MissingData::kCopies;
}

constexpr std::string_view kOfUnknownProgram =
    "record with a profiler of a format in `borescope list`, as nothing in this file says which "
    "program wrote it";

// For programs without PyTorch; empty where the advice for PyTorch is as good.
std::string_view RemedyWithoutPyTorch(MissingData lack) {
  switch (lack) {
    case MissingData::kOperators:
    case MissingData::kAnnotations:
      return "mark code with ranges (nvtxRangePush and nvtxRangePop, or roctxRangePush and "
             "roctxRangePop), and have the profiler record them";
    case MissingData::kSteps:
      return "mark every iteration with a range (NVTX or ROCTX), and name these with "
             "`step_pattern`";
    default:
      return {};
  }
}

}  // namespace

std::string_view RemedyFor(MissingData lack, const Trace& trace) {
  if (lack != MissingData::kNone && IsOfUnknownProgram(trace)) {
    return kOfUnknownProgram;
  }
  if (lack == MissingData::kOperators && CalledNoOperators(trace)) {
    return kHostWithoutOperators;
  }
  if (const std::string_view remedy = RemedyWithoutPyTorch(lack);
      !remedy.empty() && !IsOfFrameworksProfiler(trace.meta().format) &&
      !IsOfPyTorchProgram(trace)) {
    return remedy;
  }
  if (IsOfDevices(lack) && IsOfCountersOnly(trace)) {
    return kCountersInstead;
  }
  if (lack == MissingData::kDeviceWork && SawNoDevice(trace)) {
    return kNoDeviceSeen;
  }
  if (lack == MissingData::kCounters && trace.meta().format == TraceFormat::kKineto) {
    return RemedyForCounters(trace);
  }
  const Remedy remedy = trace.meta().remedy;
  return remedy == nullptr ? std::string_view() : remedy(lack);
}

}  // namespace borescope::internal
