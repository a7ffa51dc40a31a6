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
#include "borescope/analysis/measures/counter_join/counted_work.h"
#include "borescope/analysis/measures/counter_join/measured.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/base/saturating.h"
#include "borescope/opmodel/op_costs.h"

namespace borescope::internal {
namespace {

// The counters of a trace by the StringId of their names.
class RecordedCounters {
 public:
  explicit RecordedCounters(const RankView& view)
      : trace_(view.trace),
        number_(view.trace.strings().size(), kNone),
        names_(NamesOf(view.trace, number_)),
        meanings_(names_),
        costs_(view.trace) {
    has_tensor_ops_ = std::any_of(names_.begin(), names_.end(), CountsTensorFlops);
  }

  MeasuredKernel Measure(DeviceId range) const;
  // The tensor FLOPs of what ran in a range below an operator.
  KnownFlops TensorFlopsOf(const MeasuredKernel& measured, DeviceId range, HostId op);
  // Whether operations of matrix units were counted.
  bool has_tensor_ops() const { return has_tensor_ops_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  static std::vector<std::string_view> NamesOf(const Trace& trace, std::vector<uint32_t>& number) {
    std::vector<std::string_view> names;
    for (const StringId name : trace.metrics().name) {
      if (number[name.value] != kNone) continue;
      number[name.value] = static_cast<uint32_t>(names.size());
      names.push_back(trace.Text(name));
    }
    return names;
  }

  const Trace& trace_;
  std::vector<uint32_t> number_;  // per text: its place among the names
  std::vector<std::string_view> names_;
  CounterMeanings meanings_;
  OpCosts costs_;
  bool has_tensor_ops_ = false;
};

MeasuredKernel RecordedCounters::Measure(DeviceId range) const {
  const Metrics& metrics = trace_.metrics();
  const uint32_t detail = trace_.device().detail[range.value];
  std::vector<CounterValue> values;
  for (uint32_t i = trace_.ranges().first_metric[detail]; i < trace_.ranges().end_metric[detail];
       ++i) {
    values.push_back({number_[metrics.name[i].value], metrics.value[i]});
  }
  return meanings_.Measure(values);
}

KnownFlops RecordedCounters::TensorFlopsOf(const MeasuredKernel& measured, DeviceId range,
                                           HostId op) {
  if (!measured.tensor_flops.has_value()) return {};
  const OpModel* const model = op.valid() ? costs_.ModelOf(op) : nullptr;
  const bool is_of_matrix_op = model != nullptr && IsMatrixFamily(model->family);
  const std::string_view name = trace_.Name(range);
  return TensorFlops(measured,
                     {.by_name = MatrixUseOf(name, is_of_matrix_op),
                      .format = OperandFormat(name),
                      .type = model == nullptr ? ScalarType::kUnknown : costs_.Of(op).type});
}

enum class TimeSource : uint8_t { kCounter, kKernel, kRange, kTrace, kNone };

std::string_view TimeSourceName(TimeSource source) {
  static constexpr std::string_view kNames[] = {"counter", "kernel", "range", "trace", ""};
  return kNames[static_cast<size_t>(source)];
}

// Sums over the ranges of one kernel and operator.
struct KernelSums {
  int64_t ranges = 0;
  double flops = 0;
  bool has_flops = false;
  bool knows_flops = true;  // none of the kernels did operations that were not counted
  double bytes = 0;
  int64_t ranges_with_bytes = 0;
  double counter_ns = 0;
  int64_t ranges_with_counter_ns = 0;
  int64_t kernel_ns = 0;
  int64_t ranges_with_kernel = 0;
  int64_t range_ns = 0;
  bool range_times_are_made_up = false;
  bool is_of_report = false;  // measured in another run: times are those of the trace
  std::set<std::string_view> not_counted;

