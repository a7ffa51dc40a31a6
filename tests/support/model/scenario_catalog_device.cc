// Device side of the catalog: kernels, copies and the machines they run on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "tests/support/model/scenario_catalog.h"

namespace borescope::scenario {
namespace {

using K = Kernel;

struct Row {
  Kernel id;
  const char* device_class;
  DeviceKind kind;
  Api api;
  int64_t usual_ns;
  int grid[3];
  int block[3];
  int registers;
  int shared_bytes;
};

constexpr DeviceKind kKernel = DeviceKind::kKernel;
constexpr Api kLaunch = Api::kLaunchKernel;
constexpr Api kLaunchGemm = Api::kLaunchGemm;
constexpr Api kMemcpyAsync = Api::kMemcpyAsync;

// In the order of `Kernel`.
constexpr Row kRows[] = {
    {K::kGemmForward, "gemm", kKernel, kLaunchGemm, 41000, {8, 32, 1}, {384, 1, 1}, 168, 213248},
    {K::kGemmWide, "gemm", kKernel, kLaunchGemm, 118000, {132, 1, 1}, {384, 1, 1}, 168, 232448},
    {K::kGemmDgrad, "gemm", kKernel, kLaunch, 52000, {8, 16, 1}, {256, 1, 1}, 234, 147456},
    {K::kGemmWgrad, "gemm", kKernel, kLaunch, 57000, {4, 8, 4}, {256, 1, 1}, 242, 98304},
    {K::kFlashForward, "attention", kKernel, kLaunch, 96000, {8, 4, 16}, {128, 1, 1}, 255, 49152},
    {K::kFlashBackwardDot, "attention", kKernel, kLaunch, 9000, {8, 4, 16}, {256, 1, 1}, 64, 0},
    {K::kFlashBackward,
     "attention",
     kKernel,
     kLaunch,
     231000,
     {8, 4, 16},
     {256, 1, 1},
     255,
     147456},
    {K::kLayerNorm, "norm", kKernel, kLaunch, 12500, {4096, 1, 1}, {32, 4, 1}, 32, 24},
    {K::kLayerNormBackward, "norm", kKernel, kLaunch, 16800, {4096, 1, 1}, {512, 1, 1}, 40, 128},
    {K::kLayerNormGamma, "norm", kKernel, kLaunch, 21500, {32, 1, 1}, {32, 32, 1}, 56, 8448},
    {K::kGelu, "pointwise", kKernel, kLaunch, 24500, {8192, 1, 1}, {128, 1, 1}, 32, 0},
    {K::kGeluBackward, "pointwise", kKernel, kLaunch, 33500, {8192, 1, 1}, {128, 1, 1}, 38, 0},
    {K::kAdd, "pointwise", kKernel, kLaunch, 9700, {2048, 1, 1}, {128, 1, 1}, 28, 0},
    {K::kDiv, "pointwise", kKernel, kLaunch, 1900, {1, 1, 1}, {128, 1, 1}, 16, 0},
    {K::kAccumulate, "pointwise", kKernel, kLaunch, 7300, {1024, 1, 1}, {128, 1, 1}, 24, 0},
    {K::kEmbedding, "embedding", kKernel, kLaunch, 14200, {4096, 1, 1}, {128, 1, 1}, 32, 0},
    {K::kEmbeddingBackward, "embedding", kKernel, kLaunch, 38500, {1024, 8, 1}, {32, 4, 1}, 40, 0},
    {K::kLogSoftmax, "softmax", kKernel, kLaunch, 171000, {4096, 1, 1}, {1024, 1, 1}, 32, 4096},
    {K::kLogSoftmaxBackward,
     "softmax",
     kKernel,
     kLaunch,
     248000,
     {4096, 1, 1},
     {1024, 1, 1},
     32,
     4096},
    {K::kNll, "loss", kKernel, kLaunch, 6900, {1, 1, 1}, {32, 1, 1}, 38, 128},
    {K::kNllBackward, "loss", kKernel, kLaunch, 5200, {1, 1, 1}, {32, 1, 1}, 26, 0},
    {K::kSum, "reduction", kKernel, kLaunch, 15600, {32, 8, 1}, {32, 4, 1}, 48, 16},
    {K::kNorm, "reduction", kKernel, kLaunch, 4100, {1, 1, 1}, {64, 1, 1}, 32, 16},
    {K::kAdam, "optimizer", kKernel, kLaunch, 87000, {320, 1, 1}, {512, 1, 1}, 64, 0},
    {K::kAllReduce,
     "collective",
     kKernel,
     Api::kLaunchCooperative,
     0,
     {24, 1, 1},
     {512, 1, 1},
     96,
     84048},
    // HIP has no memset records: a kernel fills the buffer.
    {K::kMemset,
     "copy",
     DeviceKind::kMemset,
     Api::kMemsetAsync,
     0,
     {1024, 1, 1},
     {256, 1, 1},
     0,
     0},
    {K::kMemcpyHtoD, "copy", DeviceKind::kMemcpy, kMemcpyAsync, 0, {}, {}, 0, 0},
    {K::kMemcpyDtoH, "copy", DeviceKind::kMemcpy, kMemcpyAsync, 0, {}, {}, 0, 0},
    {K::kMemcpyDtoD, "copy", DeviceKind::kMemcpy, kMemcpyAsync, 0, {}, {}, 0, 0},
};

constexpr int kCudaMultiprocessors = 132;

constexpr bool RowsMatchEnum() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<size_t>(kRows[i].id) != i) return false;
  }
  return std::size(kRows) == static_cast<size_t>(Kernel::kCount);
}
static_assert(RowsMatchEnum(), "the rows must stand in the order of Kernel");

