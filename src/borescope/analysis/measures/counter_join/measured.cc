#include "borescope/analysis/measures/counter_join/measured.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "borescope/analysis/measures/flops/counters.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

namespace {

using Number = std::optional<double> MeasuredKernel::*;

struct NamedMember {
  std::string_view name;
  Number member;
  double factor = 1;
};
constexpr double kSectorBytes = 32;
constexpr double kKibibyte = 1024;
constexpr NamedMember kMembers[] = {
    {"dram__bytes_read.sum", &MeasuredKernel::dram_read},
    {"dram__bytes_write.sum", &MeasuredKernel::dram_written},
    {"dram__bytes.sum", &MeasuredKernel::dram_bytes},
    // AMD's, in KiB: what L2 fetches from memory and writes to it.
    {"FETCH_SIZE", &MeasuredKernel::dram_read, kKibibyte},
    {"WRITE_SIZE", &MeasuredKernel::dram_written, kKibibyte},
    {"lts__t_sectors_srcunit_tex.sum", &MeasuredKernel::l2_bytes, kSectorBytes},
    {"lts__t_bytes.sum", &MeasuredKernel::l2_bytes},
    {"gpu__time_duration.sum", &MeasuredKernel::ns},
    {"gpc__cycles_elapsed.avg.per_second", &MeasuredKernel::clock_hz},
    {"device__attribute_max_gpu_frequency_khz", &MeasuredKernel::max_clock_hz, 1e3},
    {"device__attribute_l2_cache_size", &MeasuredKernel::l2_size},
    {"launch__registers_per_thread", &MeasuredKernel::registers},
    {"launch__shared_mem_per_block_static", &MeasuredKernel::shared_bytes},
    {"launch__shared_mem_per_block_dynamic", &MeasuredKernel::shared_bytes},
    {"profiler__replayer_passes", &MeasuredKernel::passes},
    {"launch__waves_per_multiprocessor", &MeasuredKernel::waves}};

struct NamedPercentage {
  std::string_view name;
  Percentage which;
};
constexpr NamedPercentage kPercentNames[] = {
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", Percentage::kCompute},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", Percentage::kMemory},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", Percentage::kDram},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", Percentage::kDram},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", Percentage::kL2},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", Percentage::kL1},
    {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", Percentage::kL1},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", Percentage::kTensor},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", Percentage::kTensor},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", Percentage::kOccupancy},
    {"sm__maximum_warps_per_active_cycle_pct", Percentage::kMaxOccupancy}};

constexpr std::string_view kTensorPrefix = "sm__ops_path_tensor_src_";
// AMD's: additions and multiplications of matrix instructions in units of 512, by type.
constexpr std::string_view kMatrixPrefix = "SQ_INSTS_VALU_MFMA_MOPS_";
constexpr double kOpsOfMatrixCount = 512;
// F6F4 are those of 6 and 4 bits. I8 are no floating-point operations.
constexpr std::pair<std::string_view, std::string_view> kMatrixTypes[] = {
    {"F16", "fp16"}, {"BF16", "bf16"}, {"F32", "fp32"}, {"XF32", "xf32"},
    {"F64", "fp64"}, {"F8", "fp8"},    {"F6F4", "fp4"}};
constexpr std::string_view kSassParts[] = {"smsp__sass_thread_inst_executed_op_",
                                           "sm__sass_thread_inst_executed_op_"};

// FLOPs of an instruction such as "ffma"; 0 for those that are none.
double FlopsPerInstruction(std::string_view instruction) {
  if (instruction.size() != 4 || !Contains("fhd", instruction.substr(0, 1))) return 0;
  const std::string_view kind = instruction.substr(1);
  return kind == "fma" ? 2 : kind == "add" || kind == "mul" ? 1 : 0;
}

bool TakeEnd(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

double FlopsOfSass(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !TakeEnd(name, "_pred_on.sum") || name.size() < prefix.size()) {
    return 0;
  }
  return FlopsPerInstruction(name.substr(prefix.size()));
}

