#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/rpd/rpd.h"

namespace borescope::internal {

std::string_view RpdRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kDeviceWork:
    case MissingData::kLaunches:
      return "let the tracer run while the device works (runTracer.sh)";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx()";
    case MissingData::kSteps:
      return remedies::kStepRanges;
    case MissingData::kShapes:
      return remedies::kShapes;
    case MissingData::kMemory:
      return remedies::kTorchMemory;
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\"), or rangePush and rangePop of "
             "rpdTracerControl";
    case MissingData::kCollectives:
      return remedies::kDistributed;
    case MissingData::kGraphs:
      return remedies::kNoGraphs;
    case MissingData::kCopies:
      return remedies::kNoCopies;
    case MissingData::kCounters:
      return remedies::kTorchCounters;
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
}

}  // namespace borescope::internal
