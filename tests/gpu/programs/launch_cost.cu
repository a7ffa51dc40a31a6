// launch_cost MODE N: the nanoseconds of a launch with CUPTI alone, which is asked for the same
// records as by `borescope record` and gives them to nobody. Prints how many came, and the
// nanoseconds last.
//
//   plain    without CUPTI
//   kernels  records of kernels
//   all      records of kernels, copies and sets, of all runtime calls, and of the driver's calls
//   that launch
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "launch_loop.h"

static std::atomic<long> records;

static uint64_t CUPTIAPI Clock() { return Now(); }

static void CUPTIAPI Give(uint8_t** buffer, size_t* size, size_t* most_records) {
  constexpr size_t kBytes = size_t{1} << 20;
  constexpr size_t kAlignment = 8;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
  *size = kBytes;
  *most_records = 0;
}

static void CUPTIAPI Take(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  long count = 0;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) ++count;
  records += count;
  std::free(buffer);
}

// Those calls alone, where CUPTI can choose (12.5 and later); else all.
static void EnableDriverCalls() {
  using Choose = CUptiResult (*)(CUpti_CallbackId, uint8_t);
  const auto choose = reinterpret_cast<Choose>(dlsym(RTLD_DEFAULT, "cuptiActivityEnableDriverApi"));
  if (choose == nullptr) {
    CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    return;
  }
  for (const CUpti_CallbackId call :
       {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async}) {
    choose(call, 1);
  }
}

static void Enable(bool has_calls) {
  CHECK(cuptiActivityRegisterTimestampCallback(Clock));
  CHECK(cuptiActivityRegisterCallbacks(Give, Take));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  if (!has_calls) return;
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
  EnableDriverCalls();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool is_plain = std::strcmp(argv[1], "plain") == 0;
  const int count = std::atoi(argv[2]);
  CHECK(cudaFree(nullptr));  // CUPTI works once the driver does
  if (!is_plain) Enable(std::strcmp(argv[1], "all") == 0);
  const double cost = LaunchCost(count);
  if (!is_plain) {
    CHECK(cuptiActivityFlushAll(0));
    if (records.load() < count) {
      std::fprintf(stderr, "only %ld records came of %d launches\n", records.load(), count);
      return 3;
    }
  }
  std::printf("records %ld ns %.1f\n", records.load(), cost);
  return 0;
}
