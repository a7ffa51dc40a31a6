#include "borescope/analysis/measures/flops/counter_list.h"

#include <charconv>
#include <cstdint>
#include <iterator>
#include <system_error>

namespace borescope::internal {

namespace {

constexpr std::string_view kTime = "time of the measurement, to match kernels";
constexpr std::string_view kDram = "bytes of device memory";
constexpr std::string_view kCache = "bytes of the L2 cache";
constexpr std::string_view kClock = "clock of the measurement";
constexpr std::string_view kLimiter = "what limits a kernel, and its occupancy";
constexpr std::string_view kVector = "FLOPs of vector units";
constexpr std::string_view kMatrix = "FLOPs of matrix units, by the types of their operands";

constexpr WantedMetric kMetrics[] = {
    {"gpu__time_duration.sum", kTime},
    {"dram__bytes_read.sum", kDram},
    {"dram__bytes_write.sum", kDram},
    {"lts__t_sectors_srcunit_tex.sum", kCache},
    {"gpc__cycles_elapsed.avg.per_second", kClock},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", kLimiter},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", kLimiter},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", kLimiter},
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", kVector},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", kVector},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", kVector},
    {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", kVector},
    {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", kVector},
    {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", kVector},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", kVector},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", kVector},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", kVector},
    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", kMatrix},
    {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", kMatrix},
    {"sm__ops_path_tensor_src_fp16_dst_fp16.sum", kMatrix},
    {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", kMatrix},
    {"sm__ops_path_tensor_src_fp8_dst_fp32.sum", kMatrix},
    {"sm__ops_path_tensor_src_fp8_dst_fp16.sum", kMatrix},
    {"sm__ops_path_tensor_src_fp64.sum", kMatrix},
};

// Kineto was built without its counters for later ones.
constexpr int64_t kLastCudaWithCounters = 12060;

constexpr std::string_view kWithoutCounters =
    "this PyTorch records none: builds for CUDA above 12.6 ignore profiler_metrics; measure one "
    "step with Nsight Compute and give its report: ";

constexpr std::string_view kWithCounters =
    "PyTorch's profiler delivers them up to CUDA 12.6 alone (experimental_config="
    "_ExperimentalConfig(profiler_metrics=[...], profiler_measure_per_kernel=True)): start the "
    "profiler once before the first use of CUDA, and stop DCGM (an H100 needs Kineto of May 2024 "
    "or later); or measure one step with Nsight Compute and give its report: ";

constexpr std::string_view kWithNcu =
    "`ncu -o counters --nvtx --profile-from-start off --clock-control none --metrics LIST python "
    "train.py`, then `borescope counters TRACE --counters counters.ncu-rep` (`borescope counters "
    "--help` has the LIST); record the trace with record_shapes=True";

constexpr std::string_view kOfAmd =
    "this profiler records none: measure with rocprofv3 --pmc NAMES --output-format rocpd -- "
    "python train.py, and give the database as input";

// For a shell: each line but the last ends in a backslash, and none begins with a space, which
// would end the word.
std::string PastableList() {
  constexpr size_t kWidth = 80;
  std::string text;
  std::string line;
  for (const WantedMetric& metric : kMetrics) {
    const bool is_last = &metric == std::end(kMetrics) - 1;
    const std::string name = std::string(metric.name) + (is_last ? "" : ",");
    if (line.size() + name.size() + 1 > kWidth) {
      text += line + "\\\n";
      line.clear();
    }
    line += name;
  }
  return text + line + "\n";
}

}  // namespace

std::span<const WantedMetric> WantedMetrics() { return kMetrics; }

std::string WantedMetricsAsList() {
  std::string list;
  for (const WantedMetric& metric : kMetrics) {
    list += (list.empty() ? "" : ",") + std::string(metric.name);
  }
  return list;
}

std::string CounterInstructions() {
  return "Counters that the trace does not hold are measured by Nsight Compute, in another\n"
         "run of the same program, and joined with the trace:\n"
         "1. Call torch.cuda.profiler.start() and .stop() around ONE step.\n"
         "2. ncu -o counters --target-processes all --nvtx --profile-from-start off \\\n"
         "     --clock-control none --metrics $METRICS python train.py\n"
         "3. Record a trace of the program as always, with record_shapes=True.\n"
         "4. borescope counters trace.json.gz --counters counters.ncu-rep\n"
         "Every kernel is run several times for all of these; fewer answer less:\n"
         "METRICS=\\\n" +
         PastableList();
}

int64_t CudaVersionOf(const Trace& trace) {
  constexpr std::string_view kWord = ", CUDA ";
  const std::string& producer = trace.meta().producer;
  const size_t at = producer.find(kWord);
  if (trace.meta().format != TraceFormat::kKineto || at == std::string::npos) return 0;
  const char* const end = producer.data() + producer.size();
  int64_t major = 0;
  int64_t minor = 0;
  const auto [rest, error] = std::from_chars(producer.data() + at + kWord.size(), end, major);
  if (error != std::errc() || rest == end || *rest != '.') return 0;
  std::from_chars(rest + 1, end, minor);
  return major < 1000 && minor < 100 ? major * 1000 + minor * 10 : 0;
}

std::string_view RemedyForCounters(const Trace& trace) {
  if (trace.meta().vendor == Vendor::kAmd) return kOfAmd;
  const int64_t version = CudaVersionOf(trace);
  static const std::string with = std::string(kWithCounters) + std::string(kWithNcu);
  static const std::string without = std::string(kWithoutCounters) + std::string(kWithNcu);
  return version > 0 && version <= kLastCudaWithCounters ? with : without;
}

}  // namespace borescope::internal
