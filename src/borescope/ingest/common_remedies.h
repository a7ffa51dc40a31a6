// What to do under several profilers, where their words are the same.
#pragma once

#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

// For what a reader has no words of its own. See Remedy.
constexpr std::string_view CommonRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kSteps:
      return "mark every iteration with torch.cuda.nvtx.range(\"ProfilerStep#N\"), N counting up, "
             "or name the ranges that are steps with --step-pattern";
    case MissingData::kShapes:
      return "run the model in torch.autograd.profiler.emit_nvtx(record_shapes=True)";
    case MissingData::kMemory:
      return "this profiler records none: profile with torch.profiler and profile_memory=True";
    case MissingData::kCollectives:
      return "profile a distributed job";
    case MissingData::kGraphs:
      return "the profiled part used none";
    case MissingData::kCopies:
      return "the profiled part copied nothing, or the profiler lost the records of its copies";
    case MissingData::kCounters:
      return "this profiler's files hold none that are read: measure one step with Nsight Compute "
             "and give its report with `counters` (`borescope counters --help` has the command)";
    default:
      return {};
  }
}

}  // namespace borescope::internal
