// launch_cost MODE N: the nanoseconds of a launch with CUPTI alone, which is asked for the same
// records as by `borescope record` and gives them to nobody. Prints how many came, and the
// nanoseconds last.
//
//   plain    without CUPTI
//   kernels  records of kernels
//   few      records of kernels, copies and sets, of all runtime calls, and of six of the driver's
//   all      what the recorder asks for: all its kinds, its choice of calls, its thread ids
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "../../../record/src/cuda/call_numbers.h"
#include "launch_loop.h"

namespace recorder = borescope::inject::cuda;

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

using Choose = CUptiResult (*)(CUpti_CallbackId, uint8_t);

// Nothing where CUPTI cannot choose calls (before 12.5).
static Choose Chooser(const char* name) {
  return reinterpret_cast<Choose>(dlsym(RTLD_DEFAULT, name));
}

template <size_t N>
static void EnableDriverCalls(const uint32_t (&calls)[N]) {
  const Choose choose = Chooser("cuptiActivityEnableDriverApi");
  if (choose == nullptr) {
    CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    return;
  }
  for (const uint32_t call : calls) choose(call, 1);
}

static void EnableFew() {
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
  EnableDriverCalls(
      {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
       CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
       CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async});
}

// As record/src/cuda/session.cc does, in its order.
static void EnableAll() {
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
        CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_OVERHEAD,
        CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM,
        CUPTI_ACTIVITY_KIND_RUNTIME}) {
    CHECK(cuptiActivityEnable(kind));
  }
  if (const Choose choose = Chooser("cuptiActivityEnableRuntimeApi")) {
    for (const uint32_t call : recorder::kRuntimeIdle) choose(call, 0);
  }
  EnableDriverCalls(recorder::kDriverLaunches);
  EnableDriverCalls(recorder::kDriverOrders);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);  // older versions have none
}

static void Enable(const char* mode) {
  using SetThreadIds = CUptiResult (*)(int);
  const auto set_ids = reinterpret_cast<SetThreadIds>(dlsym(RTLD_DEFAULT, "cuptiSetThreadIdType"));
  if (set_ids != nullptr) set_ids(1);  // of the system
  CHECK(cuptiActivityRegisterTimestampCallback(Clock));
  CHECK(cuptiActivityRegisterCallbacks(Give, Take));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  if (std::strcmp(mode, "few") == 0) EnableFew();
  if (std::strcmp(mode, "all") == 0) EnableAll();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool is_plain = std::strcmp(argv[1], "plain") == 0;
  const int count = std::atoi(argv[2]);
  CHECK(cudaFree(nullptr));  // CUPTI works once the driver does
  if (!is_plain) Enable(argv[1]);
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
