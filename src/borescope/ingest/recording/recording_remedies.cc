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
      return "record a program of PyTorch with borescope record --ops";
    case MissingData::kSteps:
      return "call borescope_record.step(number) of the Python package at the start of every step";
    case MissingData::kShapes:
      return "record with borescope record --ops --shapes, or --ops=profile";
    case MissingData::kMemory:
      return "record with borescope record --memory";
    case MissingData::kAnnotations:
      return "mark code with borescope_record.range(\"name\") of the Python package, or with NVTX";
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
