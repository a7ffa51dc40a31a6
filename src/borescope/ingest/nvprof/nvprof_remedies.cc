#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/nvprof/nvprof.h"

namespace borescope::internal {
std::string_view NvprofRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
      return "leave out --profile-api-trace none";
    case MissingData::kDeviceWork:
      return "profile a part of the run in which the device works";
    case MissingData::kLaunches:
      return "leave out --profile-api-trace none";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx()";
    case MissingData::kSteps:
      return remedies::kStepRanges;
    case MissingData::kShapes:
      return remedies::kShapes;
    case MissingData::kMemory:
      return remedies::kTorchMemory;
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\"), which nvprof records";
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
