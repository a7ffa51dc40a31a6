#include "borescope/analysis/measures/remedies.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "borescope/analysis/measures/program_kind.h"
#include "borescope/analysis/measures/recorded.h"

namespace borescope::internal {
namespace {

constexpr auto kFirstOther = static_cast<size_t>(TraceFormat::kNsys);
constexpr size_t kOthers = static_cast<size_t>(TraceFormat::kCount) - kFirstOther;

struct RemedyRow {
  MissingData lack;
  std::array<std::string_view, kOthers> remedies;  // nsys, nvprof, rpd, rocpd: as TraceFormat
};

constexpr std::string_view kNvtx =
    "mark code with torch.cuda.nvtx.range(\"name\") and record it with nsys profile "
    "--trace=cuda,nvtx";
constexpr std::string_view kStepRanges =
    "mark every iteration with torch.cuda.nvtx.range(\"ProfilerStep#N\"), N counting up, or name "
    "the ranges that are steps with --step-pattern";
constexpr std::string_view kNvprofRanges =
    "mark code with torch.cuda.nvtx.range(\"name\"), which nvprof records";
constexpr std::string_view kRpdRanges =
    "mark code with torch.cuda.nvtx.range(\"name\"), or rangePush and rangePop of "
    "rpdTracerControl";
constexpr std::string_view kRocpdRanges =
    "mark code with torch.cuda.nvtx.range(\"name\") and record it with rocprofv3 --marker-trace";
constexpr std::string_view kRpdWork = "let the tracer run while the device works (runTracer.sh)";
constexpr std::string_view kTorchMemory =
    "this profiler records none: profile with torch.profiler and profile_memory=True";
constexpr std::string_view kTorchCounters =
    "this profiler's files hold none that are read: profile with torch.profiler and "
    "profiler_metrics=[...]";
constexpr std::string_view kShapes =
    "run the model in torch.autograd.profiler.emit_nvtx(record_shapes=True)";
constexpr std::string_view kDistributed = "profile a distributed job";
constexpr std::string_view kNoGraphs = "the profiled part used none";
constexpr std::string_view kNoCopies = "the profiled part copied nothing";

constexpr RemedyRow kRemedies[] = {
    {MissingData::kHost,
     {"record with nsys profile --trace=cuda,nvtx", "leave out --profile-api-trace none", kRpdWork,
      "record with rocprofv3 --hip-trace (or --sys-trace)"}},
    {MissingData::kDeviceWork,
     {"record with nsys profile --trace=cuda, over a part of the run in which the device works",
      "profile a part of the run in which the device works", kRpdWork,
      "record with rocprofv3 --kernel-trace --memory-copy-trace (or --sys-trace)"}},
    {MissingData::kLaunches,
     {"record with nsys profile --trace=cuda from before the launches on",
      "leave out --profile-api-trace none", kRpdWork,
      "record with rocprofv3 --hip-trace --kernel-trace (or --sys-trace)"}},
    {MissingData::kOperators,
     {"run the model in torch.autograd.profiler.emit_nvtx() under nsys profile --trace=cuda,nvtx",
      "run the model in torch.autograd.profiler.emit_nvtx()",
      "run the model in torch.autograd.profiler.emit_nvtx()",
      "run the model in torch.autograd.profiler.emit_nvtx() under rocprofv3 --marker-trace"}},
    {MissingData::kSteps, {kStepRanges, kStepRanges, kStepRanges, kStepRanges}},
    {MissingData::kShapes, {kShapes, kShapes, kShapes, kShapes}},
    {MissingData::kMemory,
     {"record with nsys profile --cuda-memory-usage=true", kTorchMemory, kTorchMemory,
      "record with rocprofv3 --memory-allocation-trace"}},
    {MissingData::kAnnotations, {kNvtx, kNvprofRanges, kRpdRanges, kRocpdRanges}},
    {MissingData::kCollectives, {kDistributed, kDistributed, kDistributed, kDistributed}},
    {MissingData::kGraphs,
     {"the profiled part used none, or record with nsys profile --trace=cuda "
      "--cuda-graph-trace=node",
      kNoGraphs, kNoGraphs, "the profiled part used none, or record with rocprofv3 --hip-trace"}},
    {MissingData::kCopies,
     {"the profiled part copied nothing, or record with nsys profile --trace=cuda", kNoCopies,
      kNoCopies, "the profiled part copied nothing, or record with rocprofv3 --memory-copy-trace"}},
    {MissingData::kCounters,
     {kTorchCounters, kTorchCounters, kTorchCounters,
      "record with rocprofv3 --pmc NAMES --kernel-trace"}},
};

static_assert(std::all_of(std::begin(kRemedies), std::end(kRemedies),
                          [](const RemedyRow& row) { return !row.remedies.back().empty(); }),
              "every format of another profiler has its remedy");

constexpr std::string_view kCountersInstead =
    "hardware counters were measured instead (`borescope counters`); record once more without "
    "profiler_metrics for times";

constexpr std::string_view kHostWithoutOperators =
    "annotations or frames of the host were recorded, so that the CPU activity was on: the "
    "recorded part called no operators";

// Only the CPU activity of PyTorch's profiler records these.
bool IsOfHostWithoutOperators(const Trace& trace) {
  return trace.meta().format == TraceFormat::kKineto && !HasHostKind(trace, HostKind::kOp) &&
         (HasHostKind(trace, HostKind::kPython) || HasHostKind(trace, HostKind::kAnnotation));
}

bool IsOfCountersOnly(const Trace& trace) {
  return trace.meta().format == TraceFormat::kKineto && trace.ranges().size() > 0 &&
         !HasDeviceWork(trace);
}

// Whether device work would show it, so that a recording of counters alone cannot.
bool IsOfDevices(MissingData lack) {
  return lack == MissingData::kDeviceWork || lack == MissingData::kLaunches ||
         lack == MissingData::kCollectives || lack == MissingData::kGraphs ||
         lack == MissingData::kCopies;
}

// Of programs without PyTorch; empty where the advice for PyTorch is as good.
std::string_view RemedyWithoutPyTorch(MissingData lack) {
  switch (lack) {
    case MissingData::kOperators:
    case MissingData::kAnnotations:
      return "mark code with ranges (nvtxRangePush and nvtxRangePop, or roctxRangePush and "
             "roctxRangePop), and have the profiler record them";
    case MissingData::kSteps:
      return "mark every iteration with a range (NVTX or ROCTX), and name these with "
             "--step-pattern";
    default:
      return {};
  }
}

}  // namespace

std::string_view RemedyElsewhere(MissingData lack, TraceFormat format) {
  const auto* row = std::find_if(std::begin(kRemedies), std::end(kRemedies),
                                 [&](const RemedyRow& remedy) { return remedy.lack == lack; });
  const auto at = static_cast<size_t>(format);
  return row == std::end(kRemedies) || at < kFirstOther ? std::string_view()
                                                        : row->remedies[at - kFirstOther];
}

std::string_view RemedyFor(MissingData lack, const Trace& trace) {
  if (lack == MissingData::kOperators && IsOfHostWithoutOperators(trace)) {
    return kHostWithoutOperators;
  }
  if (const std::string_view remedy = RemedyWithoutPyTorch(lack);
      !remedy.empty() && !IsOfPyTorchProgram(trace)) {
    return remedy;
  }
  return IsOfDevices(lack) && IsOfCountersOnly(trace) ? kCountersInstead
                                                      : RemedyElsewhere(lack, trace.meta().format);
}

}  // namespace borescope::internal
