#define _GNU_SOURCE
#include "simhip.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct simhip_tracer* tracer;

void simhip_register(const struct simhip_tracer* given) {
  __atomic_store_n(&tracer, given, __ATOMIC_SEQ_CST);
}

static const struct simhip_tracer* current(void) {
  return __atomic_load_n(&tracer, __ATOMIC_SEQ_CST);
}

const char* simhip_name(uint32_t function) {
  switch (function) {
    case kSimhipInit:
      return "hipInit";
    case kSimhipPushCallConfiguration:
      return "__hipPushCallConfiguration";
    case kSimhipGetDevice:
      return "hipGetDevice";
    case kSimhipLaunchKernel:
      return "hipLaunchKernel";
    case kSimhipModuleLaunchKernel:
      return "hipModuleLaunchKernel";
    case kSimhipExtModuleLaunchKernel:
      return "hipExtModuleLaunchKernel";
    case kSimhipMemcpyAsync:
      return "hipMemcpyAsync";
    case kSimhipMemsetAsync:
      return "hipMemsetAsync";
    case kSimhipStreamSynchronize:
      return "hipStreamSynchronize";
    default:
      return NULL;
  }
}

void** __hipRegisterFatBinary(const void* data) {
  static void* handle[1];
  handle[0] = (void*)(uintptr_t)data;
  return handle;
}

uint64_t simhip_begin(uint32_t function, struct simhip_call* call) {
  const struct simhip_tracer* known = current();
  call->correlation = 0;
  call->phase = 2;  // nobody traces it
  if (known == NULL || known->enter(function, call) != 0) return 0;
  return call->correlation;
}

void simhip_end(uint32_t function, struct simhip_call* call) {
  const struct simhip_tracer* known = current();
  if (known != NULL && call->phase != 2) known->leave(function, call);
}

uint64_t simhip_plain_call(uint32_t function) {
  struct simhip_call call = {0, 0, {0}};
  const uint64_t correlation = simhip_begin(function, &call);
  simhip_end(function, &call);
  return correlation;
}

// As the headers of HIP lay the arguments out: a pointer, the grid, the block; of a function two
// pointers and a size follow, of a module's a size.
uint64_t simhip_launch(uint32_t function, uint32_t grid) {
  struct simhip_call call = {0, 0, {0}};
  const int is_by_items = function == kSimhipExtModuleLaunchKernel;
  // The last group of each row is cut short.
  const uint32_t shape[] = {is_by_items ? grid * 64 - 1 : grid, is_by_items ? 8 : 2, 1, 64, 4, 1};
  memcpy(&call.arguments[1], shape, sizeof(shape));
  call.arguments[function == kSimhipLaunchKernel ? 6 : 4] = 512;
  const uint64_t correlation = simhip_begin(function, &call);
  simhip_end(function, &call);
  return correlation;
}

void simhip_work(const struct simhip_record* record) {
  const struct simhip_tracer* known = current();
  if (known != NULL) known->work(record);
}

void simhip_kernel(uint64_t correlation, const char* name, uint64_t begin, uint64_t end) {
  const struct simhip_record record = {
      2, 0x11f0, 0, correlation, begin, end, 2 + (int32_t)(correlation % 2), 5, (uintptr_t)name};
  simhip_work(&record);
}

void simhip_copy(uint64_t correlation, uint32_t kind, uint64_t bytes, uint64_t begin,
                 uint64_t end) {
  const struct simhip_record record = {2, kind, 1, correlation, begin, end, 2, 6, bytes};
  simhip_work(&record);
}

uint64_t simhip_now(void) {
  const char* fault = getenv("SIMROCTRACER_FAULT");
  const char* clock = fault == NULL ? "" : fault;
  struct timespec now;
  clock_gettime(strcmp(clock, "realtime") == 0     ? CLOCK_REALTIME
                : strcmp(clock, "monotonic") == 0 ? CLOCK_MONOTONIC
                                                  : CLOCK_BOOTTIME,
                &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
