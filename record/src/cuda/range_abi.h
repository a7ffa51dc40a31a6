// CUPTI's range profiler and its host side (CUDA 12.6 and later), in declarations of our own: the
// parameters of the functions that we call, as far as we use them. Every one begins with its size,
// by which CUPTI knows which version of it a caller means: ours are those of CUDA 12.6, which later
// versions take. tests/record/cupti_offsets.cc compares them with the headers of CUPTI, where they
// are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject::cuda {

inline constexpr int kInsufficientPrivileges = 35;
inline constexpr int kVirtualPrivileges = 40;

// Calls of the driver that launch one kernel, by CUPTI's numbers: cuLaunchKernel,
// cuLaunchCooperativeKernel, cuLaunchKernelEx, each also for the stream of a thread.
inline constexpr uint32_t kKernelLaunches[] = {307, 442, 477, 478, 652, 653};

// What a callback at a call of the driver is given.
namespace call_offset {
inline constexpr size_t kSymbol = 32;       // the name of the kernel, as the compiler mangled it
inline constexpr size_t kContext = 40;      // CUcontext
inline constexpr size_t kContextUid = 48;   // its number in records
inline constexpr size_t kCorrelation = 64;  // as in the records of the call and of the kernel
inline constexpr size_t kBytes = 68;
}  // namespace call_offset

// A size as CUPTI counts it: up to the end of the last member, without what fills up the structure.
#define BORESCOPE_PARAMS_SIZE(type, last) (offsetof(type, last) + sizeof(type::last))

struct ProfilerInitParams {
  size_t bytes;
  void* unused;
};

struct ChipNameParams {
  size_t bytes;
  void* unused;
  size_t device;
  const char* name;  // out
};

struct RangeEnableParams {
  size_t bytes;
  void* unused;
  void* context;
  void* profiler;  // out
};

// Also of disabling and starting.
struct RangeParams {
  size_t bytes;
  void* unused;
  void* profiler;
};

struct RangeStopParams {
  size_t bytes;
  void* unused;
  void* profiler;
  size_t pass;                // out, as all that follow
  size_t nesting_level;       //
  uint8_t has_all_submitted;  // the ranges need no further pass
};

inline constexpr int kAutoRange = 1;     // each kernel is a range
inline constexpr int kKernelReplay = 2;  // CUPTI runs a kernel as often as its metrics need

struct RangeConfigParams {
  size_t bytes;
  void* unused;
  void* profiler;
  size_t config_bytes;
  const uint8_t* config;
  size_t data_bytes;
  uint8_t* data;
  int range;
  int replay;
  size_t most_ranges;  // in a pass
  uint16_t nesting_levels;
  uint16_t least_level;
  size_t pass;
  uint16_t target_level;
};

struct RangeDecodeParams {
  size_t bytes;
  void* unused;
  void* profiler;
  size_t dropped;  // out: ranges for which there was no room
};

struct RangeDataSizeParams {
  size_t bytes;
  void* unused;
  void* profiler;
  const char** metrics;
  size_t metric_count;
  size_t most_ranges;
  uint32_t most_nodes;
  size_t data_bytes;  // out
};

struct RangeDataParams {
  size_t bytes;
  void* unused;
  void* profiler;
  size_t data_bytes;
  uint8_t* data;
};

struct RangeCountParams {
  size_t bytes;
  void* unused;
  const uint8_t* data;
  size_t data_bytes;
  size_t ranges;  // out
};

inline constexpr int kRangeProfilerType = 0;

struct HostInitParams {
  size_t bytes;
  void* unused;
  int type;
  const char* chip;
  const uint8_t* availability;  // may be a null pointer
  void* host;                   // out
};

struct HostParams {
  size_t bytes;
  void* unused;
  void* host;
};

struct HostMetricsParams {
  size_t bytes;
  void* unused;
  void* host;
  const char** metrics;
  size_t metric_count;
};

struct HostConfigSizeParams {
  size_t bytes;
  void* unused;
  void* host;
  size_t config_bytes;  // out
};

struct HostConfigParams {
  size_t bytes;
  void* unused;
  void* host;
  size_t config_bytes;
  uint8_t* config;
};

struct HostValuesParams {
  size_t bytes;
  void* unused;
  void* host;
  const uint8_t* data;
  size_t data_bytes;
  size_t range;
  const char** metrics;
  size_t metric_count;
  double* values;
};

// Null pointers where a version has none.
struct RangeProfiler {
  int (*initialize)(ProfilerInitParams*);
  int (*chip_name)(ChipNameParams*);
  int (*device_of)(void* context, uint32_t* device);
  int (*enable)(RangeEnableParams*);
  int (*disable)(RangeParams*);
  int (*set_config)(RangeConfigParams*);
  int (*start)(RangeParams*);
  int (*stop)(RangeStopParams*);
  int (*decode)(RangeDecodeParams*);
  int (*data_size)(RangeDataSizeParams*);
  int (*prepare_data)(RangeDataParams*);
  int (*count)(RangeCountParams*);
  int (*host_initialize)(HostInitParams*);
  int (*host_end)(HostParams*);
  int (*host_add)(HostMetricsParams*);
  int (*host_config_size)(HostConfigSizeParams*);
  int (*host_config)(HostConfigParams*);
  int (*host_values)(HostValuesParams*);
};

}  // namespace borescope::inject::cuda
