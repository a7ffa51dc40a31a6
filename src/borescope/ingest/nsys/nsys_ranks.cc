#include "borescope/ingest/nsys/nsys_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "borescope/base/sqlite/sqlite.h"

namespace borescope::internal {
namespace {

Result<bool> Has(SqlDatabase& database, std::string_view table, std::string_view column) {
  BS_ASSIGN(const std::vector<std::string> columns, database.Columns(table));
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";

// The column with the name of a kernel; exports do not have all of them.
Result<std::string_view> NameColumn(SqlDatabase& database) {
  for (const std::string_view name : {"shortName", "demangledName"}) {
    BS_ASSIGN(const bool has_name, Has(database, kKernels, name));
    if (has_name) {
      return name;
    }
  }
  return std::string_view();
}

// How many processes the first of the tables of contexts that has rows names; 0 if there is none.
// O(contexts).
Result<int64_t> ProcessesWithContext(SqlDatabase& database) {
  for (const std::string_view table : {"TARGET_INFO_CUDA_CONTEXT_INFO",
                                       "TARGET_INFO_CUDA_NULL_STREAM", "TARGET_INFO_CUDA_STREAM"}) {
    BS_ASSIGN(const bool has_process, Has(database, table, "processId"));
    if (!has_process) {
      continue;
    }
    BS_ASSIGN(SqlStatement count,
              database.Prepare(fmt::format("SELECT COUNT(DISTINCT processId) FROM {}", table)));
    BS_ASSIGN(const bool is_row, count.Step());
    if (is_row && count.Integer(0) > 0) {
      return count.Integer(0);
    }
  }
  return 0;
}

// Whether more than one process ran kernels. O(contexts) where the export says which processes have
// a context, else one walk over the kernels.
Result<bool> HasSeveralProcesses(SqlDatabase& database) {
  BS_ASSIGN(const int64_t with_context, ProcessesWithContext(database));
  if (with_context > 0) {
    return with_context > 1;
  }
  BS_ASSIGN(SqlStatement other,
            database.Prepare(fmt::format("SELECT 1 FROM {0} WHERE globalPid <> (SELECT globalPid "
                                         "FROM {0} WHERE globalPid IS NOT NULL LIMIT 1) LIMIT 1",
                                         kKernels)));
  return other.Step();
}

// The GPU of each device of each process: with CUDA_VISIBLE_DEVICES all may be number 0.
using Gpus = std::map<std::pair<int64_t, int64_t>, int64_t>;

Result<Gpus> ReadGpus(SqlDatabase& database) {
  Gpus gpus;
  BS_ASSIGN(const bool has_gpus, Has(database, "TARGET_INFO_CUDA_DEVICE", "pid"));
  if (!has_gpus) {
    return gpus;
  }
  BS_ASSIGN(SqlStatement rows,
            database.Prepare("SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE"));
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Step());
    if (!is_row) {
      return gpus;
    }
    gpus[{rows.Integer(0), rows.Integer(1)}] = rows.Integer(2);
  }
}

// The GPU on which a process runs most of its kernels.
struct MainGpu {
  int64_t gpu = 0;
  int64_t kernels = 0;
  bool has_nccl = false;
};

Result<std::map<int64_t, MainGpu>> ReadMainGpus(SqlDatabase& database,
                                                std::string_view name_column) {
  BS_ASSIGN(const Gpus gpus, ReadGpus(database));
  BS_ASSIGN(
      SqlStatement rows,
      database.Prepare(fmt::format(
          "SELECT (globalPid >> 24) & 16777215, deviceId, COUNT(*), SUM({} IN (SELECT id FROM "
          "StringIds WHERE value LIKE 'nccl%')) FROM {} GROUP BY 1, 2 ORDER BY 1, 2",
          name_column, kKernels)));
  std::map<int64_t, MainGpu> processes;
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Step());
    if (!is_row) {
      return processes;
    }
    MainGpu& main = processes[rows.Integer(0)];
    const auto gpu = gpus.find({rows.Integer(0), rows.Integer(1)});
    if (rows.Integer(2) > main.kernels) {
      main.gpu = gpu == gpus.end() ? rows.Integer(1) : gpu->second;
      main.kernels = rows.Integer(2);
    }
    main.has_nccl |= rows.Integer(3) > 0;
  }
}

Result<NsysRanks> ReadRanks(const std::string& path) {
  BS_ASSIGN(SqlDatabase database, SqlDatabase::OpenRead(path));
  NsysRanks ranks;
  BS_ASSIGN(const bool has_process, Has(database, kKernels, "globalPid"));
  BS_ASSIGN(const bool has_device, Has(database, kKernels, "deviceId"));
  BS_ASSIGN(const bool has_strings, Has(database, "StringIds", "value"));
  BS_ASSIGN(const std::string_view name_column, NameColumn(database));
  if (!has_process || !has_device || !has_strings || name_column.empty()) {
    return ranks;
  }
  BS_ASSIGN(const bool has_several, HasSeveralProcesses(database));
  if (!has_several) {
    return ranks;
  }
  BS_ASSIGN(const auto processes, ReadMainGpus(database, name_column));
  std::vector<std::pair<int64_t, int64_t>> by_gpu;
  std::set<int64_t> gpus;
  for (const auto& [process, main] : processes) {
    if (main.has_nccl) {
      by_gpu.emplace_back(main.gpu, process);
      gpus.insert(main.gpu);
    }
  }
  if (by_gpu.size() < 2) {
    return ranks;
  }
  constexpr size_t kMostRanks = 64;  // the file is read once for each
  if (gpus.size() != by_gpu.size() || gpus.size() > kMostRanks) {
    ranks.refusal = fmt::format(
        "{} processes with kernels of NCCL use {} between them, which does not show which ranks "
        "they are; record each rank into a file of its own, as torchrun ... --no-python nsys "
        "profile -o rank%q{{RANK}} does",
        by_gpu.size(), gpus.size() == 1 ? "one GPU" : fmt::format("{} GPUs", gpus.size()));
    return ranks;
  }
  std::sort(by_gpu.begin(), by_gpu.end());
  for (const auto& [gpu, process] : by_gpu) {
    ranks.processes.push_back(process);
  }
  return ranks;
}

}  // namespace

// Damage to the file is reported when it is loaded.
Result<NsysRanks> FindNsysRanks(const std::string& path) {
  Result<NsysRanks> ranks = ReadRanks(path);
  return ranks.ok() || ranks.error().code == ErrorCode::kIo ? std::move(ranks) : NsysRanks();
}

}  // namespace borescope::internal
