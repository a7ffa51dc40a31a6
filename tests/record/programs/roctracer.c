// Plants calls and device work in a simulated HIP: roctracer HOW COUNT. HOW is how it ends: exit,
// _exit, kill (after a second), wait (by a signal once its input ends), flush (by a signal, after a
// flush of its own), killnow, fork (a child makes COUNT calls, too); or what is planted: range (all
// of it in a range "go", before and after which there is more), paused (the same, by starting and
// stopping), nested (calls within calls, up to COUNT deep), odd (records that say little or lie),
// threads (four of them).
// Prints the sum of what its kernels took, in ns.
#define _GNU_SOURCE
#include <borescope_record.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sim/simhip.h"

static const char* const kNames[] = {"_Z3addPfS_", "_Z3mulPfS_", "Cijk_Ailk_Bljk"};
static const uint32_t kLaunches[] = {kSimhipLaunchKernel, kSimhipModuleLaunchKernel,
                                     kSimhipExtModuleLaunchKernel};

// What the compiler makes of a program with kernels.
__attribute__((constructor)) static void register_kernels(void) {
  static const int kernels = 7;
  void** handle = __hipRegisterFatBinary(&kernels);
  if (handle == NULL || *handle != &kernels) abort();
}

static uint64_t plant_kernels(uint64_t count) {
  uint64_t total = 0;
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t correlation = simhip_launch(kLaunches[i % 3], (uint32_t)(i % 100 + 1));
    const uint64_t now = simhip_now();
    simhip_kernel(correlation, kNames[i % 3], now, now + i);
    total += i;
  }
  return total;
}

static void plant_copies(void) {
  static const uint32_t kinds[] = {0x11f3, 0x11f4, 0x11f5, 0x1201, 0x1202, 0x1203, 0x11f6};
  const uint64_t now = simhip_now();
  for (uint64_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    simhip_copy(simhip_plain_call(kSimhipMemcpyAsync), kinds[i], 4096 + i, now, now + 10 + i);
  }
  simhip_copy(simhip_plain_call(kSimhipMemsetAsync), 0x1207, 256, now, now + 5);
  simhip_plain_call(kSimhipGetDevice);
  simhip_plain_call(kSimhipPushCallConfiguration);
}

// In this order: without a call, without length, ended before it began, without a name, without
// times, of another device; a barrier, another domain, another kind of work. Then one in order.
static void plant_odd(void) {
  const uint64_t now = simhip_now();
  const uint64_t name = (uintptr_t)kNames[0];
  const struct simhip_record records[] = {
      {2, 0x11f0, 0, 0, now + 900, now + 950, 2, 5, name},
      {2, 0x11f0, 0, 1001, now + 500, now + 500, 2, 5, name},
      {2, 0x11f0, 0, 1002, now + 100, now + 50, 2, 5, name},
      {2, 0x11f0, 0, 1003, now, now + 50, 2, 5, 0},
      {2, 0x11f0, 0, 1004, 0, 0, 2, 5, name},
      {2, 0x11f1, 0, 1005, now, now + 50, 77, 5, name},
      {2, 0x11fe, 2, 1006, now, now + 50, 2, 5, 0},
      {1, 0x11f0, 0, 1007, now, now + 50, 2, 5, name},
      {3, 0, 41, 1008, now, now + 50, 2, 5, 0},
      {2, 0, 9, 1009, now, now + 50, 2, 5, 0},
      {2, 0x11f0, 0, (uint64_t)1 << 32 | 1010, now, now + 50, 2, 5, name},
  };
  for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); ++i) simhip_work(&records[i]);
}

static void plant_nested(int depth) {
  struct simhip_call call = {0, 0, {0}};
  simhip_begin(kSimhipStreamSynchronize, &call);
  if (depth > 1) plant_nested(depth - 1);
  simhip_end(kSimhipStreamSynchronize, &call);
}

static void* plant_in_thread(void* count) {
  plant_kernels(*(uint64_t*)count);
  return NULL;
}

static void plant_in_threads(uint64_t count) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, plant_in_thread, &count);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void plant_in_child(uint64_t count) {
  const pid_t child = fork();
  if (child == 0) {
    for (uint64_t i = 0; i < count; ++i) simhip_plain_call(kSimhipStreamSynchronize);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void plant_in_range(const char* how, uint64_t count) {
  const int is_range = strcmp(how, "range") == 0;
  plant_kernels(7);
  is_range ? borescope_record_push("go") : borescope_record_start();
  plant_kernels(count);
  borescope_record_flush();
  is_range ? borescope_record_pop() : borescope_record_stop();
  plant_kernels(7);
  usleep(300000); /* in which the collection follows */
  plant_kernels(7);
}

static int plant(const char* how, uint64_t count) {
  if (strcmp(how, "odd") == 0) return plant_odd(), 1;
  if (strcmp(how, "threads") == 0) return plant_in_threads(count), 1;
  if (strcmp(how, "range") == 0 || strcmp(how, "paused") == 0) {
    return plant_in_range(how, count), 1;
  }
  if (strcmp(how, "nested") == 0) {
    for (int depth = 1; depth <= (int)count; ++depth) plant_nested(depth);
    return 1;
  }
  return 0;
}

int main(int argument_count, char** words) {
  if (argument_count != 3) return 2;
  const char* how = words[1];
  const uint64_t count = strtoull(words[2], NULL, 10);
  uint64_t total = 0;
  if (!plant(how, count)) {
    total = plant_kernels(count);
    plant_copies();
  }
  if (strcmp(how, "fork") == 0) plant_in_child(count);
  printf("%llu\n", (unsigned long long)total);
  fflush(stdout);
  if (strcmp(how, "kill") == 0) sleep(1);
  if (strcmp(how, "wait") == 0) getchar();
  if (strcmp(how, "flush") == 0) borescope_record_flush();
  if (strcmp(how, "_exit") == 0) _exit(7);
  if (strcmp(how, "kill") == 0 || strcmp(how, "wait") == 0 || strcmp(how, "flush") == 0 ||
      strcmp(how, "killnow") == 0) {
    kill(getpid(), SIGKILL);
  }
  return 0;
}
