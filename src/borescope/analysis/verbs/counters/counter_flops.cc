#include "borescope/analysis/verbs/counters/counter_flops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kSassPrefix = "smsp__sass_thread_inst_executed_op_";
constexpr std::string_view kSassPrefixOfSm = "sm__sass_thread_inst_executed_op_";
constexpr std::string_view kSassSuffix = "_pred_on.sum";

// FLOPs of an instruction such as "ffma"; 0 for those that are none.
double FlopsPerInstruction(std::string_view instruction) {
  if (instruction.size() != 4 || !Contains("fhd", instruction.substr(0, 1))) {
    return 0;
  }
  const std::string_view kind = instruction.substr(1);
  return kind == "fma" ? 2 : kind == "add" || kind == "mul" ? 1 : 0;
}

double FlopsOfSass(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(kSassSuffix) ||
      name.size() < prefix.size() + kSassSuffix.size()) {
    return 0;
  }
  name.remove_prefix(prefix.size());
  name.remove_suffix(kSassSuffix.size());
  return FlopsPerInstruction(name);
}

bool CountsTensorInstructions(std::string_view name) {
  return Contains(name, "inst_executed_pipe_tensor");
}

// How the counters of a trace are used, by the StringId of their names.
class CounterRoles {
 public:
  explicit CounterRoles(const Trace& trace) : flops_(trace.strings().size()) {
    for (const StringId name : trace.metrics().name) {
      flops_[name.value] = FlopsPerCount(trace.Text(name));
      has_smsp_ |= FlopsOfSass(trace.Text(name), kSassPrefix) != 0;
      has_tensor_ops_ |= trace.Text(name).starts_with("sm__ops_path_tensor_src_");
    }
    for (const StringId name : trace.metrics().name) {
      if (has_smsp_ && FlopsOfSass(trace.Text(name), kSassPrefixOfSm) != 0) {
        flops_[name.value] = 0;  // the same instructions again
      }
      if (!has_tensor_ops_ && CountsTensorInstructions(trace.Text(name))) {
        not_counted_.insert(name.value);
      }
    }
  }

  double FlopsPerCountOf(StringId name) const { return flops_[name.value]; }
  bool IsNotCounted(StringId name) const { return not_counted_.count(name.value) != 0; }

 private:
  std::vector<double> flops_;
  std::set<uint32_t> not_counted_;
  bool has_smsp_ = false;
  bool has_tensor_ops_ = false;
};

enum class TimeSource : uint8_t { kCounter, kKernel, kRange, kNone };

std::string_view TimeSourceName(TimeSource source) {
  static constexpr std::string_view kNames[] = {"counter", "kernel", "range", ""};
  return kNames[static_cast<size_t>(source)];
}

// Sums over the ranges of one kernel and operator.
struct KernelSums {
  int64_t ranges = 0;
  double flops = 0;
  bool has_flops = false;
  double bytes = 0;
  int64_t ranges_with_bytes = 0;
  double counter_ns = 0;
  int64_t ranges_with_counter_ns = 0;
  int64_t kernel_ns = 0;
  int64_t ranges_with_kernel = 0;
  int64_t range_ns = 0;
  bool range_times_are_made_up = false;
  std::set<std::string_view> not_counted;

  // The best source that every range has: a sum of several kinds of time would mean nothing.
  TimeSource source() const {
    return ranges_with_counter_ns == ranges ? TimeSource::kCounter
           : ranges_with_kernel == ranges   ? TimeSource::kKernel
           : !range_times_are_made_up       ? TimeSource::kRange
                                            : TimeSource::kNone;
  }
  double time_ns() const {
    switch (source()) {
      case TimeSource::kCounter:
        return counter_ns;
      case TimeSource::kKernel:
        return static_cast<double>(kernel_ns);
      case TimeSource::kRange:
        return static_cast<double>(range_ns);
      case TimeSource::kNone:
        break;
    }
    return 0;
  }
  bool has_bytes() const { return ranges_with_bytes == ranges; }
};

// Adds the counters of one range.
void AddMetrics(const Trace& trace, const CounterRoles& roles, DeviceId range, KernelSums& sums) {
  const Metrics& metrics = trace.metrics();
  const uint32_t detail = trace.device().detail[range.value];
  std::optional<double> all_bytes;
  std::optional<double> read_bytes;
  std::optional<double> written_bytes;
  for (uint32_t i = trace.ranges().first_metric[detail]; i < trace.ranges().end_metric[detail];
       ++i) {
    const std::string_view name = trace.Text(metrics.name[i]);
    const double value = metrics.value[i];
    if (!std::isfinite(value)) {
      continue;
    }
    const double flops = roles.FlopsPerCountOf(metrics.name[i]);
    sums.flops += flops * value;
    sums.has_flops |= flops != 0;
    if (roles.IsNotCounted(metrics.name[i])) {
      sums.not_counted.insert(name);
    } else if (name == "gpu__time_duration.sum") {
      sums.counter_ns += value;
      ++sums.ranges_with_counter_ns;
    } else if (name == "dram__bytes.sum") {
      all_bytes = value;
    } else if (name == "dram__bytes_read.sum") {
      read_bytes = value;
    } else if (name == "dram__bytes_write.sum") {
      written_bytes = value;
    }
  }
  if (all_bytes.has_value() || (read_bytes.has_value() && written_bytes.has_value())) {
    sums.bytes += all_bytes.has_value() ? *all_bytes : *read_bytes + *written_bytes;
    ++sums.ranges_with_bytes;
  }
}

