/* launches HOW SECONDS: what a launch costs that the simulated CUPTI records, for bench/record.py. HOW: recorded (by
 * whoever is injected), bare (by callbacks that do next to nothing, as the least that any tool costs). A launch every
 * 5 us: it prints the nanoseconds of a launch within CUPTI at best and on average of tenths of a second, the flushes,
 * and how often CUPTI was asked for a record. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../sim/simcupti.h"

enum { kEveryNs = 5000, kTenth = 100000000, kBytes = 8 << 20, kRuntime = 5, kKernel = 10 };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void give(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = aligned_alloc(64, kBytes);
  *size = kBytes;
  *most = 0;
}

static void take(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  (void)context;
  (void)stream;
  (void)size;
  (void)valid;
  free(buffer);
}

static void record_barely(void* sim) {
  int (*registers)(__typeof__(&give), __typeof__(&take)) =
      (__typeof__(registers))dlsym(sim, "cuptiActivityRegisterCallbacks");
  int (*enable)(uint32_t) = (__typeof__(enable))dlsym(sim, "cuptiActivityEnable");
  registers(give, take);
  enable(kRuntime);
  enable(kKernel);
}

static int start_driver(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  int (*init)(unsigned) = driver == NULL ? NULL : (int (*)(unsigned))dlsym(driver, "cuInit");
  return init != NULL && init(0) == 0;
}

int main(int argc, char** argv) {
  if (argc < 3 || !start_driver()) return 9;
  void* sim = dlopen(getenv("BORESCOPE_CUPTI"), RTLD_NOW);
  if (sim == NULL) return 9;
  __typeof__(&simcupti_call) call = (__typeof__(call))dlsym(sim, "simcupti_call");
  __typeof__(&simcupti_kernel) kernel = (__typeof__(kernel))dlsym(sim, "simcupti_kernel");
  __typeof__(&simcupti_flushes) flushes = (__typeof__(flushes))dlsym(sim, "simcupti_flushes");
  __typeof__(&simcupti_reads) reads = (__typeof__(reads))dlsym(sim, "simcupti_reads");
  if (strcmp(argv[1], "bare") == 0) record_barely(sim);
  double best = 1e30, sum = 0;
  const int tenths = atoi(argv[2]) * 10;
  uint32_t correlation = 0;
  for (int i = 0; i < tenths; ++i) {
    const uint64_t begin = now();
    uint64_t inside = 0, launches = 0, next = begin;
    while (next < begin + kTenth) {
      const uint64_t start = now();
      call(kRuntime, 211, ++correlation, start, start + 100, 0);
      kernel(correlation, start + 200, start + 900, "_Z5emptyv");
      inside += now() - start;
      ++launches;
      for (next += kEveryNs; now() < next;) {
      }
    }
    const double each = (double)inside / (double)launches;
    sum += each;
    if (each < best) best = each;
  }
  printf("%.1f %.1f %ld %ld\n", best, sum / tenths, flushes(), reads());
  return 0;
}
