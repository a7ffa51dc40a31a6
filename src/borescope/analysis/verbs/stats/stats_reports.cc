#include "borescope/analysis/verbs/stats/stats_reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

namespace borescope::internal {
namespace {

// Measure 0 in nanoseconds by one name.
constexpr StatColumn kInstancesByName[] = {
    {"Time (%)", Stat::kShare}, {"Total Time (ns)", Stat::kTotal}, {"Instances", Stat::kCount},
    {"Avg (ns)", Stat::kMean},  {"Med (ns)", Stat::kMedian},       {"Min (ns)", Stat::kMin},
    {"Max (ns)", Stat::kMax},   {"StdDev (ns)", Stat::kStdDev},    {"Name", Stat::kKey},
};
constexpr StatColumn kCallsByName[] = {
    {"Time (%)", Stat::kShare}, {"Total Time (ns)", Stat::kTotal}, {"Num Calls", Stat::kCount},
    {"Avg (ns)", Stat::kMean},  {"Med (ns)", Stat::kMedian},       {"Min (ns)", Stat::kMin},
    {"Max (ns)", Stat::kMax},   {"StdDev (ns)", Stat::kStdDev},    {"Name", Stat::kKey},
};
constexpr StatColumn kTimesByOperation[] = {
    {"Time (%)", Stat::kShare}, {"Total Time (ns)", Stat::kTotal}, {"Count", Stat::kCount},
    {"Avg (ns)", Stat::kMean},  {"Med (ns)", Stat::kMedian},       {"Min (ns)", Stat::kMin},
    {"Max (ns)", Stat::kMax},   {"StdDev (ns)", Stat::kStdDev},    {"Operation", Stat::kKey},
};
constexpr StatColumn kSizesByOperation[] = {
    {"Total (MB)", Stat::kTotal, 0, kMegabyte},   {"Count", Stat::kCount},
    {"Avg (MB)", Stat::kMean, 0, kMegabyte},      {"Med (MB)", Stat::kMedian, 0, kMegabyte},
    {"Min (MB)", Stat::kMin, 0, kMegabyte},       {"Max (MB)", Stat::kMax, 0, kMegabyte},
    {"StdDev (MB)", Stat::kStdDev, 0, kMegabyte}, {"Operation", Stat::kKey},
};
// Measures: total, API call, queue, kernel.
constexpr StatColumn kExecution[] = {
    {"PID", Stat::kKey},
    {"TID", Stat::kKey},
    {"DevId", Stat::kKey},
    {"Count", Stat::kCount, 0},
    {"QCount", Stat::kCount, 2},
    {"TAvg (ns)", Stat::kMean, 0},
    {"TMed (ns)", Stat::kMedian, 0},
    {"TMin (ns)", Stat::kMin, 0},
    {"TMax (ns)", Stat::kMax, 0},
    {"TStdDev (ns)", Stat::kStdDev, 0},
    {"AAvg (ns)", Stat::kMean, 1},
    {"AMed (ns)", Stat::kMedian, 1},
    {"AMin (ns)", Stat::kMin, 1},
    {"AMax (ns)", Stat::kMax, 1},
    {"AStdDev (ns)", Stat::kStdDev, 1},
    {"QAvg (ns)", Stat::kMean, 2},
    {"QMed (ns)", Stat::kMedian, 2},
    {"QMin (ns)", Stat::kMin, 2},
    {"QMax (ns)", Stat::kMax, 2},
    {"QStdDev (ns)", Stat::kStdDev, 2},
    {"KAvg (ns)", Stat::kMean, 3},
    {"KMed (ns)", Stat::kMedian, 3},
    {"KMin (ns)", Stat::kMin, 3},
    {"KMax (ns)", Stat::kMax, 3},
    {"KStdDev (ns)", Stat::kStdDev, 3},
    {"API Name", Stat::kKey},
    {"Kernel Name", Stat::kKey},
};
constexpr StatColumn kRanges[] = {
    {"Time (%)", Stat::kShare}, {"Total Time (ns)", Stat::kTotal}, {"Instances", Stat::kCount},
    {"Avg (ns)", Stat::kMean},  {"Med (ns)", Stat::kMedian},       {"Min (ns)", Stat::kMin},
    {"Max (ns)", Stat::kMax},   {"StdDev (ns)", Stat::kStdDev},    {"Style", Stat::kKey},
    {"Range", Stat::kKey},
};
// Measures: projected time, time of the range, operations, level, children.
constexpr StatColumn kProjections[] = {
    {"Range", Stat::kKey},
    {"Style", Stat::kKey},
    {"Total Proj Time (ns)", Stat::kTotal, 0},
    {"Total Range Time (ns)", Stat::kTotal, 1},
    {"Range Instances", Stat::kCount, 0},
    {"Proj Avg (ns)", Stat::kMean, 0},
    {"Proj Med (ns)", Stat::kMedian, 0},
    {"Proj Min (ns)", Stat::kMin, 0},
    {"Proj Max (ns)", Stat::kMax, 0},
    {"Proj StdDev (ns)", Stat::kStdDev, 0},
    {"Total GPU Ops", Stat::kTotal, 2},
    {"Avg GPU Ops", Stat::kMean, 2},
    {"Avg Range Lvl", Stat::kMean, 3},
    {"Avg Num Child", Stat::kMean, 4},
};
// Measures: time of the kernels, ranges that launched any.
constexpr StatColumn kRangeKernels[] = {
    {"NVTX Range", Stat::kKey},
    {"Style", Stat::kKey},
    {"PID", Stat::kKey},
    {"TID", Stat::kKey},
    {"NVTX Inst", Stat::kCount, 1},
    {"Kern Inst", Stat::kCount, 0},
    {"Total Time (ns)", Stat::kTotal, 0},
    {"Avg (ns)", Stat::kMean, 0},
    {"Med (ns)", Stat::kMedian, 0},
    {"Min (ns)", Stat::kMin, 0},
    {"Max (ns)", Stat::kMax, 0},
    {"StdDev (ns)", Stat::kStdDev, 0},
    {"Kernel Name", Stat::kKey},
};

constexpr StatsReport kReports[] = {
    {"cuda_api_sum", "Calls of the runtime and driver", CollectApiCalls, kCallsByName},
    {"cuda_gpu_kern_sum", "Kernels", CollectKernels, kInstancesByName},
    {"cuda_gpu_mem_size_sum", "Bytes of memcpys and memsets", CollectCopySizes, kSizesByOperation},
    {"cuda_gpu_mem_time_sum", "Time of memcpys and memsets", CollectCopyTimes, kTimesByOperation},
    {"cuda_gpu_trace", "Kernels, memcpys and memsets by start", CollectTrace, {}},
    {"cuda_kern_exec_sum", "Kernels from call to end", CollectKernelLaunches, kExecution},
    {"nvtx_gpu_proj_sum", "Ranges as their device work runs", CollectRangeProjections,
     kProjections},
    {"nvtx_kern_sum", "Kernels by the ranges that launched them", CollectRangeKernels,
     kRangeKernels},
    {"nvtx_sum", "Ranges on the host", CollectRanges, kRanges},
    {"osrt_sum", "Calls of the operating system", CollectOsCalls, kCallsByName},
};

Error UnknownReport(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(std::size(kReports));
  for (const StatsReport& report : kReports) {
    names.push_back(report.name);
  }
  return {
      ErrorCode::kInvalidArgument,
      fmt::format("stats: unknown report '{}'; reports are all, {}", name, fmt::join(names, ", "))};
}

}  // namespace

std::span<const StatsReport> StatsReports() { return kReports; }

Result<std::vector<const StatsReport*>> FindStatsReports(std::string_view list) {
  std::vector<const StatsReport*> found;
  for (bool is_last = false; !is_last;) {
    const size_t comma = list.find(',');
    is_last = comma == std::string_view::npos;
    const std::string_view name = list.substr(0, comma);
    list.remove_prefix(is_last ? list.size() : comma + 1);
    bool is_known = false;
    for (const StatsReport& report : kReports) {
      if (name != report.name && name != "all") {
        continue;
      }
      is_known = true;
      if (std::find(found.begin(), found.end(), &report) == found.end()) {
        found.push_back(&report);
      }
    }
    if (!is_known) {
      return UnknownReport(name);
    }
  }
  return found;
}

}  // namespace borescope::internal
