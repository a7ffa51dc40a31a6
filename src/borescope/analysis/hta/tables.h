// Tables of --compat hta: what HolisticTraceAnalysis prints for the same file, quirks included.
//
//   hta/rows.h       which rows HTA takes for device rows, after its rounding and step filter
//   hta/breakdown.cc   get_temporal_breakdown
//   hta/kernels.cc     get_gpu_kernel_breakdown
//
// Numbers are whole microseconds wherever HTA's are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/analyses.h"

namespace borescope {

// Table breakdown: rank, idle_us, compute_us, non_compute_us, kernel_us, and their percentages.
Table HtaBreakdown(const RankView& view);

// Table kernel_types: type, total_us; percent is filled in by FinishHtaKernels.
Table HtaKernelTypes(const RankView& view);
// Table kernels: HTA's kernel frame, the smaller kernels of a rank and type folded into "others".
Table HtaKernels(const RankView& view);

Result<Findings> MapHtaBreakdown(const RankView& view, const Params& params);
inline constexpr Pipeline kHtaBreakdown{.map = MapHtaBreakdown, .reduce = ConcatFindings};

Result<Findings> MapHtaKernels(const RankView& view, const Params& params);
Result<Findings> FinishHtaKernels(Findings findings, const Params& params);
inline constexpr Pipeline kHtaKernels{
    .map = MapHtaKernels, .reduce = MergeFindings, .finish = FinishHtaKernels};

// One row of HTA's _aggr: statistics of durations by name.
struct HtaAggregate {
  std::string name;
  double sum = 0;
  double max = 0;
  double min = 0;
  double stddev = 0;
  double mean = 0;
};

struct HtaFolding {
  size_t num_kernels = 10;
  double duration_ratio = 0.8;
  std::vector<std::string_view> allowlist;  // names that are never folded
};

struct HtaDuration {
  std::string_view name;
  double dur_us = 0;
  int64_t times = 1;
};

// HTA's _aggr. Beyond num_kernels names the smaller ones become "others", and then all statistics
// are those of the per-name sums, not of durations (its quirk Q13).
std::vector<HtaAggregate> HtaAggregates(std::span<const HtaDuration> durations,
                                        const HtaFolding& folding);

}  // namespace borescope
