/* A stand-in for the profiler of PyTorch, for tests only: what it asks of CUPTI, in its order. It
 * takes CUPTI's buffers even to profile the processor alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef void (*request_function)(uint8_t**, size_t*, size_t*);
typedef void (*complete_function)(void*, uint32_t, uint8_t*, size_t, size_t);
typedef uint64_t (*clock_function)(void);

/* Of libsimcupti.so, which this library is linked with. */
int cuptiActivityRegisterCallbacks(request_function request, complete_function complete);
int cuptiActivityRegisterTimestampCallback(clock_function now);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);

enum { kBytes = 1 << 20, kMostBuffers = 64, kKernel = 10, kRuntime = 5 };

static uint8_t* given[kMostBuffers];
static long strangers;

static uint64_t own_clock(void) { return 1; }

static void request(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = aligned_alloc(4096, kBytes);
  *size = kBytes;
  *most = 0;
  for (int i = 0; i < kMostBuffers; ++i) {
    if (given[i] == NULL) {
      given[i] = *buffer;
      return;
    }
  }
}

/* What it has not given is left where it is, and lost. */
static void complete(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  (void)context;
  (void)stream;
  (void)size;
  (void)valid;
  for (int i = 0; i < kMostBuffers; ++i) {
    if (given[i] != buffer) continue;
    given[i] = NULL;
    free(buffer);
    return;
  }
  strangers++;
}

/* Past whoever took the place of CUPTI's functions. */
static int take_past(void) {
  void* cupti = dlopen("libsimcupti.so", RTLD_NOW | RTLD_NOLOAD);
  int (*registers)(request_function, complete_function) =
      cupti == NULL ? NULL
                    : (__typeof__(registers))dlsym(cupti, "cuptiActivityRegisterCallbacks");
  return registers == NULL ? 1 : registers(request, complete);
}

__attribute__((visibility("default"))) int simkineto_start(int with_device, int is_past) {
  cuptiActivityRegisterTimestampCallback(own_clock);
  const int result = is_past ? take_past() : cuptiActivityRegisterCallbacks(request, complete);
  if (with_device) {
    cuptiActivityEnable(kKernel);
    cuptiActivityEnable(kRuntime);
  }
  return result;
}

/* How many buffers of others it was handed. */
__attribute__((visibility("default"))) long simkineto_stop(int with_device) {
  if (with_device) {
    cuptiActivityDisable(kKernel);
    cuptiActivityDisable(kRuntime);
  }
  int has_any = 0;
  for (int i = 0; i < kMostBuffers; ++i) has_any |= given[i] != NULL;
  if (has_any) cuptiActivityFlushAll(1);
  return strangers;
}
