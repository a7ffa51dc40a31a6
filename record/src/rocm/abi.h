// rocprofiler-sdk, in declarations of our own: numbers, offsets within records, types of functions.
//
// Source: the headers of rocprofiler-sdk 0.4 to 1.2 (fwd.h, registration.h, buffer_tracing.h,
// callback_tracing.h, agent.h). Only numbers that are the same in all of them are used, but for
// that of RCCL; where a structure grew, the record itself says which form it has. None of this was
// tried on an AMD device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject::rocm {

inline constexpr int kSuccess = 0;
inline constexpr int kBufferBusy = 14;

// Kinds of buffered records.
enum Kind : uint32_t {
  kHipCalls = 5,
  kMemoryCopies = 10,
  kKernelDispatches = 11,
  kRcclCalls = 14,         // from 1.0 on
  kRcclCallsBefore1 = 15,  // which from 1.0 on are calls of OpenMP
};
// 1.2.3 is 10203.
inline constexpr uint32_t kVersion1 = 10'000;
inline constexpr uint32_t kTracingCategory = 1;
inline constexpr uint32_t kCodeObjects = 10;  // a kind of callbacks, not of records
inline constexpr uint32_t kKernelSymbol = 2;  // an operation of it
inline constexpr uint32_t kLoadPhase = 1;
inline constexpr int kBlockWhenFull = 2;  // no record is dropped
inline constexpr uint32_t kGpuAgent = 2;

// Handles are structures of one number, which are passed as that number is.
struct Handle {
  uint64_t value;
};

struct RecordHeader {
  uint32_t category;
  uint32_t kind;
  const uint8_t* payload;
};
static_assert(sizeof(RecordHeader) == 16);

struct ClientId {
  size_t bytes;
  const char* name;
  uint32_t handle;
};

struct ConfigureResult {
  size_t bytes;
  int (*initialize)(void (*finalize)(Handle client), void* data);
  void (*finalize)(void* data);
  void* data;
};
static_assert(sizeof(ConfigureResult) == 32);

using BufferFunction = void (*)(Handle context, Handle buffer, RecordHeader** headers, size_t count,
                                void* data, uint64_t dropped);

// What every buffered record begins with.
namespace record_offset {
inline constexpr size_t kBytes = 0;
inline constexpr size_t kOperation = 12;
inline constexpr size_t kCorrelation = 16;
}  // namespace record_offset

// From 1.0 the correlation of a call names the call around it, too: the record is longer by that.
namespace call_offset {
inline constexpr size_t kStart = 32;
inline constexpr size_t kEnd = 40;
inline constexpr size_t kThread = 48;
inline constexpr size_t kLeastBytes = 56;
inline constexpr size_t kWithAncestor = 64;
inline constexpr size_t kAncestorBytes = 8;
}  // namespace call_offset

namespace dispatch_offset {
inline constexpr size_t kStart = 40;
inline constexpr size_t kEnd = 48;
inline constexpr size_t kAgent = 64;
inline constexpr size_t kQueue = 72;
inline constexpr size_t kKernel = 80;
inline constexpr size_t kPrivateBytes = 96;
inline constexpr size_t kGroupBytes = 100;
inline constexpr size_t kWorkgroup = 104;
inline constexpr size_t kGrid = 116;  // in work-items, unlike CUDA's
inline constexpr size_t kLeastBytes = 128;
}  // namespace dispatch_offset

namespace copy_offset {
inline constexpr size_t kStart = 40;
inline constexpr size_t kEnd = 48;
inline constexpr size_t kTargetAgent = 56;
inline constexpr size_t kSourceAgent = 64;
inline constexpr size_t kBytes = 72;
inline constexpr size_t kLeastBytes = 80;
}  // namespace copy_offset

enum CopyOperation : uint32_t {
  kHostToHost = 1,
  kHostToDevice = 2,
  kDeviceToHost = 3,
  kDeviceToDevice = 4,
};

// A callback's record, before and from 1.0: its kind distinguishes them.
namespace callback_offset {
inline constexpr size_t kKind = 32;
inline constexpr size_t kKindWithAncestor = 40;
inline constexpr size_t kOperationAfterKind = 4;
inline constexpr size_t kPhaseAfterKind = 8;
inline constexpr size_t kPayloadAfterKind = 16;
}  // namespace callback_offset

namespace symbol_offset {
inline constexpr size_t kKernel = 8;
inline constexpr size_t kName = 24;
}  // namespace symbol_offset

namespace agent_offset {
inline constexpr size_t kId = 8;
inline constexpr size_t kType = 16;
inline constexpr size_t kWarp = 64;
inline constexpr size_t kComputeUnits = 72;
inline constexpr size_t kTarget = 100;  // gfx942 is 90402
inline constexpr size_t kLeastBytes = 104;
}  // namespace agent_offset

// The functions, as a table that is looked up in the library that called us.
struct Rocprofiler {
  int (*create_context)(Handle* context);
  int (*start_context)(Handle context);
  int (*stop_context)(Handle context);
  int (*create_buffer)(Handle context, size_t bytes, size_t watermark, int policy,
                       BufferFunction function, void* data, Handle* buffer);
  int (*flush_buffer)(Handle buffer);
  int (*trace_to_buffer)(Handle context, uint32_t kind, const int32_t* operations, size_t count,
                         Handle buffer);
  int (*trace_by_callback)(Handle context, uint32_t kind, const int32_t* operations, size_t count,
                           void* function, void* data);
  int (*operation_name)(uint32_t kind, int32_t operation, const char** name, uint64_t* length);
  int (*query_agents)(uint32_t version,
                      int (*function)(uint32_t version, const void** agents, size_t count,
                                      void* data),
                      size_t bytes, void* data);
  int (*timestamp)(uint64_t* now);

  bool is_complete() const {
    return create_context != nullptr && start_context != nullptr && stop_context != nullptr &&
           create_buffer != nullptr && flush_buffer != nullptr && trace_to_buffer != nullptr &&
           trace_by_callback != nullptr && timestamp != nullptr;
  }
};

}  // namespace borescope::inject::rocm
