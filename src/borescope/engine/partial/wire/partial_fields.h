// The numbers of partial.proto. partial_schema_test.cc holds both against what is written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "borescope/base/result.h"
#include "borescope/table/table.h"

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

// The numbers that values of our enums have in partials, which an enum in another order would not
// change: the place in these lists, in the order of the enums of partial.proto.

inline constexpr Unit kUnits[] = {Unit::kNone,  Unit::kNanoseconds,  Unit::kBytes,
                                  Unit::kCount, Unit::kShare,        Unit::kGigabytesPerSecond,
                                  Unit::kFlops, Unit::kMicroseconds, Unit::kPercent,
                                  Unit::kOfRow};
inline constexpr Role kRoles[] = {Role::kKey, Role::kSum, Role::kMin, Role::kMax, Role::kDerived};
inline constexpr ErrorCode kCauses[] = {ErrorCode::kIo, ErrorCode::kUnsupportedFormat,
                                        ErrorCode::kCorrupt, ErrorCode::kMissingData,
                                        ErrorCode::kInvalidArgument};

// What a column holds; in the order of Column::values.
enum class CellType : uint8_t { kInt, kFloat, kText, kBool, kCount };

// REQUIRES: `value` is in the list, as every value of its enum must be.
template <class Enum, size_t kSize>
uint32_t NumberOf(const Enum (&list)[kSize], Enum value) {
  return static_cast<uint32_t>(std::find(std::begin(list), std::end(list), value) -
                               std::begin(list));
}

template <class Enum, size_t kSize>
std::optional<Enum> ValueOf(const Enum (&list)[kSize], uint64_t number) {
  return number < kSize ? std::optional(list[number]) : std::nullopt;
}

}  // namespace borescope::internal::wire