// Nothing where there are too many of them for anything that a device has.
std::optional<size_t> PlaceOf(std::string_view text, std::vector<std::string_view>& among) {
  constexpr size_t kMost = 256;
  const auto found = std::find(among.begin(), among.end(), text);
  if (found == among.end()) {
    if (among.size() >= kMost) return std::nullopt;
    among.push_back(text);
    return among.size() - 1;
  }
  return static_cast<size_t>(found - among.begin());
}

// How AMD's counters of matrix instructions spell a type; empty: a counter of something else.
std::string_view TypeOfMatrixCounter(std::string_view name) {
  if (!name.starts_with(kMatrixPrefix)) return "";
  name.remove_prefix(kMatrixPrefix.size());
  const auto* const found = std::find_if(std::begin(kMatrixTypes), std::end(kMatrixTypes),
                                         [name](const auto& type) { return type.first == name; });
  return found == std::end(kMatrixTypes) ? std::string_view() : found->second;
}

void AddTo(std::optional<double>& sum, double more) { sum = sum.value_or(0) + more; }

bool CountsTensorInstructions(std::string_view name) {
  return Contains(name, "inst_executed_pipe_tensor");
}

}  // namespace

bool CountsTensorFlops(std::string_view name) {
  return name.starts_with(kTensorPrefix) || !TypeOfMatrixCounter(name).empty();
}

CounterMeanings::CounterMeanings(std::span<const std::string_view> names)
    : names_(names), destinations_{""} {
  meanings_.reserve(names.size());
  for (const std::string_view name : names) {
    Meaning meaning = MeaningOf(name);
    AddTensor(name, meaning);
    meanings_.push_back(meaning);
  }
}

CounterMeanings::Meaning CounterMeanings::MeaningOf(std::string_view name) {
  Meaning meaning;
  for (const NamedMember& known : kMembers) {
    if (name == known.name) {
      meaning.member = known.member;
      meaning.factor = known.factor;
    }
  }
  for (const NamedPercentage& known : kPercentNames) {
    if (name == known.name) meaning.percent = static_cast<size_t>(known.which);
  }
  constexpr std::string_view kLimit = "launch__occupancy_limit_";
  if (name.starts_with(kLimit)) {
    const auto* found =
        std::find(kOccupancyLimits.begin(), kOccupancyLimits.end(), name.substr(kLimit.size()));
    if (found != kOccupancyLimits.end()) {
      meaning.limit = static_cast<size_t>(found - kOccupancyLimits.begin());
    }
  }
  for (const std::string_view prefix : kSassParts) {
    const double factor = FlopsOfSass(name, prefix);
    if (factor != 0) meaning.vector = {prefix == kSassParts[0], factor};
  }
  const MatrixEvidence evidence = MatrixEvidenceOf(name);
  meaning.proves_matrix = evidence == MatrixEvidence::kKinds || evidence == MatrixEvidence::kTypes;
  meaning.counts_tensor_pipe = evidence == MatrixEvidence::kPipe;
  return meaning;
}

// sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum
void CounterMeanings::AddTensor(std::string_view name, Meaning& meaning) {
  if (const std::string_view type = TypeOfMatrixCounter(name); !type.empty()) {
    if (const std::optional<size_t> place = PlaceOf(type, types_)) {
      meaning.tensor = {.type = *place, .factor = kOpsOfMatrixCount};
    }
    return;
  }
  std::string_view rest = name;
  if (!rest.starts_with(kTensorPrefix) || !TakeEnd(rest, ".sum")) return;
  rest.remove_prefix(kTensorPrefix.size());
  Tensor tensor;
  tensor.sparsity = TakeEnd(rest, "_sparsity_off")  ? '0'
                    : TakeEnd(rest, "_sparsity_on") ? '1'
                                                    : '\0';
  const size_t dst = rest.find("_dst_");
  const std::string_view type = rest.substr(0, dst);
  if (type.empty() || type.starts_with("int") || type.starts_with("uint")) return;
  const std::optional<size_t> type_place = PlaceOf(type, types_);
  tensor.has_dst = dst != std::string_view::npos;
  const std::optional<size_t> dst_place =
      tensor.has_dst ? PlaceOf(rest.substr(dst), destinations_) : std::optional(tensor.dst);
  if (!type_place.has_value() || !dst_place.has_value()) return;
  tensor.type = *type_place;
  tensor.dst = *dst_place;
  meaning.tensor = tensor;
}

