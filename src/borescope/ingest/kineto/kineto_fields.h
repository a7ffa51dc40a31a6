// The fields of a Kineto event that Borescope reads, and how their keys are recognised. Everything
// else in an event is skipped. Shared by both event parsers, so that they cannot disagree.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class Field : uint8_t {
  // Of the event itself.
  kPhase,
  kCategory,
  kName,
  kPid,
  kTid,
  kTs,
  kDur,
  kFlowId,
  kArgs,  // the whole of it
  // Of "args": ids.
  kExternalId,
  kCorrelation,
  kStream,
  kSequence,
  kForwardThread,
  kRecordFunctionId,
  // Operators.
  kInputDims,
  kInputTypes,
  kInputStrides,
  kConcreteInputs,
  kKernelBackend,
  kKernelFile,
  kKernelGigabytes,
  kKernelFlops,
  // Kernels and copies.
  kGrid,
  kBlock,
  kRegisters,
  kSharedBytes,
  kOccupancy,
  kGraphNodeId,
  kBytes,
  kGbps,
  // Synchronisation records.
  kWaitOnStream,
  kWaitOnRecord,
  // Collectives.
  kCollective,
  kInElems,
  kOutElems,
  kGroupSize,
  kDtype,
  kGroupName,
  kGroupDesc,
  kGroupRanks,
  kCollectiveSequence,
  // Allocator instants.
  kDeviceType,
  kDeviceId,
  kAddress,
  kAllocBytes,
  kTotalAllocated,
  kTotalReserved,
  // Metadata events.
  kArgName,
  // Fields that only `borescope convert` writes, from recordings of other profilers. Calls.
  kDomain,
  kCallArgs,
  // Streams, kernels.
  kProcess,
  kStreamHandle,
  kPrivateBytes,
  // Launch calls.
  kKernelName,
  // The calls of copies.
  kCopyKind,
  kSource,
  kTarget,
  kSourceDevice,
  kTargetDevice,
  kWidth,
  kHeight,
  kIsSync,
  kIsPinned,
  kCount,
  // Of Python frames, in the places of fields that only copies have: there are no bits for more.
  kFrameId = kWidth,
  kFrameCaller = kHeight,
};
inline constexpr size_t kFieldCount = static_cast<size_t>(Field::kCount);
static_assert(kFieldCount <= 64, "RawEvent keeps one bit per field");

// The field of a key, or Field::kCount for keys that are not read. `key` is the text between the
// quotes; 8 bytes from its start must be readable.
Field FindEventField(std::string_view key);
Field FindArgsField(std::string_view key);

// One event as JSON tokens: for each field present the raw text of its value (strings with their
// quotes). The views live as long as the text they came from.
class RawEvent {
 public:
  void Clear() {
    present_ = 0;
    duplicates_ = 0;
    layout_ = kNoLayout;
  }
  void Set(Field field, std::string_view token) {
    const uint64_t bit = uint64_t{1} << static_cast<unsigned>(field);
    duplicates_ |= present_ & bit;
    present_ |= bit;
    tokens_[static_cast<size_t>(field)] = token;
  }
  // For a reader that knows the fields of an event before it reads the first: their tokens in any
  // order, kCount for values that are not read, then which fields these are, one bit each.
  void Put(Field field, std::string_view token) { tokens_[static_cast<size_t>(field)] = token; }
  void SetPresent(uint64_t fields, uint32_t layout) {
    present_ = fields;
    duplicates_ = 0;
    layout_ = layout;
  }
  // Events of one parser with the same layout, other than kNoLayout, have the same phase and
  // category.
  static constexpr uint32_t kNoLayout = 0;
  uint32_t layout() const { return layout_; }
  bool Has(Field field) const { return ((present_ >> static_cast<unsigned>(field)) & 1) != 0; }
  // The token, or an empty view when the field is absent.
  std::string_view Get(Field field) const {
    return Has(field) ? tokens_[static_cast<size_t>(field)] : std::string_view();
  }
  bool has_duplicates() const { return duplicates_ != 0; }
  // True if any of the fields from `first` to `last` is present.
  bool HasAny(Field first, Field last) const {
    const uint64_t upto = (uint64_t{2} << static_cast<unsigned>(last)) - 1;
    const uint64_t below = (uint64_t{1} << static_cast<unsigned>(first)) - 1;
    return (present_ & upto & ~below) != 0;
  }

  uint64_t byte = 0;  // offset of the event in the inflated text

 private:
  uint64_t present_ = 0;
  uint64_t duplicates_ = 0;
  uint32_t layout_ = kNoLayout;
  std::array<std::string_view, kFieldCount + 1> tokens_;  // the last one is never looked at
};

}  // namespace borescope::internal
