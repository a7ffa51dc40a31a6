// work HOW ...: device work of known numbers and times, for tests/gpu/run.py.
//
//   saxpy N THREADS     each thread launches N kernels by the runtime; prints "tid T" of each. One
//   copy
//                       of 4 MiB to the device and one back
//   driver N THREADS    the same by cuLaunchKernel
//   spin US N           N kernels, each of which spins for US microseconds; then a synchronisation
//   steady SECONDS HZ   a kernel HZ times a second
//   rate HZ FILE        the same until it is killed; counts launches in FILE, after which comes its
//   pid end N HOW           N kernels, and after a pause an end: term, _exit, segv, abort empty N
//   prints the nanoseconds of a launch graph NODES RUNS    a graph of NODES kernels, RUNS times
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "launch_loop.h"

constexpr int kFloats = 1 << 20;

__global__ void Saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__device__ unsigned long long GlobalTime() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void Spin(unsigned long long ns) {
  const unsigned long long begin = GlobalTime();
  while (GlobalTime() - begin < ns) {
  }
}

// By dlsym, so that nothing has to be linked with: wheels of CUDA hold no libcuda.
static decltype(&cuLaunchKernel) FindDriverLaunch() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = driver == nullptr ? nullptr : dlsym(driver, "cuLaunchKernel");
  if (found == nullptr) {
    std::fprintf(stderr, "libcuda.so.1 has no cuLaunchKernel\n");
    std::exit(9);
  }
  return reinterpret_cast<decltype(&cuLaunchKernel)>(found);
}

static void Launch(bool by_driver, const float* x, float* y) {
  constexpr unsigned kThreads = 256;
  constexpr unsigned kBlocks = kFloats / kThreads;
  if (!by_driver) {
    Saxpy<<<kBlocks, kThreads>>>(kFloats, 2.0f, x, y);
    return;
  }
  static CUfunction function = nullptr;
  if (function == nullptr) {
    CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(Saxpy)));
  }
  int n = kFloats;
  float a = 2.0f;
  void* arguments[] = {&n, &a, &x, &y};
  static const auto launch = FindDriverLaunch();
  CHECK(launch(function, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
}

static int RunSaxpy(int count, int threads, bool by_driver) {
  std::vector<float> host(kFloats, 1.0f);
  float* x = nullptr;
  float* y = nullptr;
  CHECK(cudaMalloc(&x, kFloats * sizeof(float)));
  CHECK(cudaMalloc(&y, kFloats * sizeof(float)));
  CHECK(cudaMemcpy(x, host.data(), kFloats * sizeof(float), cudaMemcpyHostToDevice));
  const auto work = [&] {
    for (int i = 0; i < count; ++i) Launch(by_driver, x, y);
    CHECK(cudaGetLastError());
    std::printf("tid %ld\n", static_cast<long>(syscall(SYS_gettid)));
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(host.data(), y, kFloats * sizeof(float), cudaMemcpyDeviceToHost));
  return 0;
}

static int RunSpin(unsigned long long microseconds, int count) {
  for (int i = 0; i < count; ++i) Spin<<<1, 1>>>(1000 * microseconds);
  CHECK(cudaDeviceSynchronize());
  return 0;
}

static void SleepUntil(uint64_t ns) {
  const timespec time{static_cast<time_t>(ns / 1'000'000'000),
                      static_cast<long>(ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

// Without an end where `until` is 0. `finished` counts launches that have returned.
static void RunSteadily(uint64_t until, uint64_t hertz, volatile uint64_t* finished) {
  for (uint64_t next = Now(); until == 0 || next < until; next += 1'000'000'000 / hertz) {
    SleepUntil(next);
    Spin<<<1, 1>>>(2000);
    *finished = *finished + 1;
  }
  CHECK(cudaDeviceSynchronize());
}

static int RunUntilKilled(uint64_t hertz, const char* path) {
  const int file = open(path, O_RDWR);
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 8;
  auto* const words = static_cast<volatile uint64_t*>(memory);
  CHECK(cudaFree(nullptr));
  words[1] = static_cast<uint64_t>(getpid());
  RunSteadily(0, hertz, words);
  return 0;
}

static int RunEnd(int count, const char* how) {
  for (int i = 0; i < count; ++i) Empty<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  usleep(400'000);  // several times of fetching
  if (std::strcmp(how, "term") == 0) raise(SIGTERM);
  if (std::strcmp(how, "_exit") == 0) _exit(7);
  if (std::strcmp(how, "segv") == 0) raise(SIGSEGV);
  std::abort();
}

static int RunEmpty(int count) {
  std::printf("%.1f\n", LaunchCost(count));
  return 0;
}

static int RunGraph(int nodes, int runs) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i) Empty<<<1, 1, 0, stream>>>();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int i = 0; i < runs; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const how = argv[1];
  const int first = std::atoi(argv[2]);
  const int second = argc > 3 ? std::atoi(argv[3]) : 1;
  if (std::strcmp(how, "saxpy") == 0) return RunSaxpy(first, second, false);
  if (std::strcmp(how, "driver") == 0) return RunSaxpy(first, second, true);
  if (std::strcmp(how, "spin") == 0) return RunSpin(static_cast<unsigned long long>(first), second);
  if (std::strcmp(how, "rate") == 0) return RunUntilKilled(static_cast<uint64_t>(first), argv[3]);
  if (std::strcmp(how, "end") == 0) return RunEnd(first, argv[3]);
  if (std::strcmp(how, "empty") == 0) return RunEmpty(first);
  if (std::strcmp(how, "graph") == 0) return RunGraph(first, second);
  if (std::strcmp(how, "steady") != 0) return 2;
  uint64_t finished = 0;
  RunSteadily(Now() + static_cast<uint64_t>(first) * 1'000'000'000, static_cast<uint64_t>(second),
              &finished);
  return 0;
}
