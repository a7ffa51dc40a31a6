// What an empty kernel costs its launching thread; the same loop with and without tools (work.cu,
// launch_cost.cu).
#pragma once

#include <cuda_runtime.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                          \
  do {                                                       \
    const int status = static_cast<int>(call);               \
    if (status != 0) {                                       \
      std::fprintf(stderr, "%s: error %d\n", #call, status); \
      std::exit(9);                                          \
    }                                                        \
  } while (false)

__global__ void Empty() {}

static uint64_t Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// Nanoseconds of a launch, of `count`. The first launches, which load modules, are not part of it.
static double LaunchCost(int count) {
  constexpr int kInFlight = 500;  // fewer than the driver's queue has places
  constexpr int kWarmUp = 2000;
  CHECK(cudaFree(nullptr));
  uint64_t begin = 0;
  for (int i = -kWarmUp; i < count; ++i) {
    if (i == 0) {
      CHECK(cudaDeviceSynchronize());
      begin = Now();
    }
    Empty<<<1, 1>>>();
    if (i % kInFlight == 0) CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaDeviceSynchronize());
  return static_cast<double>(Now() - begin) / count;
}
