// A stand-in for HIP, for tests: programs plant calls and device work in it, and it reports them to
// the tracer that is registered, if one is, as the real one does. It is never installed.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Functions of HIP, by numbers of this stand-in: those of the real one differ with its version.
enum simhip_function {
  kSimhipInit = 3,
  kSimhipPushCallConfiguration = 7,
  kSimhipGetDevice = 12,
  kSimhipLaunchKernel = 41,
  kSimhipModuleLaunchKernel = 42,
  kSimhipExtModuleLaunchKernel = 43,
  kSimhipMemcpyAsync = 60,
  kSimhipMemsetAsync = 61,
  kSimhipStreamSynchronize = 77,
  kSimhipFunctions = 100,
};

struct simhip_record {
  uint32_t domain;
  uint32_t kind;
  uint32_t operation;
  uint64_t correlation;
  uint64_t begin;
  uint64_t end;
  int32_t device;
  uint64_t queue;
  uint64_t bytes_or_name;
};

// What a callback sees of a call, with its arguments.
struct simhip_call {
  uint64_t correlation;
  uint32_t phase;
  uint64_t arguments[12];
};

struct simhip_tracer {
  // 0 where the tracer wants the call; it then gives the correlation, and is called after it, too.
  int (*enter)(uint32_t function, struct simhip_call* call);
  void (*leave)(uint32_t function, struct simhip_call* call);
  void (*work)(const struct simhip_record* record);
};
void simhip_register(const struct simhip_tracer* tracer);
const char* simhip_name(uint32_t function);

// What every program that was compiled for HIP calls when it is loaded.
void** __hipRegisterFatBinary(const void* data);

// A call, within which another one may be made; returns its correlation, 0 where nobody traces it.
uint64_t simhip_begin(uint32_t function, struct simhip_call* call);
void simhip_end(uint32_t function, struct simhip_call* call);

// A call that launches a kernel of a grid, 2 and 1 work-groups of 64 by 4 work-items and 512 bytes.
uint64_t simhip_launch(uint32_t function, uint32_t grid);
uint64_t simhip_plain_call(uint32_t function);

// Work of a device: any record, or a kernel, copy or set as the real one reports it.
void simhip_work(const struct simhip_record* record);
void simhip_kernel(uint64_t correlation, const char* name, uint64_t begin, uint64_t end);
void simhip_copy(uint64_t correlation, uint32_t kind, uint64_t bytes, uint64_t begin, uint64_t end);

// The clock of the devices.
uint64_t simhip_now(void);