std::string Triple(const int (&v)[3]) { return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]); }

int Product(const int (&v)[3]) { return v[0] * v[1] * v[2]; }

// How many blocks fit on one multiprocessor, by registers, shared memory and threads.
int ActiveBlocks(const Row& row) {
  const int threads = Product(row.block);
  const int by_registers = 65536 / std::max(1, row.registers * threads);
  const int by_shared = row.shared_bytes == 0 ? 32 : 233472 / row.shared_bytes;
  return std::max(1, std::min({by_registers, by_shared, 2048 / threads, 32}));
}

std::vector<StaticArg> CudaKernelArgs(const Row& row) {
  const float blocks = static_cast<float>(Product(row.grid)) / kCudaMultiprocessors;
  const int threads = Product(row.block);
  const float active = std::min(blocks, static_cast<float>(ActiveBlocks(row)));
  const long occupancy = std::lround(active * static_cast<float>(threads) / 2048 * 100);
  return {
      {"registers per thread", fmt::to_string(row.registers), true},
      {"shared memory", fmt::to_string(row.shared_bytes), true},
      {"blocks per SM", fmt::format("{:.6f}", blocks), true},
      {"warps per SM", fmt::format("{:.6f}", blocks * static_cast<float>(threads) / 32), true},
      {"grid", Triple(row.grid), true},
      {"block", Triple(row.block), true},
      {"est. achieved occupancy %", fmt::to_string(std::min(100L, occupancy)), true},
  };
}

// AMD counts work-items on dispatches.
std::string WorkItems(const Row& row) {
  return fmt::format("[{}, {}, {}]", row.grid[0] * row.block[0], row.grid[1] * row.block[1],
                     row.grid[2] * row.block[2]);
}

void AddHipArgs(const Row& row, KernelInfo* info) {
  if (row.kind == DeviceKind::kMemcpy) {
    const std::string direction = info->name.substr(7, 4);
    info->device_args = {{"kind", "\"" + direction + "\"", true}};
    return;
  }
  info->device_args = {{"kind", R"("Dispatch Kernel")", true},
                       {"grid", WorkItems(row), true},
                       {"block", Triple(row.block), true}};
  info->host_args = {{"kernel", "\"" + info->name + "\"", true},
                     {"grid", Triple(row.grid), true},
                     {"block", Triple(row.block), true},
                     {"shared memory", fmt::to_string(row.shared_bytes), true}};
}

KernelInfo MakeInfo(Vendor vendor, const Row& row) {
  KernelInfo info{.name = KernelName(vendor, row.id),
                  .device_class = row.device_class,
                  .kind = row.kind,
                  .api = row.api,
                  .usual_ns = row.usual_ns,
                  .device_args = {},
                  .host_args = {}};
  if (vendor == Vendor::kNvidia) {
    if (row.kind == DeviceKind::kKernel) info.device_args = CudaKernelArgs(row);
    return info;
  }
  if (row.kind == DeviceKind::kMemset) info.kind = DeviceKind::kKernel;
  AddHipArgs(row, &info);
  return info;
}

}  // namespace

KernelCatalog::KernelCatalog(Vendor vendor) {
  for (const Row& row : kRows) infos_.push_back(MakeInfo(vendor, row));
}

std::vector<std::string> DeviceProperties(Vendor vendor) {
  constexpr std::string_view kCuda =
      R"({{"id": {}, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85018279936, )"
      R"("computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024, )"
      R"("maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, )"
      R"("sharedMemPerBlock": 49152, "numSms": 132, "regsPerMultiprocessor": 65536, )"
      R"("sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}})";
  constexpr std::string_view kHip =
      R"({{"id": {}, "name": "AMD Instinct MI300X", "totalGlobalMem": 206141652992, )"
      R"("computeMajor": 9, "computeMinor": 4, "maxThreadsPerBlock": 1024, )"
      R"("maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 131072, "warpSize": 64, )"
      R"("sharedMemPerBlock": 65536, "numSms": 304, "maxSharedMemoryPerMultiProcessor": 65536}})";
  constexpr int kDevices = 8;
  std::vector<std::string> devices;
  devices.reserve(kDevices);
  for (int id = 0; id < kDevices; ++id) {
    devices.push_back(vendor == Vendor::kNvidia ? fmt::format(kCuda, id) : fmt::format(kHip, id));
  }
  return devices;
}

}  // namespace borescope::scenario
