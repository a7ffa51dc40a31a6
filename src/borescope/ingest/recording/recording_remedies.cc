#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/recording/recording.h"

namespace borescope::internal {

std::string_view RecordingRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kDeviceWork:
    case MissingData::kLaunches:
      return "record without --no-cuda, a part of the run in which the device works";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx()";
    case MissingData::kSteps:
      return remedies::kStepRanges;
    case MissingData::kShapes:
      return remedies::kShapes;
    case MissingData::kMemory:
      return "record with borescope record --memory";
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\"), or with borescope_record_push and "
             "borescope_record_pop of borescope_record.h";
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
