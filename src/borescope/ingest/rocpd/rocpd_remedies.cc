#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/rocpd/rocpd.h"

namespace borescope::internal {
std::string_view RocpdRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
      return "record with rocprofv3 --hip-trace (or --sys-trace)";
    case MissingData::kDeviceWork:
      return "record with rocprofv3 --kernel-trace --memory-copy-trace (or --sys-trace)";
    case MissingData::kLaunches:
      return "record with rocprofv3 --hip-trace --kernel-trace (or --sys-trace)";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx() under rocprofv3 --marker-trace";
    case MissingData::kSteps:
      return remedies::kStepRanges;
    case MissingData::kShapes:
      return remedies::kShapes;
    case MissingData::kMemory:
      return "record with rocprofv3 --memory-allocation-trace";
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\") and record it with rocprofv3 "
             "--marker-trace";
    case MissingData::kCollectives:
      return remedies::kDistributed;
    case MissingData::kGraphs:
      return "the profiled part used none, or record with rocprofv3 --hip-trace";
    case MissingData::kCopies:
      return "record with rocprofv3 --memory-copy-trace, if the profiled part copied";
    case MissingData::kCounters:
      return "record with rocprofv3 --pmc NAMES --kernel-trace";
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
}

}  // namespace borescope::internal