  // The best source that every range has: a sum of several kinds of time would mean nothing.
  TimeSource source() const {
    if (is_of_report) return TimeSource::kTrace;
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
      case TimeSource::kTrace:
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

// Adds the counters of one kernel.
void AddMeasured(const MeasuredKernel& measured, const KnownFlops& tensor, KernelSums& sums) {
  sums.flops += tensor.flops.value_or(0) + measured.vector_flops.value_or(0);
  sums.has_flops |= tensor.flops.has_value() || measured.vector_flops.has_value();
  if (!tensor.not_counted.empty()) {
    sums.knows_flops = false;
    sums.not_counted.insert(tensor.not_counted);
  }
  if (measured.dram_bytes.has_value()) {
    sums.bytes += *measured.dram_bytes;
    ++sums.ranges_with_bytes;
  }
}

void AddRange(const RankView& view, RecordedCounters& counters, const LinedUpRange& row, HostId op,
              KernelSums& sums) {
  const DeviceEvents& device = view.trace.device();
  ++sums.ranges;
  sums.range_ns = AddSaturating(sums.range_ns, device.dur_ns[row.range.value]);
  if (row.launch.kernel.valid() && NamesAgree(view.trace, row.range, row.launch.kernel)) {
    sums.kernel_ns = AddSaturating(sums.kernel_ns, device.dur_ns[row.launch.kernel.value]);
    ++sums.ranges_with_kernel;
  }
  const MeasuredKernel measured = counters.Measure(row.range);
  AddMeasured(measured, counters.TensorFlopsOf(measured, row.range, op), sums);
  if (!counters.has_tensor_ops()) {
    sums.not_counted.insert(measured.tensor_instructions.begin(),
                            measured.tensor_instructions.end());
  }
  if (measured.ns.has_value()) {
    sums.counter_ns += *measured.ns;
    ++sums.ranges_with_counter_ns;
  }
}

Table NewTable() {
  Table table{"counter_flops", "Floating-point operations from hardware counters", {}};
  AddRankKey(table);
  AddString(table, "kernel", Role::kKey, "Name of the range: the kernel it was measured for.");
  AddString(table, "op", Role::kKey,
            "Innermost operator around the launch; \"(no operator)\" where there is none.");
  AddInt(table, "ranges", Unit::kCount, Role::kSum, "Ranges measured.");
  AddFloat(table, "flops", Unit::kFlops, Role::kDerived,
           "Operations; missing where no counter of them was measured, or not that of the type on "
           "which matrix units worked.");
  AddFloat(table, "time_ns", Unit::kNanoseconds, Role::kDerived,
           "Time of the kernels; missing if not known.");
  AddString(table, "time_from", Role::kDerived,
            "Where the time is from: the counter gpu__time_duration, the recorded kernels, or the "
            "ranges, which are longer than their kernels; trace: the kernels of the trace, of "
            "which another run measured the counters.");
  AddFloat(table, "tflops", Unit::kNone, Role::kDerived, "10^12 operations per second.");
  AddFloat(table, "dram_bytes", Unit::kBytes, Role::kDerived,
           "Traffic between device memory and L2; missing if not measured.");
  AddFloat(table, "intensity", Unit::kNone, Role::kDerived, "Operations per byte of that traffic.");
  AddString(table, "not_counted", Role::kDerived,
            "Counters of tensor-core instructions that no operations can be told from, or types of "
            "operands that were not counted; measure sm__ops_path_tensor_src_*.sum.");
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
  return std::isfinite(sums.flops) && sums.knows_flops ? sums.flops
                                                       : -std::numeric_limits<double>::infinity();
}

void PushSums(Table& table, int64_t rank, const NamedSums& named) {
  constexpr double kTera = 1e12;
  constexpr double kNanosecondsPerSecond = 1e9;
  const KernelSums& sums = named.sums;
  const double time_ns = sums.time_ns();
  Row row(table);
  row.Int(rank).Text(named.kernel).Text(named.op).Int(sums.ranges);
  const bool has_flops = sums.has_flops && sums.knows_flops;
  PushFinite(row, has_flops, sums.flops);
  PushFinite(row, time_ns > 0, time_ns);
  row.MaybeText(TimeSourceName(sums.source()));
  const bool has_rate = has_flops && time_ns > 0;
  PushFinite(row, has_rate, sums.flops / kTera / (time_ns / kNanosecondsPerSecond));
  PushFinite(row, sums.has_bytes(), sums.bytes);
  const bool has_intensity = has_flops && sums.has_bytes() && sums.bytes > 0;
  PushFinite(row, has_intensity, sums.flops / sums.bytes);
  std::string not_counted;
  for (const std::string_view name : sums.not_counted) {
    not_counted.append(not_counted.empty() ? "" : ", ").append(name);
  }
  row.MaybeText(not_counted);
}

// By kernel and operator.
using Groups = std::map<std::pair<std::string_view, std::string_view>, KernelSums>;

Table TableOf(int64_t rank, Groups groups) {
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
    PushSums(table, rank, named);
  }
  return table;
}

}  // namespace

Table CounterFlops(const RankView& view, const OpStacks& stacks,
                   const std::vector<CounterLineup>& lineups) {
  const Trace& trace = view.trace;
  RecordedCounters counters(view);
  Groups groups;
  for (const CounterLineup& lineup : lineups) {
    for (const LinedUpRange& row : lineup.ranges) {
      const HostId op = stacks.Innermost(row.launch.call);
      KernelSums& sums = groups[{trace.Name(row.range), op.valid() ? trace.Name(op) : kNoOperator}];
      sums.range_times_are_made_up |= lineup.times_are_made_up;
      AddRange(view, counters, row, op, sums);
    }
  }
  return TableOf(view.rank, std::move(groups));
}

Table CounterFlops(const CountersInput& in) {
  const Trace& trace = in.view.trace;
  CountedWork counted(in.view, in.counters, in.work);
  Groups groups;
  for (const DeviceId id : in.counters.kernels) {
    const MeasuredKernel* const measured = in.counters.MeasuredOf(id);
    if (measured == nullptr || !in.selected.Keeps(id)) continue;
    const HostId op = in.view.index.correlation.op_of[id.value];
    KernelSums& sums = groups[{trace.Name(id), op.valid() ? trace.Name(op) : kNoOperator}];
    ++sums.ranges;
    sums.is_of_report = true;
    AddSaturatingTo(sums.kernel_ns, trace.device().dur_ns[id.value]);
    AddMeasured(*measured, counted.TensorFlopsOf(id), sums);
  }
  return TableOf(in.view.rank, std::move(groups));
}

}  // namespace borescope::internal
