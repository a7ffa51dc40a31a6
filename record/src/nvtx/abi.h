// How programs with NVTX call a tool: the numbers and layouts of its injection protocol, in
// declarations of our own, so that nothing of NVTX is needed to build the library.
//
// A program's copy of NVTX loads the library that NVTX_INJECTION64_PATH names and calls its
// InitializeInjectionNvtx2 with a function that gives tables; one of them has, for each module, the
// addresses of the function pointers through which the program's calls go.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject::nvtx {

inline constexpr uint32_t kCallbackTable = 1;

enum class Module : uint32_t { kCore = 1, kCuda = 2, kCudaRuntime = 4, kCore2 = 5 };

using Function = void (*)();

struct CallbackTable {
  size_t bytes;
  int (*module_functions)(Module module, Function*** functions, unsigned* count);
};

using ExportTable = const void* (*)(uint32_t table);

// Places in the tables of the modules.
enum CoreFunction : uint32_t {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameCategoryA,
  kNameCategoryW,
  kNameOsThreadA,
  kNameOsThreadW,
};

enum Core2Function : uint32_t {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainResourceCreate,
  kDomainResourceDestroy,
  kDomainNameCategoryA,
  kDomainNameCategoryW,
  kDomainRegisterStringA,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
  kDomainDestroy,
  kInitialize,
};

enum class PayloadType : int32_t {
  kUnknown = 0,
  kUint64,
  kInt64,
  kDouble,
  kUint32,
  kInt32,
  kFloat,
};

enum class MessageType : int32_t { kUnknown = 0, kAscii, kUnicode, kRegistered };

union MessageValue {
  const char* ascii;
  const wchar_t* unicode;
  const void* registered;
};

struct EventAttributes {
  uint16_t version;
  uint16_t bytes;  // what the program's copy of NVTX knows of this
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  PayloadType payload_type;
  int32_t reserved;
  union {
    uint64_t u64;
    int64_t i64;
    double f64;
    uint32_t u32;
    int32_t i32;
    float f32;
  } payload;
  MessageType message_type;
  MessageValue message;
};
static_assert(sizeof(EventAttributes) == 48);

struct ResourceAttributes {
  uint16_t version;
  uint16_t bytes;
  int32_t identifier_type;
  uint64_t identifier;
  MessageType message_type;
  MessageValue message;
};
static_assert(sizeof(ResourceAttributes) == 32);

}  // namespace borescope::inject::nvtx
