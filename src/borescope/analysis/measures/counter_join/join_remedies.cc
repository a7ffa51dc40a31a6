// What people should know of how reports of counters fit a trace, and what to do about it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/base/stop.h"
#include "borescope/opmodel/devices/tensor_cores.h"

namespace borescope::internal {

namespace {

// Parts of the kernel time from which on there is a remedy.
constexpr double kLeastValued = 0.9;
constexpr double kMostAmbiguous = 0.02;
constexpr double kMostUnmatched = 0.05;
constexpr size_t kLongestName = 100;

double PartOf(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string_view Short(std::string_view name) { return name.substr(0, kLongestName); }

bool HasNumbers(const CounterReport& report) {
  return std::any_of(report.kernels.begin(), report.kernels.end(),
                     [](const CountedKernel& kernel) { return !kernel.values.empty(); });
}

// The kernel time of a device with counters, whichever of the reports they are from.
struct ValuedTime {
  double all_ns = 0;
  double valued_ns = 0;
  DeviceId first_without;

  double share() const { return PartOf(valued_ns, all_ns); }
};

ValuedTime TimeOf(const RankCounters& counters, int64_t gpu, const Trace& trace) {
  ValuedTime time;
  for (const DeviceId id : counters.kernels) {
    if (trace.DeviceOf(id) != gpu) continue;
    const auto ns = static_cast<double>(trace.device().dur_ns[id.value]);
    time.all_ns += ns;
    if (counters.GroupOf(id) != nullptr) {
      time.valued_ns += ns;
    } else if (!time.first_without.valid()) {
      time.first_without = id;
    }
  }
  return time;
}

// The types of operands whose operations were not counted, by the names of kernels alone;
// counter_ops has those that operators show, too.
std::string UncountedTypes(const RankCounters& counters, const DeviceJoin& join,
                           const Trace& trace) {
  std::set<std::string_view> types;
  size_t looked_at = 0;
  for (const DeviceId id : counters.kernels) {
    CheckStopAt(looked_at++);
    const CounterGroup* const group = counters.GroupOf(id);
    if (group == nullptr || group->report != join.report || trace.DeviceOf(id) != join.gpu ||
        !group->measured.tensor_flops.has_value()) {
      continue;
    }
    const std::string_view name = trace.Name(id);
    const KnownFlops known =
        TensorFlops(group->measured, {.by_name = MatrixUseOf(name), .format = OperandFormat(name)});
    if (!known.not_counted.empty()) types.insert(known.not_counted);
  }
  std::string words;
  for (const std::string_view type : types) {
    words.append(words.empty() ? "" : ", ").append(type);
  }
  return words;
}

}  // namespace

std::vector<std::string> RemediesOf(const RankCounters& counters, const DeviceJoin& join,
                                    const Trace& trace) {
  const CounterReport& report = *counters.reports[join.report];
  std::vector<std::string> remedies;
  if (!HasNumbers(report)) {
    remedies.push_back(
        fmt::format("{} has no number of any kernel: with ERR_NVGPUCTRPERM run ncu as root, or set "
                    "NVreg_RestrictProfilingToAdminUsers=0",
                    report.file));
    return remedies;
  }
  const auto total_ns = static_cast<double>(join.total_ns);
  const auto first = std::find_if(counters.joins.begin(), counters.joins.end(),
                                  [&](const DeviceJoin& other) { return other.gpu == join.gpu; });
  const ValuedTime time = TimeOf(counters, join.gpu, trace);
  if (&*first == &join && time.share() < kLeastValued && time.first_without.valid()) {
    remedies.push_back(
        fmt::format("Counters for {} of the kernel time of GPU {}: profile one whole step "
                    "(cudaProfilerStart/Stop), not the first kernels; the first without is {}",
                    Percent(time.share()), join.gpu, Short(trace.Name(time.first_without))));
  }
  const double ambiguous = PartOf(static_cast<double>(join.ambiguous_ns), total_ns);
  if (ambiguous > kMostAmbiguous) {
    remedies.push_back(fmt::format(
        "{} of the kernel time ran kernels that do several amounts of work: profile a whole step, "
        "and record shapes",
        Percent(ambiguous)));
  }
  const double none = PartOf(static_cast<double>(join.unmatched_ns), total_ns);
  const double only_here = PartOf(join.only_in_report_ns, join.report_ns);
  if (none > kMostUnmatched && only_here > kMostUnmatched) {
    remedies.push_back(fmt::format(
        "The two runs chose different kernels (autotuning?): the largest of the trace alone is {}, "
        "of the report alone {}",
        Short(join.largest_none), Short(join.largest_reported)));
  }
  if (join.other_build > 0) {
    remedies.push_back(fmt::format(
        "{} matched kernels have other registers or shared memory: give a report of the same build",
        join.other_build));
  }
  if (const std::string types = UncountedTypes(counters, join, trace); !types.empty()) {
    remedies.push_back(fmt::format(
        "Matrix units worked on {}, which was not counted: add {} of it", types,
        report.amd ? "SQ_INSTS_VALU_MFMA_MOPS_TYPE" : "sm__ops_path_tensor_src_TYPE_dst_TYPE.sum"));
  }
  return remedies;
}

}  // namespace borescope::internal
