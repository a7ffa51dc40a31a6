#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/recording/recording.h"

namespace borescope::internal {

std::string_view RecordingRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kDeviceWork:
    case MissingData::kLaunches:
      return "record with borescope record --cuda, over a part of the run in which the device "
             "works";
    case MissingData::kOperators:
      return "record with borescope record --ops";
    case MissingData::kSteps:
      return remedies::kStepRanges;
    case MissingData::kShapes:
      return "record with borescope record --ops=profile";
    case MissingData::kMemory:
      return "record with borescope record --memory";
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\"), borescope_record.range(\"name\") or "
             "borescope_record_push and _pop";
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
