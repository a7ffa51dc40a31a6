#include "borescope/ingest/nsys/nsys_meta.h"

#include <algorithm>

#include "borescope/ingest/cupti/cupti_strings.h"

namespace borescope::internal {
namespace {

constexpr int64_t kMostWarps = 1 << 16;
constexpr size_t kMostDevices = 1024;

enum DeviceColumn : uint8_t {
  kId,
  kCudaId,
  kName,
  kMemory,
  kProcessors,
  kMajor,
  kMinor,
  kWarps,
  kWarpSize
};
constexpr std::string_view kDeviceColumns[] = {"id",           "cuDevice",      "name",
                                               "totalMemory",  "smCount",       "computeMajor",
                                               "computeMinor", "maxWarpsPerSm", "threadsPerWarp"};

// The numbers by which CUDA knows the GPUs of the machine.
using CudaIds = std::vector<std::pair<int64_t, int64_t>>;  // (GPU, CUDA device)

Result<CudaIds> ReadCudaIds(const DatabaseInput& input, Diagnostics& diagnostics) {
  constexpr std::string_view kColumns[] = {"gpuId", "cudaId"};
  CudaIds ids;
  for (const std::string_view table : {"TARGET_INFO_CUDA_DEVICE", "TARGET_INFO_CUDA_GPU"}) {
    BS_ASSIGN(TableRows rows, TableRows::Open(input, table, kColumns, diagnostics));
    while (true) {
      BS_ASSIGN(const bool is_row, rows.Next());
      if (!is_row || ids.size() == kMostDevices) {
        break;
      }
      ids.emplace_back(rows.Integer(0), rows.Integer(1));
    }
  }
  return ids;
}

DeviceInfo DeviceOf(TableRows& row, const CudaIds& ids) {
  DeviceInfo device;
  const int64_t gpu = row.Integer(kId);
  const auto known =
      std::find_if(ids.begin(), ids.end(), [gpu](const auto& pair) { return pair.first == gpu; });
  const int64_t cuda = known != ids.end() ? known->second : row.Integer(kCudaId);
  device.id = cuda != kMissing && cuda >= 0 ? cuda : gpu;
  device.name = row.Text(kName);
  device.total_bytes = row.Integer(kMemory);
  device.multiprocessors = row.Integer(kProcessors);
  device.compute_major = row.Integer(kMajor);
  device.compute_minor = row.Integer(kMinor);
  device.warp_size = row.Integer(kWarpSize);
  const int64_t warps = row.Integer(kWarps);
  if (warps > 0 && warps < kMostWarps) {
    const bool has_size = device.warp_size > 0 && device.warp_size < kMostWarps;
    device.max_threads_per_multiprocessor = warps * (has_size ? device.warp_size : 32);
  }
  return device;
}

Result<void> ReadDevices(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics) {
  BS_ASSIGN(const CudaIds ids, ReadCudaIds(input, diagnostics));
  BS_ASSIGN(TableRows rows, TableRows::Open(input, "TARGET_INFO_GPU", kDeviceColumns, diagnostics));
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Next());
    if (!is_row || meta.devices.size() == kMostDevices) {
      break;
    }
    meta.devices.push_back(DeviceOf(rows, ids));
  }
  std::stable_sort(meta.devices.begin(), meta.devices.end(),
                   [](const DeviceInfo& a, const DeviceInfo& b) { return a.id < b.id; });
  return {};
}

// Times of events count from the start of the session.
Result<void> ReadStartTime(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics) {
  constexpr int64_t kLatest = int64_t{1} << 61;
  constexpr std::string_view kColumns[] = {"utcEpochNs"};
  BS_ASSIGN(TableRows rows,
            TableRows::Open(input, "TARGET_INFO_SESSION_START_TIME", kColumns, diagnostics));
  BS_ASSIGN(const bool is_row, rows.Next());
  const int64_t start = is_row ? rows.Integer(0) : kMissing;
  if (start > 0 && start < kLatest) {
    meta.base_ns = start;
  }
  return {};
}

// "Nsight Systems 2024.5.1 (export schema 3.13.2)", as far as recorded.
Result<void> ReadProducer(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics) {
  constexpr std::string_view kColumns[] = {"name", "value"};
  constexpr size_t kLongestVersion = 64;
  BS_ASSIGN(TableRows rows, TableRows::Open(input, "META_DATA_EXPORT", kColumns, diagnostics));
  std::string product;
  std::string schema;
  BS_TRY(rows.ForEach([&] {
    const std::string_view name = rows.Text(0);
    const std::string_view value = rows.Text(1).substr(0, kLongestVersion);
    if (name == "EXPORT_PRODUCT_VERSION" || name == "NSIGHT_SYSTEMS_VERSION") {
      product = value;
    } else if (name == "EXPORT_SCHEMA_VERSION") {
      schema = value;
    }
  }));
  meta.producer = "Nsight Systems";
  meta.producer += product.empty() ? "" : " " + product;
  meta.producer += schema.empty() ? "" : " (export schema " + schema + ")";
  return {};
}

}  // namespace

Result<void> ReadNsysMeta(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics) {
  meta.vendor = Vendor::kNvidia;
  BS_TRY(ReadProducer(input, meta, diagnostics));
  BS_TRY(ReadStartTime(input, meta, diagnostics));
  return ReadDevices(input, meta, diagnostics);
}

}  // namespace borescope::internal
