// CUPTI, in declarations of our own: numbers, offsets within records, types of functions. Records
// are read by offset, since what we need is at the same place in every version from CUDA 9 to 13;
// later fields are read where a record is long enough. tests/record/cupti_offsets.c compares every
// number with the headers of CUPTI, where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject::cuda {

enum Result : int {
  kSuccess = 0,
  kMaxLimitReached = 12,
  kNotInitialized = 15,
  kMultipleSubscribers = 39,
};

enum ActivityKind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDeviceKind = 8,
  kContextKind = 9,
  kConcurrentKernel = 10,
  kOverheadKind = 17,
  kMemcpyPeer = 22,
  kStreamKind = 37,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kMemory2 = 49,
  kGraphTrace = 51,
};

inline constexpr uint32_t kThreadIdAttribute = 21;
inline constexpr uint32_t kTimestampAttribute = 22;
inline constexpr uint32_t kSystemThreadIds = 1;
inline constexpr uint32_t kForcedFlush = 1;
inline constexpr uint32_t kThreadObject = 2;

// Callbacks at calls: the domain of the driver, two of its calls, and what the data of a callback
// begins with where it comes before the call.
inline constexpr uint32_t kDriverDomain = 1;
inline constexpr uint32_t kRuntimeDomain = 2;
inline constexpr uint32_t kProfilerStart = 308;
inline constexpr uint32_t kProfilerStop = 309;
inline constexpr uint32_t kBeforeCall = 0;

// A version from which several tools may subscribe, each with a clock of its own.
inline constexpr uint32_t kSubscriberVersion = 130400;
// Older ones crash where a buffer is refused.
inline constexpr uint32_t kRefusalVersion = 27;

using Subscriber = void*;
using CallFunction = void (*)(void* data, uint32_t domain, uint32_t call, const void* of_call);
using TimestampFunction = uint64_t (*)();
using RequestFunction = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using CompleteFunction = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                  size_t valid);
using RequestFunction2 = void (*)(uint8_t** buffer, size_t* size, size_t* most_records, void* info);
using CompleteFunction2 = void (*)(uint8_t* buffer, size_t size, size_t valid, void* info);

struct SubscriberParams {
  size_t bytes;
  const char* name;
  char* old_name;
  size_t old_name_bytes;
  uint8_t allows_others;
  uint8_t padding[7];
};
static_assert(sizeof(SubscriberParams) == 40);

namespace kernel_offset {
inline constexpr size_t kRegisters = 6;
inline constexpr size_t kStart = 16;
inline constexpr size_t kEnd = 24;
inline constexpr size_t kDevice = 40;
inline constexpr size_t kContext = 44;
inline constexpr size_t kStream = 48;
inline constexpr size_t kGrid = 52;
inline constexpr size_t kBlock = 64;
inline constexpr size_t kStaticShared = 76;
inline constexpr size_t kDynamicShared = 80;
inline constexpr size_t kLocal = 84;
inline constexpr size_t kCorrelation = 92;
inline constexpr size_t kName = 104;
inline constexpr size_t kGraphNode = 144;
inline constexpr size_t kGraph = 156;
inline constexpr size_t kChannel = 168;
}  // namespace kernel_offset

// Of copies; of sets, too, but for the kinds and what is named so.
namespace copy_offset {
inline constexpr size_t kCopyKind = 4;
inline constexpr size_t kSourceKind = 5;
inline constexpr size_t kTargetKind = 6;
inline constexpr size_t kSetValue = 4;
inline constexpr size_t kSetMemoryKind = 50;
inline constexpr size_t kBytes = 8;
inline constexpr size_t kStart = 16;
inline constexpr size_t kEnd = 24;
inline constexpr size_t kDevice = 32;
inline constexpr size_t kContext = 36;
inline constexpr size_t kStream = 40;
inline constexpr size_t kCorrelation = 44;
inline constexpr size_t kGraphNode = 64;
inline constexpr size_t kGraph = 72;
inline constexpr size_t kPeerCorrelation = 60;
inline constexpr size_t kPeerGraphNode = 72;
inline constexpr size_t kPeerGraph = 80;
}  // namespace copy_offset

namespace api_offset {
inline constexpr size_t kCallback = 4;
inline constexpr size_t kStart = 8;
inline constexpr size_t kEnd = 16;
inline constexpr size_t kThread = 28;
inline constexpr size_t kCorrelation = 32;
inline constexpr size_t kResult = 36;
inline constexpr size_t kBytes = 40;
}  // namespace api_offset

namespace sync_offset {
inline constexpr size_t kType = 4;
inline constexpr size_t kStart = 8;
inline constexpr size_t kEnd = 16;
inline constexpr size_t kCorrelation = 24;
inline constexpr size_t kContext = 28;
inline constexpr size_t kStream = 32;
inline constexpr size_t kEvent = 36;
inline constexpr size_t kBytes = 40;
}  // namespace sync_offset

namespace memory_offset {
inline constexpr size_t kOperation = 4;
inline constexpr size_t kKind = 8;
inline constexpr size_t kCorrelation = 12;
inline constexpr size_t kAddress = 16;
inline constexpr size_t kSize = 24;
inline constexpr size_t kTime = 32;
inline constexpr size_t kDevice = 52;
inline constexpr size_t kContext = 56;
inline constexpr size_t kStream = 60;
inline constexpr size_t kBytes = 64;
}  // namespace memory_offset

namespace graph_offset {
inline constexpr size_t kCorrelation = 4;
inline constexpr size_t kStart = 8;
inline constexpr size_t kEnd = 16;
inline constexpr size_t kDevice = 24;
inline constexpr size_t kGraph = 28;
inline constexpr size_t kContext = 32;
inline constexpr size_t kStream = 36;
inline constexpr size_t kBytes = 40;
}  // namespace graph_offset

namespace external_offset {
inline constexpr size_t kKind = 4;
inline constexpr size_t kId = 8;
inline constexpr size_t kCorrelation = 16;
inline constexpr size_t kBytes = 24;
}  // namespace external_offset

namespace overhead_offset {
inline constexpr size_t kKind = 4;
inline constexpr size_t kObjectKind = 8;
inline constexpr size_t kThread = 16;
inline constexpr size_t kStart = 24;
inline constexpr size_t kEnd = 32;
inline constexpr size_t kBytes = 40;
}  // namespace overhead_offset

namespace context_offset {
inline constexpr size_t kContext = 4;
inline constexpr size_t kDevice = 8;
inline constexpr size_t kBytes = 16;
}  // namespace context_offset

namespace stream_offset {
inline constexpr size_t kContext = 4;
inline constexpr size_t kStream = 8;
inline constexpr size_t kPriority = 12;
inline constexpr size_t kBytes = 24;
}  // namespace stream_offset

namespace device_offset {
inline constexpr size_t kMemory = 16;
inline constexpr size_t kWarp = 32;
inline constexpr size_t kMultiprocessors = 44;
inline constexpr size_t kMajor = 104;
inline constexpr size_t kMinor = 108;
inline constexpr size_t kId = 112;
inline constexpr size_t kName = 136;
inline constexpr size_t kBytes = 144;
}  // namespace device_offset

}  // namespace borescope::inject::cuda
