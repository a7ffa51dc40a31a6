#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/nsys/nsys.h"

namespace borescope::internal {
std::string_view NsysRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
      return "record with nsys profile --trace=cuda,nvtx";
    case MissingData::kDeviceWork:
      return "record with nsys profile --trace=cuda, over a part of the run in which the device "
             "works";
    case MissingData::kLaunches:
      return "record with nsys profile --trace=cuda from before the launches on";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx() under nsys profile "
             "--trace=cuda,nvtx";
    case MissingData::kSteps:
      return remedies::kStepRanges;
    case MissingData::kShapes:
      return remedies::kShapes;
    case MissingData::kMemory:
      return "record with nsys profile --cuda-memory-usage=true";
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\") and record it with nsys profile "
             "--trace=cuda,nvtx";
    case MissingData::kCollectives:
      return remedies::kDistributed;
    case MissingData::kGraphs:
      return "the profiled part used none, or record with nsys profile --trace=cuda "
             "--cuda-graph-trace=node";
    case MissingData::kCopies:
      return "record with nsys profile --trace=cuda, if the profiled part copied";
    case MissingData::kCounters:
      return remedies::kTorchCounters;
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
}

}  // namespace borescope::internal
