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
enum : uint32_t {
  kVerbs = 1,
  kRanks,
  kSelection,
  kBy,
  kCompat,
  kAll,
  kOptions,
  kForReport,
  kForCheck
};
}
namespace range {
enum : uint32_t { kFirst = 1, kLast };
}
namespace selection {
enum : uint32_t {
  kSteps = 1,
  kGpus,
  kStreams,
  kAnnotation,
  kInstances,
  kBegin,
  kEnd,
  kStepRule,
  kStepPattern
};
}
namespace time_point {
enum : uint32_t { kKind = 1, kNumber, kText };
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
// `message` is the cause in words, and the whole sentence up to version 4.
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