void CounterMeanings::MeasureTensor(std::span<const CounterValue> values,
                                    MeasuredKernel& kernel) const {
  // By type and destination: the whole, and the sum of its parts by sparsity.
  struct Sums {
    std::optional<double> whole;
    std::optional<double> parts;
  };
  std::map<size_t, std::map<size_t, Sums>> found;
  for (const CounterValue& value : values) {
    const std::optional<Tensor>& tensor = meanings_[value.counter].tensor;
    if (!tensor.has_value() || !std::isfinite(value.value)) continue;
    Sums& sums = found[tensor->type][tensor->dst];
    AddTo(tensor->sparsity == '\0' ? sums.whole : sums.parts, value.value * tensor->factor);
  }
  for (const auto& [type, by_dst] : found) {
    kernel.tensor_types.push_back(types_[type]);
    const bool has_dst = by_dst.rbegin()->first != 0;
    for (const auto& [dst, sums] : by_dst) {
      if (has_dst && dst == 0) continue;
      AddTo(kernel.tensor_flops, sums.whole.has_value() ? *sums.whole : *sums.parts);
    }
  }
  std::sort(kernel.tensor_types.begin(), kernel.tensor_types.end());
}

void CounterMeanings::MeasureVector(std::span<const CounterValue> values,
                                    MeasuredKernel& kernel) const {
  std::optional<double> of_smsp;
  std::optional<double> of_sm;
  for (const CounterValue& value : values) {
    const std::optional<Vector>& vector = meanings_[value.counter].vector;
    if (!vector.has_value() || !std::isfinite(value.value)) continue;
    AddTo(vector->is_of_smsp ? of_smsp : of_sm, value.value * vector->factor);
  }
  kernel.vector_flops = of_smsp.has_value() ? of_smsp : of_sm;
}

MeasuredKernel CounterMeanings::Measure(std::span<const CounterValue> values) const {
  MeasuredKernel kernel;
  bool has_sectors = false;
  bool has_tensor_pipe = false;
  bool is_pipe_idle = true;
  bool is_matrix = false;
  for (const auto& [counter, value] : values) {
    const Meaning& meaning = meanings_[counter];
    if (!std::isfinite(value)) continue;
    if (meaning.member == &MeasuredKernel::l2_bytes) {
      const bool is_sectors = meaning.factor == kSectorBytes;
      if (is_sectors || !has_sectors) kernel.l2_bytes = value * meaning.factor;
      has_sectors |= is_sectors;
    } else if (meaning.member == &MeasuredKernel::shared_bytes) {
      AddTo(kernel.shared_bytes, value);
    } else if (meaning.member != nullptr) {
      kernel.*meaning.member = value * meaning.factor;
    }
    if (meaning.percent.has_value()) {
      std::optional<double>& percent = kernel.percent[*meaning.percent];
      percent = percent.value_or(value);
    }
    if (meaning.limit.has_value()) kernel.occupancy_limits[*meaning.limit] = value;
    is_matrix |= meaning.proves_matrix && value > 0;
    has_tensor_pipe |= meaning.counts_tensor_pipe;
    is_pipe_idle &= !meaning.counts_tensor_pipe || value == 0;
    if (CountsTensorInstructions(names_[counter])) {
      kernel.tensor_instructions.push_back(names_[counter]);
    }
  }
  MeasureTensor(values, kernel);
  MeasureVector(values, kernel);
  if (kernel.dram_read.has_value() && kernel.dram_written.has_value()) {
    kernel.dram_bytes = kernel.dram_bytes.value_or(*kernel.dram_read + *kernel.dram_written);
  }
  if (is_matrix || kernel.tensor_flops.value_or(0) > 0) {
    kernel.uses_matrix_units = true;
  } else if (has_tensor_pipe && is_pipe_idle) {
    kernel.uses_matrix_units = false;
  }
  return kernel;
}