void AddRange(const RankView& view, const CounterRoles& roles, const LinedUpRange& row,
              KernelSums& sums) {
  const DeviceEvents& device = view.trace.device();
  ++sums.ranges;
  sums.range_ns = AddSaturating(sums.range_ns, device.dur_ns[row.range.value]);
  if (row.launch.kernel.valid() && NamesAgree(view.trace, row.range, row.launch.kernel)) {
    sums.kernel_ns = AddSaturating(sums.kernel_ns, device.dur_ns[row.launch.kernel.value]);
    ++sums.ranges_with_kernel;
  }
  AddMetrics(view.trace, roles, row.range, sums);
}

Table NewTable() {
  Table table{"counter_flops", "Floating-point operations from hardware counters", {}};
  AddRankKey(table);
  AddString(table, "kernel", Role::kKey, "Name of the range: the kernel it was measured for.");
  AddString(table, "op", Role::kKey,
            "Innermost operator around the launch; \"(no operator)\" where there is none.");
  AddInt(table, "ranges", Unit::kCount, Role::kSum, "Ranges measured.");
  AddFloat(table, "flops", Unit::kFlops, Role::kDerived,
           "Operations; missing where no counter of them was measured.");
  AddFloat(table, "time_ns", Unit::kNanoseconds, Role::kDerived,
           "Time of the kernels; missing if not known.");
  AddString(table, "time_from", Role::kDerived,
            "Where the time is from: the counter gpu__time_duration, the recorded kernels, or the "
            "ranges, which are longer than their kernels.");
  AddFloat(table, "tflops", Unit::kNone, Role::kDerived, "10^12 operations per second.");
  AddFloat(table, "dram_bytes", Unit::kBytes, Role::kDerived,
           "Traffic between device memory and L2; missing if not measured.");
  AddFloat(table, "intensity", Unit::kNone, Role::kDerived, "Operations per byte of that traffic.");
  AddString(table, "not_counted", Role::kDerived,
            "Counters of tensor-core instructions that no operations can be told from; measure "
            "sm__ops_path_tensor_src_*.sum.");
  return table;
}

struct NamedSums {
  std::string_view kernel;
  std::string_view op;
  KernelSums sums;
};

// The sum of finite numbers may be none.
void PushFinite(Row& row, bool has_value, double value) {
  has_value&& std::isfinite(value) ? row.Float(value) : row.Missing();
}

// Sums that are no number have a place, too: the last.
double SortKey(const KernelSums& sums) {
  return std::isfinite(sums.flops) ? sums.flops : -std::numeric_limits<double>::infinity();
}

void PushSums(Table& table, int64_t rank, const NamedSums& named) {
  constexpr double kTera = 1e12;
  constexpr double kNanosecondsPerSecond = 1e9;
  const KernelSums& sums = named.sums;
  const double time_ns = sums.time_ns();
  Row row(table);
  row.Int(rank).Text(named.kernel).Text(named.op).Int(sums.ranges);
  PushFinite(row, sums.has_flops, sums.flops);
  PushFinite(row, time_ns > 0, time_ns);
  row.MaybeText(TimeSourceName(sums.source()));
  const bool has_rate = sums.has_flops && time_ns > 0;
  PushFinite(row, has_rate, sums.flops / kTera / (time_ns / kNanosecondsPerSecond));
  PushFinite(row, sums.has_bytes(), sums.bytes);
  const bool has_intensity = sums.has_flops && sums.has_bytes() && sums.bytes > 0;
  PushFinite(row, has_intensity, sums.flops / sums.bytes);
  std::string not_counted;
  for (const std::string_view name : sums.not_counted) {
    not_counted.append(not_counted.empty() ? "" : ", ").append(name);
  }
  row.MaybeText(not_counted);
}

}  // namespace

double FlopsPerCount(std::string_view name) {
  if (name.starts_with("sm__ops_path_tensor_src_") && name.ends_with(".sum") &&
      !Contains(name, "_src_int") && !Contains(name, "_sparsity_")) {
    return 1;
  }
  return std::max(FlopsOfSass(name, kSassPrefix), FlopsOfSass(name, kSassPrefixOfSm));
}

Table CounterFlops(const RankView& view, const OpStacks& stacks,
                   const std::vector<CounterLineup>& lineups) {
  const Trace& trace = view.trace;
  const CounterRoles roles(trace);
  std::map<std::pair<std::string_view, std::string_view>, KernelSums> groups;
  for (const CounterLineup& lineup : lineups) {
    for (const LinedUpRange& row : lineup.ranges) {
      const HostId op = stacks.Innermost(row.launch.call);
      KernelSums& sums = groups[{trace.Name(row.range), op.valid() ? trace.Name(op) : kNoOperator}];
      sums.range_times_are_made_up |= lineup.times_are_made_up;
      AddRange(view, roles, row, sums);
    }
  }
  std::vector<NamedSums> rows;
  rows.reserve(groups.size());
  for (auto& [names, sums] : groups) {
    rows.push_back({names.first, names.second, std::move(sums)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const NamedSums& a, const NamedSums& b) {
    return SortKey(a.sums) > SortKey(b.sums);
  });
  Table table = NewTable();
  for (const NamedSums& named : rows) {
    PushSums(table, view.rank, named);
  }
  return table;
}

}  // namespace borescope::internal
