// What to do under several profilers, where their words are the same.
#pragma once

#include <string_view>

namespace borescope::internal::remedies {

inline constexpr std::string_view kStepRanges =
    "mark every iteration with torch.cuda.nvtx.range(\"ProfilerStep#N\"), N counting up, or name "
    "the ranges that are steps with --step-pattern";
inline constexpr std::string_view kTorchMemory =
    "this profiler records none: profile with torch.profiler and profile_memory=True";
inline constexpr std::string_view kTorchCounters =
    "this profiler's files hold none that are read: measure one step with Nsight Compute and give "
    "its report with `counters` (`borescope counters --help` has the command)";
inline constexpr std::string_view kShapes =
    "run the model in torch.autograd.profiler.emit_nvtx(record_shapes=True)";
inline constexpr std::string_view kDistributed = "profile a distributed job";
inline constexpr std::string_view kNoGraphs = "the profiled part used none";
inline constexpr std::string_view kNoCopies =
    "the profiled part copied nothing, or the profiler lost the records of its copies";

}  // namespace borescope::internal::remedies
