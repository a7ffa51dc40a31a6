// A stand-in for rocprofiler-sdk, for tests: it loads the tools of ROCP_TOOL_LIBRARIES as the real
// one does, and delivers what a program plants. It is never installed.
#pragma once

#include <stdint.h>

// Loads the tools. The environment:
//   SIMROCPROFILER_VERSION  0 (before 1.0) or 1: whether a call's record names the call around it
//   SIMROCPROFILER_FAULT    clock, service, rccl, drop, busy, slow: what goes wrong; busy refuses
//                           every other flush, slow takes a while to start
void simrocprofiler_begin(void);
// Has the tools end, as at exit.
void simrocprofiler_end(void);
// Whether device work is collected.
int simrocprofiler_is_on(void);

uint64_t simrocprofiler_now(void);
void simrocprofiler_load_kernel(uint64_t kernel, const char* name);
void simrocprofiler_call(uint64_t correlation, int32_t operation, uint64_t start, uint64_t end);
void simrocprofiler_rccl_call(uint64_t correlation, uint64_t start, uint64_t end);
void simrocprofiler_kernel(uint64_t correlation, uint64_t kernel, uint64_t start, uint64_t end);
void simrocprofiler_copy(uint64_t correlation, int32_t operation, uint64_t bytes, uint64_t start,
                         uint64_t end);
