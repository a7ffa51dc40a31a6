// Tables of --compat hta: what HolisticTraceAnalysis prints for the same file, quirks included.
//
//   frame.h                       a rank as HTA loads it: rounding, step filter, links by
//   correlation views/device_time.cc          get_temporal_breakdown, get_comm_comp_overlap,
//                                 get_idle_time_breakdown, get_gpu_kernel_breakdown
//   views/launches.cc             get_cuda_kernel_launch_stats, get_aten_op_kernels_and_delay,
//                                 get_queue_length_summary, get_time_spent_blocked_on_full_queue
//   views/copies_and_counters.cc  get_memory_bw_summary, get_cupti_counter_data_with_operators
//   views/sequences.cc            get_frequent_cuda_kernel_sequences
//   views/annotations.cc          get_gpu_user_annotation_breakdown,
//                                 get_gpu_kernels_with_user_annotations
//   views/stragglers.cc           get_potential_stragglers
//   views/diff.cc                 TraceDiff.compare_traces, ops_diff
//   views/events.cc               Trace.get_trace, from what recorded/ reads of the text of a file
//   critical_path/                critical_path_analysis, its breakdown, summary and overlay
//   hta.cc                        the verbs that these answer
//
// Numbers are whole microseconds where HTA's are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/reduce.h"

namespace borescope::internal {

// Table breakdown: rank, idle_us, compute_us, non_compute_us, kernel_us, and their percentages.
Table HtaBreakdown(const RankView& view, const Params& params = {});

// Table kernel_types: type, total_us; percent is filled in by FinishHtaKernels.
Table HtaKernelTypes(const RankView& view, const Params& params = {});
// Table kernels: HTA's kernel frame. The smaller kernels of a rank and type are folded into
// "others".
Table HtaKernels(const RankView& view, const Params& params = {});

Result<Tables> MapHtaBreakdown(const RankView& view, const Params& params);

Result<Tables> MapHtaKernels(const RankView& view, const Params& params);
Result<Tables> FinishHtaKernels(Tables tables, const Params& params);

Result<Tables> MapHtaOverlap(const RankView& view, const Params& params);

Result<Tables> MapHtaIdle(const RankView& view, const Params& params);

Result<Tables> MapHtaLaunches(const RankView& view, const Params& params);

Result<Tables> MapHtaDelays(const RankView& view, const Params& params);
Result<Tables> FinishHtaDelays(Tables tables, const Params& params);

Result<Tables> MapHtaQueue(const RankView& view, const Params& params);

Result<Tables> MapHtaBandwidth(const RankView& view, const Params& params);

Result<Tables> MapHtaSequences(const RankView& view, const Params& params);
Result<Tables> FinishHtaSequences(Tables tables, const Params& params);

Result<Tables> MapHtaAnnotations(const RankView& view, const Params& params);
// HTA has no answer for kernels if the run has no device annotation; the tables are empty then.
Result<Tables> FinishHtaAnnotations(Tables tables, const Params& params);

Result<Tables> MapHtaStragglers(const RankView& view, const Params& params);
Result<Tables> FinishHtaStragglers(Tables tables, const Params& params);
Result<void> CheckHtaStragglers(const Tables& findings, const Params& params);

Result<Tables> MapHtaCounters(const RankView& view, const Params& params);

Result<Tables> MapHtaCriticalPath(const RankView& view, const Params& params);
Result<Overlay> OverlayHtaCriticalPath(const RankView& view, const Params& params);

Result<Tables> MapHtaEvents(const RankView& view, const Params& params);
Result<Tables> ReadHtaEvents(Tables tables, const RankView& view, ByteSource& text,
                             const Params& params);
Result<Tables> FinishHtaEvents(Tables tables, const Params& params);

Result<Tables> MapHtaDiff(const RankView& view, const Params& params);
Result<Tables> CompareHtaDiff(Tables base, Tables test, const Params& params);

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

// HTA's _aggr. If there are more than num_kernels names, the smaller ones become "others", and all
// statistics are then those of the sums by name, not of durations (its quirk Q13).
std::vector<HtaAggregate> HtaAggregates(std::span<const HtaDuration> durations,
                                        const HtaFolding& folding);

}  // namespace borescope::internal
