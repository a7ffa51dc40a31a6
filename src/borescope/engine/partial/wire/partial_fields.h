// The numbers of partial.proto. partial_schema_test.cc holds both against what is written.
#pragma once

#include <cstdint>

namespace borescope::internal::wire {

namespace partial {
enum : uint32_t { kMajor = 1, kMinor, kProgramVersion, kQuestion, kFiles, kShards, kFurther };
}
namespace shard {
enum : uint32_t { kIndex = 1, kCount, kFiles, kDigest };
}
namespace question {
enum : uint32_t { kVerbs = 1, kOptions, kForReport, kForCheck };
}
namespace option {
enum : uint32_t { kName = 1, kNumber, kText, kContent };
}
namespace file {
enum : uint32_t {
  kPath = 1,
  kFromDirectory,
  kRecordedRank,
  kNamedRank,
  kWorldSize,
  kRank,
  kFileBytes,
  kTextBytes,
  kEvents,
  kBeginNs,
  kOddities,
  kLoadError,
  kUnknown,
  kAnswers,
  kGraphs,
  kSkipped,
  kChecked
};
}
namespace checked {
enum : uint32_t { kRun = 1, kRunName, kProcess, kBeginNs, kEndNs, kBytes, kDigest };
}
namespace graphs {
enum : uint32_t { kMayReplay = 1, kOnlyCaptures, kCaptures, kSearched };
}
namespace oddity {
enum : uint32_t { kCode = 1, kCount, kFirstByte, kFirst };
}
namespace failure {
enum : uint32_t { kCause = 1, kMessage, kRemedy, kPath, kOffset, kLine, kParameter };
}  // namespace failure
namespace unknown {
enum : uint32_t { kSteps = 1, kGpus, kStreams, kInstances };
}
namespace answer {
enum : uint32_t { kFailure = 1, kTables };
}
namespace table {
enum : uint32_t { kName = 1, kTitle, kPreviewRows, kColumns };
}
namespace column {
enum : uint32_t {
  kName = 1,
  kUnit,
  kRole,
  kDoc,
  kType,
  kInts,
  kDeltas,
  kFloats,
  kTexts,
  kPlaces,
  kBools,
  kMissing,
  kTone,
  kPalette,
  kNames
};
}

}  // namespace borescope::internal::wire
