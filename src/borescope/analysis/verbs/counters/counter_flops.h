// Floating-point operations, time and memory traffic from hardware counters: the point of a kernel
// in a roofline.
//
//   FLOPs     smsp__sass_thread_inst_executed_op_{f,h,d}{add,mul,fma}_pred_on.sum, an fma counting
//             twice: the factors of HolisticTraceAnalysis' CUDA_SASS_INSTRUCTION_COUNTER_FLOPS and
//             of LIKWID's groups FLOPS_HP, FLOPS_SP and FLOPS_DP. Without them the same counters of
//             sm__. Tensor cores: sm__ops_path_tensor_src_*.sum, which count operations (not those
//             of integer sources; variants by sparsity are parts of the same). Counters of
//             tensor-core *instructions* (sm__inst_executed_pipe_tensor*) cannot be turned into
//             FLOPs: how many one instruction does differs per variant and architecture (NVIDIA
//             developer forum, "How many FLOPs does one tensor_op_hmma instruction do?"). They are
//             named as not counted.
//   traffic   dram__bytes.sum, else dram__bytes_read.sum + dram__bytes_write.sum
//   time      gpu__time_duration.sum (ns), else the kernel's own event, else the length of the
//             range. Kernels are replayed inside a range, so that it is longer than the kernel;
//             ranges of equal length are a made-up share of the profiled time, and then no time is
//             known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/flops/counters.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"

namespace borescope::internal {

// Operations per count of the counter `name`; 0 for what counts none.
double FlopsPerCount(std::string_view name);

// One row per kernel and innermost operator, most operations first.
Table CounterFlops(const RankView& view, const OpStacks& stacks,
                   const std::vector<CounterLineup>& lineups);

}  // namespace borescope::internal
