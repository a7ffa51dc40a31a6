// roctracer, in declarations of our own: numbers, offsets within records, types of functions.
//
// Source: the headers of roctracer 4.1 (roctracer.h, prof_protocol.h) and of HIP (hip_prof_str.h),
// the same in ROCm 5.3 to 6.4. Before 5.3 a kernel's record has no name; before 5.4 a device has
// its number in the process rather than that of its node. Numbers of HIP's functions differ with
// its version, and are never assumed. None of this was tried on an AMD device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject::roctracer {

inline constexpr int kSuccess = 0;
inline constexpr uint32_t kMajorVersion = 4;

enum Domain : uint32_t {
  kHipWork = 2,
  kHipCalls = 3,
};

// Kinds of work of a device.
enum Work : uint32_t {
  kDispatch = 0,
  kCopy = 1,
};

// What a copy does: numbers of OpenCL's commands.
enum CopyCommand : uint32_t {
  kDeviceToHost = 0x11f3,
  kHostToDevice = 0x11f4,
  kDeviceToDevice = 0x11f5,
  kDeviceToHost2D = 0x1201,
  kHostToDevice2D = 0x1202,
  kDeviceToDevice2D = 0x1203,
  kFillBuffer = 0x1207,
  kFillImage = 0x1208,
};

enum Phase : uint32_t {
  kBeforeCall = 0,
  kAfterCall = 1,
};

// Every record of a pool.
namespace record_offset {
inline constexpr size_t kDomain = 0;
inline constexpr size_t kKind = 4;
inline constexpr size_t kOperation = 8;
inline constexpr size_t kCorrelation = 16;
inline constexpr size_t kStart = 24;
inline constexpr size_t kEnd = 32;
inline constexpr size_t kDevice = 40;
inline constexpr size_t kQueue = 48;
inline constexpr size_t kCopyBytes = 56;
inline constexpr size_t kKernelName = 56;
inline constexpr size_t kBytes = 64;
}  // namespace record_offset

// What a callback gets: the arguments follow, in a structure for each function.
namespace call_offset {
inline constexpr size_t kCorrelation = 0;
inline constexpr size_t kPhase = 8;
inline constexpr size_t kBytes = 16;
}  // namespace call_offset

// Arguments of the functions that launch a kernel, which all begin alike.
namespace launch_offset {
inline constexpr size_t kGrid = 24;
inline constexpr size_t kBlock = 36;
inline constexpr size_t kSharedOfModule = 48;
inline constexpr size_t kSharedOfFunction = 64;
inline constexpr size_t kBytes = 72;
}  // namespace launch_offset

using BufferFunction = void (*)(const char* begin, const char* end, void* data);
using CallFunction = void (*)(uint32_t domain, uint32_t call, const void* data, void* argument);

struct PoolProperties {
  uint32_t mode;
  size_t buffer_bytes;
  void (*allocate)(char** memory, size_t bytes, void* argument);
  void* allocate_argument;
  BufferFunction take_buffer;
  void* take_argument;
};
static_assert(sizeof(PoolProperties) == 48);

// The functions, as a table that is looked up in the library.
struct Roctracer {
  uint32_t (*version_major)();
  const char* (*operation_name)(uint32_t domain, uint32_t operation, uint32_t kind);
  int (*set_properties)(uint32_t domain, void* properties);
  int (*open_pool)(const PoolProperties* properties, void** pool);
  int (*next_record)(const void* record, const void** next);
  int (*enable_work)(uint32_t domain, uint32_t operation, void* pool);
  int (*disable_work)(uint32_t domain, uint32_t operation);
  int (*enable_calls)(uint32_t domain, CallFunction function, void* argument);
  int (*disable_calls)(uint32_t domain);
  int (*enable_call)(uint32_t domain, uint32_t operation, CallFunction function, void* argument);
  int (*disable_call)(uint32_t domain, uint32_t operation);
  int (*flush)(void* pool);
  int (*timestamp)(uint64_t* now);

  bool is_complete() const {
    return version_major != nullptr && operation_name != nullptr && open_pool != nullptr &&
           next_record != nullptr && enable_work != nullptr && disable_work != nullptr &&
           enable_calls != nullptr && disable_calls != nullptr && enable_call != nullptr &&
           disable_call != nullptr && flush != nullptr;
  }
};

}  // namespace borescope::inject::roctracer