namespace {

// The operands of matrix units for operands of this type, as counters spell it; empty: none that
// units of floating point take, or not known.
std::string_view TensorTypeOf(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat16:
      return "fp16";
    case ScalarType::kBFloat16:
      return "bf16";
    case ScalarType::kFloat32:
      return "tf32";
    case ScalarType::kFloat64:
      return "fp64";
    case ScalarType::kFloat8E5M2:
    case ScalarType::kFloat8E4M3:
      return "fp8";
    case ScalarType::kFloat4:
      return "fp4";
    default:
      return "";
  }
}

}  // namespace

KnownFlops TensorFlops(const MeasuredKernel& kernel, const KernelWork& work) {
  if (!kernel.tensor_flops.has_value()) return {};
  if (*kernel.tensor_flops > 0 || kernel.uses_matrix_units == false) {
    return {kernel.tensor_flops, {}};
  }
  const bool may_be_matrix = work.by_name == MatrixUse::kYes || work.by_name == MatrixUse::kUnknown;
  if (kernel.uses_matrix_units != true && !may_be_matrix) return {kernel.tensor_flops, {}};
  std::string_view type = work.format;
  if (type.empty()) type = TensorTypeOf(work.type);
  const auto counts = [&kernel](std::string_view counted) {
    return std::binary_search(kernel.tensor_types.begin(), kernel.tensor_types.end(), counted);
  };
  // AMD's units multiply operands of 32 bits as they are, or rounded.
  const bool is_counted = counts(type) || (type == "tf32" && counts("fp32") && counts("xf32"));
  // Products of integers are no floating-point operations.
  if (is_counted || type.starts_with("int")) return {kernel.tensor_flops, {}};
  return {std::nullopt, type.empty() ? "unknown type" : type};
}

std::string_view LimiterName(Limiter limiter) {
  constexpr std::string_view kNames[kLimiters] = {"near peak", "small grid", "latency",
                                                  "balanced",  "compute",    "memory"};
  return kNames[static_cast<size_t>(limiter)];
}

std::optional<Limiter> LimiterOf(const MeasuredKernel& kernel) {
  constexpr double kNearPeak = 80;
  constexpr double kLow = 60;
  constexpr double kClose = 10;
  const std::optional<double> compute = kernel.Percent(Percentage::kCompute);
  const std::optional<double> memory = kernel.Percent(Percentage::kMemory);
  if (!compute.has_value() || !memory.has_value()) return std::nullopt;
  const double most = std::max(*compute, *memory);
  if (most >= kNearPeak) return Limiter::kNearPeak;
  if (most < kLow) {
    return kernel.waves.value_or(1) < 1 ? Limiter::kSmallGrid : Limiter::kLatency;
  }
  if (std::abs(*compute - *memory) < kClose) return Limiter::kBalanced;
  return *compute > *memory ? Limiter::kCompute : Limiter::kMemory;
}

std::optional<double> ShareOfPeak(const MeasuredKernel& kernel) {
  const std::optional<double> compute = kernel.Percent(Percentage::kCompute);
  const std::optional<double> memory = kernel.Percent(Percentage::kMemory);
  if (!compute.has_value() || !memory.has_value()) return std::nullopt;
  constexpr double kWhole = 100;
  return std::clamp(std::max(*compute, *memory) / kWhole, 0.0, 1.0);
}

std::string_view OccupancyLimit(const MeasuredKernel& kernel) {
  std::string_view smallest;
  double least = 0;
  for (size_t i = 0; i < kOccupancyLimits.size(); ++i) {
    const std::optional<double>& limit = kernel.occupancy_limits[i];
    if (!limit.has_value() || *limit <= 0 || (!smallest.empty() && *limit >= least)) continue;
    smallest = kOccupancyLimits[i];
    least = *limit;
  }
  return smallest;
}

}  // namespace borescope::internal
