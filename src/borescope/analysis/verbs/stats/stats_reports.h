// The reports of `stats`: what `nsys stats` prints, with its column names, of any input. One row
// each; a report is found by its name in nsys.
//
//   stats_calls.cc   kernels, calls of the driver and runtime, calls of the operating system
//   stats_memory.cc  memcpys and memsets
//   stats_trace.cc   one row for each piece of device work
//   stats_nvtx.cc    ranges of the program, on the host and on the device
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/stats/stats_samples.h"

namespace borescope::internal {

inline constexpr double kMegabyte = 1e6;  // as nsys counts

struct StatsReport {
  std::string_view name;     // "cuda_gpu_kern_sum"
  std::string_view summary;  // the title of its table
  // One rank: samples by key, or finished rows whose first column is `rank`. Takes the empty table.
  Table (*collect)(Table table, const RankView& view, const Selected& selected);
  std::span<const StatColumn> columns;  // of the report; none: rows are finished
};

std::span<const StatsReport> StatsReports();

// The reports that a list with commas names, in its order, each once; "all" names every one.
// kInvalidArgument, listing the known ones, when one is unknown or none is named.
Result<std::vector<const StatsReport*>> FindStatsReports(std::string_view list);

// What each report collects (StatsReport::collect).
Table CollectKernels(Table table, const RankView& view, const Selected& selected);
Table CollectApiCalls(Table table, const RankView& view, const Selected& selected);
Table CollectOsCalls(Table table, const RankView& view, const Selected& selected);
Table CollectKernelLaunches(Table table, const RankView& view, const Selected& selected);
Table CollectCopyTimes(Table table, const RankView& view, const Selected& selected);
Table CollectCopySizes(Table table, const RankView& view, const Selected& selected);
Table CollectTrace(Table table, const RankView& view, const Selected& selected);
Table CollectRanges(Table table, const RankView& view, const Selected& selected);
Table CollectRangeProjections(Table table, const RankView& view, const Selected& selected);
Table CollectRangeKernels(Table table, const RankView& view, const Selected& selected);

// "[CUDA memcpy Host-to-Device]": how nsys names a copy, whatever the vendor. REQUIRES: `id` is a
// memcpy or memset.
std::string_view NsysCopyName(const RankView& view, DeviceId id);

}  // namespace borescope::internal
