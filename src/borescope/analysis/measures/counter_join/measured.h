// What hardware counters say about one kernel: operations, bytes, the use of matrix units, and how
// near it came to what the device can do at most. Counters come from reports of Nsight Compute and
// from recordings; here they are names and numbers.
//
// What was not counted is not known, and never 0: a counter of the operations of one type says
// nothing about a kernel that computes on another.
//
//   tensor FLOPs  sm__ops_path_tensor_src_X[_dst_Y][_sparsity_off|on].sum, X a type of numbers with
//                 a fraction. Of one X the variants with _dst_ are parts of the one without, and
//                 those of sparsity parts of both: the parts count only where the whole is missing,
//                 except that _dst_ variants win over a bare one.
//   vector FLOPs  smsp__sass_thread_inst_executed_op_{f,h,d}{add,mul,fma}_pred_on.sum, an fma
//                 counting twice: the factors of HolisticTraceAnalysis and of LIKWID's groups
//                 FLOPS_HP, FLOPS_SP, FLOPS_DP. Without them the same counters of sm__.
//   DRAM          dram__bytes_read.sum and dram__bytes_write.sum; dram__bytes.sum gives the sum
//   L2            lts__t_sectors_srcunit_tex.sum times 32, which is what the SMs asked for, else
//                 lts__t_bytes.sum, which has both sides of L2
//   matrix units  tensor FLOPs, cycles of the tensor pipe by type of product, or instructions of
//                 kinds of products; not all instructions of the tensor pipe, which kernels
//                 without products execute, too
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

// A counter of the report or recording by its place among the names, and its value.
struct CounterValue {
  uint32_t counter = 0;
  double value = 0;
};

// Shares of peaks in percent, of one kernel.
enum class Percentage : uint8_t {
  kCompute,       // sm__throughput
  kMemory,        // gpu__compute_memory_throughput
  kDram,          // gpu__dram_throughput
  kL2,            // lts__throughput
  kL1,            // l1tex__throughput
  kTensor,        // sm__pipe_tensor_cycles_active
  kOccupancy,     // sm__warps_active
  kMaxOccupancy,  // sm__maximum_warps_per_active_cycle_pct
};
inline constexpr size_t kPercentages = 8;

// What a limit of occupancy comes from: launch__occupancy_limit_*.
inline constexpr std::array<std::string_view, 5> kOccupancyLimits = {"registers", "shared_mem",
                                                                     "blocks", "warps", "barriers"};

struct MeasuredKernel {
  std::optional<double> tensor_flops;  // as counted; 0 may be that of other types: TensorFlops
  std::vector<std::string_view> tensor_types;  // those that were counted, "bf16"; ascending
  std::optional<bool> uses_matrix_units;       // as far as counters prove it
  std::optional<double> vector_flops;
  std::optional<double> dram_read;
  std::optional<double> dram_written;
  std::optional<double> dram_bytes;  // both
  std::optional<double> l2_bytes;
  std::optional<double> ns;
  std::optional<double> clock_hz;
  std::optional<double> max_clock_hz;
  std::optional<double> l2_size;  // of the device
  std::optional<double> registers;
  std::optional<double> shared_bytes;
  std::optional<double> passes;
  std::optional<double> waves;
  std::array<std::optional<double>, kPercentages> percent;
  std::array<std::optional<double>, kOccupancyLimits.size()> occupancy_limits;  // blocks
  // Counters of instructions of the tensor pipe, which cannot be turned into FLOPs: how many one
  // instruction does differs per variant and architecture (NVIDIA developer forum, "How many FLOPs
  // does one tensor_op_hmma instruction do?").
  std::vector<std::string_view> tensor_instructions;

  std::optional<double> Percent(Percentage which) const {
    return percent[static_cast<size_t>(which)];
  }
};

// Whether a counter of this name counts floating-point operations of matrix units:
// sm__ops_path_tensor_src_TYPE of NVIDIA, SQ_INSTS_VALU_MFMA_MOPS_TYPE of AMD.
bool CountsTensorFlops(std::string_view name);

// What the counters of these names mean, found once for all kernels.
class CounterMeanings {
 public:
  // The texts must outlive it and all that it measured.
  explicit CounterMeanings(std::span<const std::string_view> names);

  // Values that are not finite are passed over.
  MeasuredKernel Measure(std::span<const CounterValue> values) const;

 private:
  struct Tensor {
    size_t type = 0;       // place in types_
    bool has_dst = false;  // _dst_
    size_t dst = 0;        // place in destinations_; 0: none
    char sparsity = 0;     // 0: both, '0' off, '1' on
    double factor = 1;     // FLOPs of one count
  };
  struct Vector {
    bool is_of_smsp = false;
    double factor = 0;
  };
  struct Meaning {
    std::optional<double> MeasuredKernel::* member = nullptr;
    std::optional<size_t> percent;
    std::optional<size_t> limit;
    std::optional<Tensor> tensor;
    std::optional<Vector> vector;
    double factor = 1;
    bool proves_matrix = false;       // above 0
    bool counts_tensor_pipe = false;  // 0 shows that nothing used matrix units
  };

  static Meaning MeaningOf(std::string_view name);
  void AddTensor(std::string_view name, Meaning& meaning);
  void MeasureTensor(std::span<const CounterValue> values, MeasuredKernel& kernel) const;
  void MeasureVector(std::span<const CounterValue> values, MeasuredKernel& kernel) const;

  std::span<const std::string_view> names_;
  std::vector<Meaning> meanings_;
  std::vector<std::string_view> types_;         // X
  std::vector<std::string_view> destinations_;  // Y
};

// What else is known of a kernel, by which counters that show 0 are judged.
struct KernelWork {
  MatrixUse by_name = MatrixUse::kUnknown;  // MatrixUseOf
  std::string_view format = {};             // OperandFormat
  ScalarType type = ScalarType::kUnknown;   // of the operands of its operator
};

struct KnownFlops {
  std::optional<double> flops;   // missing if not known
  std::string_view not_counted;  // the type whose operations were not counted, "fp16"; may be empty
};

// The tensor FLOPs of a kernel. Known if they are above 0, if a counter shows that it used no
// matrix units, if operations on its type were counted, or if it computes no products of matrices.
// Not known if no tensor FLOPs were counted at all.
KnownFlops TensorFlops(const MeasuredKernel& kernel, const KernelWork& work);

// What held a kernel back, by Nsight Compute's rule SOLBottleneck.
enum class Limiter : uint8_t {
  kNearPeak,   // compute or memory at 80 % of its peak or above
  kSmallGrid,  // both below 60 %, and blocks for less than one wave
  kLatency,    // both below 60 %
  kBalanced,   // less than 10 % between them
  kCompute,
  kMemory,
};
inline constexpr size_t kLimiters = 6;
std::string_view LimiterName(Limiter limiter);  // "near peak", "small grid", ...

// Missing without the percentages of compute and memory.
std::optional<Limiter> LimiterOf(const MeasuredKernel& kernel);

// The larger of the percentages of compute and memory, as a share of at most 1: what Nsight Compute
// calls the speed of light. Missing without either.
std::optional<double> ShareOfPeak(const MeasuredKernel& kernel);

// What limits how many blocks an SM takes: the smallest of the limits; empty if not measured.
std::string_view OccupancyLimit(const MeasuredKernel& kernel);

}  // namespace borescope::internal
