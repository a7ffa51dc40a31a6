#include "borescope/analysis/measures/counter_join/counter_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/flops/counters.h"
#include "borescope/analysis/measures/graphs/captured_work.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/trace/report_texts.h"

namespace borescope::internal {

namespace {

// The measures that the reports of a rank, and their join, are found by.
struct ReportsOfRank {};
struct CountersOfRank {};
struct KernelCountersOfRank {};

// Numbers for values of any kind, of both recordings.
template <class Value>
class Numbers {
 public:
  uint32_t Of(const Value& value) {
    return numbers_.try_emplace(value, static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<Value, uint32_t> numbers_;
};

using Size3 = std::array<int64_t, 3>;
struct Key {
  uint32_t name = 0;
  Size3 grid = {};
  Size3 block = {};

  auto operator<=>(const Key&) const = default;
};

// What emit_nvtx appends to the name of an operator is not part of the name.
std::string_view WithoutSequence(std::string_view range) {
  return range.substr(0, range.find(", seq = "));
}

int64_t ProductOf(const Size3& size) {
  int64_t product = 1;
  for (const int64_t one : size) {
    if (one < 0 || (one > 0 && product > std::numeric_limits<int64_t>::max() / one)) return -1;
    product *= one;
  }
  return product;
}

Size3 GridOf(const Kernels& kernels, uint32_t detail) {
  return {kernels.grid_x[detail], kernels.grid_y[detail], kernels.grid_z[detail]};
}
Size3 BlockOf(const Kernels& kernels, uint32_t detail) {
  return {kernels.block_x[detail], kernels.block_y[detail], kernels.block_z[detail]};
}

// The kernels of each device in the order of their launches; those of one launch, as of a graph, by
// start.
std::map<int64_t, std::vector<DeviceId>> KernelsByDevice(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  std::map<int64_t, std::vector<DeviceId>> kernels;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (device.kind[row] == DeviceKind::kKernel && device.detail[row] != kNoDetail) {
      kernels[view.trace.DeviceOf(DeviceId{row})].push_back(DeviceId{row});
    }
  }
  const auto place_of = [&](DeviceId id) {
    const HostId launch = view.index.correlation.launch_of[id.value];
    const int64_t start_ns = device.ts_ns[id.value];
    return std::tuple(launch.valid() ? view.trace.host().ts_ns[launch.value] : start_ns, start_ns,
                      id.value);
  };
  for (auto& [gpu, of_device] : kernels) {
    std::sort(of_device.begin(), of_device.end(),
              [&](DeviceId a, DeviceId b) { return place_of(a) < place_of(b); });
  }
  return kernels;
}

// What the trace knows of the kernels of all devices, whatever the report.
class TracedWork {
 public:
  TracedWork(const RankView& view, const CapturedLaunches& captured)
      : view_(view),
        captured_(captured),
        kernels_(KernelsByDevice(view)),
        signatures_(view.trace.host().all_size(), kUnset) {}

  const std::map<int64_t, std::vector<DeviceId>>& kernels() const { return kernels_; }
  uint32_t SignatureOf(DeviceId id);
  bool has_shapes() const { return has_shapes_; }
  HostId OriginOf(DeviceId id) const;
  uint32_t SegmentOf(DeviceId id) const {
    const Steps& steps = view_.steps();
    return steps.device_step.empty() ? kNoStep : steps.device_step[id.value];
  }

 private:
  static constexpr uint32_t kUnset = ~uint32_t{0};

  const RankView& view_;
  const CapturedLaunches& captured_;
  std::map<int64_t, std::vector<DeviceId>> kernels_;
  uint32_t OperatorOf(HostId row);

  std::vector<uint32_t> signatures_;  // per host row
  Numbers<std::array<uint32_t, 4>> numbers_;
  Numbers<std::string_view> operators_;
  std::map<uint32_t, uint32_t> operator_of_;  // by the text of the name
  bool has_shapes_ = false;
};

// Where the surroundings of a kernel begin.
HostId TracedWork::OriginOf(DeviceId id) const {
  const HostId captured = captured_.LaunchOf(id);
  return captured.valid() ? captured : view_.index.correlation.OriginOf(id);
}

// What works in place does the same amount of work: aten::add_ is aten::add.
uint32_t TracedWork::OperatorOf(HostId row) {
  const auto [known, is_new] =
      operator_of_.try_emplace(view_.trace.host().name[row.value].value, 0);
  if (is_new) {
    std::string_view name = view_.trace.Name(row);
    if (name.ends_with("_") && !name.ends_with("__")) name.remove_suffix(1);
    known->second = operators_.Of(name) + 1;
  }
  return known->second;
}

// A number for the innermost operator with shapes around the launch and its arguments; without such
// an operator one for the name of the innermost operator.
uint32_t TracedWork::SignatureOf(DeviceId id) {
  const HostEvents& host = view_.trace.host();
  const Ops& ops = view_.trace.ops();
  const HostId origin = OriginOf(id);
  if (!origin.valid()) return kNoSignature;
  uint32_t& known = signatures_[origin.value];
  if (known != kUnset) return known;
  uint32_t innermost = 0;
  for (HostId row = origin; row.valid(); row = view_.index.tree.parent[row.value]) {
    const uint32_t detail = host.detail[row.value];
    if (host.kind[row.value] != HostKind::kOp || detail == kNoDetail) continue;
    const uint32_t name = OperatorOf(row);
    innermost = innermost == 0 ? name : innermost;
    const std::array<uint32_t, 4> signature = {name, ops.input_dims[detail].value,
                                               ops.input_types[detail].value,
                                               ops.concrete_inputs[detail].value};
    if (signature[1] == 0 || view_.trace.Text(ops.input_dims[detail]).empty()) continue;
    has_shapes_ = true;
    return known = numbers_.Of(signature);
  }
  return known = numbers_.Of({innermost, 0, 0, 0});
}

// One report and the trace, as sequences of numbers.
class ReportJoin {
 public:
  ReportJoin(const RankView& view, TracedWork& traced, const CounterReport& report);

  // Whether a kernel of the report has the name and size of one of the trace.
  bool HasCommonKey() const { return has_common_key_; }
  std::vector<CountedItem> CountedOf(std::span<const uint32_t> kernels) const;
  std::vector<TracedItem> TracedOf(int64_t gpu) const;
  // The kernels of a rank's process and of a device in the report.
  std::vector<uint32_t> KernelsOf(int64_t gpu) const;
  MeasuredKernel Measure(std::span<const CounterValue> values) const {
    return meanings_.Measure(values);
  }
  const MeasuredKernel& MeasuredOf(uint32_t kernel) const { return measured_[kernel]; }
  bool IsCommon(uint32_t kernel) const { return traced_keys_.contains(keys_[kernel]); }
  bool IsCommon(const TracedItem& item) const { return counted_keys_.contains(item.key); }
  const std::vector<std::string_view>& metrics() const { return metrics_; }

 private:
  using NameNumbers = Numbers<std::string>;

  void MeasureKernels();
  void FindLabels();
  void SetKeys(bool by_function);
  uint32_t LabelOf(const CountedKernel& kernel);
  uint32_t NameOf(uint32_t text, bool by_function);
  Key KeyOf(DeviceId id, bool by_function);

  const RankView& view_;
  TracedWork& traced_;
  const CounterReport& report_;
  std::vector<std::string_view> metrics_;
  CounterMeanings meanings_;
  std::vector<MeasuredKernel> measured_;  // per kernel of the report
  NameNumbers names_;
  NameNumbers labels_;
  Numbers<Key> key_numbers_;
  Numbers<std::pair<uint32_t, uint32_t>> tokens_;  // key, label
  std::vector<uint32_t> keys_;                     // per kernel of the report
  std::vector<uint32_t> counted_tokens_;
  std::vector<uint32_t> names_of_texts_;              // per text of the trace
  std::vector<uint32_t> label_of_row_;                // per host row: of the innermost range
  std::map<int64_t, std::vector<TracedItem>> items_;  // by device
  std::set<uint32_t> traced_labels_;                  // of ranges that both sides name
  std::set<uint32_t> counted_keys_;
  std::set<uint32_t> traced_keys_;
  uint32_t no_label_ = 0;
  bool has_common_key_ = false;
};

std::vector<std::string_view> NamesOfMetrics(const CounterReport& report) {
  std::vector<std::string_view> names;
  names.reserve(report.metrics.size());
  for (const CounterMetric& metric : report.metrics) {
    names.push_back(metric.name);
  }
  return names;
}

ReportJoin::ReportJoin(const RankView& view, TracedWork& traced, const CounterReport& report)
    : view_(view),
      traced_(traced),
      report_(report),
      metrics_(NamesOfMetrics(report)),
      meanings_(metrics_),
      no_label_(labels_.Of("")) {
  MeasureKernels();
  FindLabels();
  SetKeys(!report.whole_names);
  if (!has_common_key_ && report.whole_names) SetKeys(true);
}

std::vector<CounterValue> ValuesOf(const CountedKernel& kernel) {
  std::vector<CounterValue> values;
  values.reserve(kernel.values.size());
  for (const CountedKernel::Value& value : kernel.values) {
    values.push_back({value.metric, value.value});
  }
  return values;
}

void ReportJoin::MeasureKernels() {
  measured_.reserve(report_.kernels.size());
  for (const CountedKernel& kernel : report_.kernels) {
    CheckStopAt(measured_.size());
    MeasuredKernel& measured = measured_.emplace_back(meanings_.Measure(ValuesOf(kernel)));
    if (!measured.ns.has_value() && kernel.dur_ns >= 0) {
      measured.ns = static_cast<double>(kernel.dur_ns);
    }
  }
}

// The innermost range around each host row whose name occurs in the report.
void ReportJoin::FindLabels() {
  std::set<std::string_view> counted;
  for (const CountedKernel& kernel : report_.kernels) {
    for (const std::string& range : kernel.ranges) {
      counted.insert(WithoutSequence(range));
    }
  }
  const HostEvents& host = view_.trace.host();
  label_of_row_.assign(host.all_size(), no_label_);
  if (counted.empty()) return;
  for (uint32_t row = 0; row < host.all_size(); ++row) {
    CheckStopAt(row);
    const HostId parent = view_.index.tree.parent[row];
    if (parent.valid()) label_of_row_[row] = label_of_row_[parent.value];
    if (host.kind[row] != HostKind::kAnnotation && host.kind[row] != HostKind::kOp) continue;
    const std::string_view name = WithoutSequence(view_.trace.Name(HostId{row}));
    if (!counted.contains(name)) continue;
    label_of_row_[row] = labels_.Of(std::string(name));
    traced_labels_.insert(label_of_row_[row]);
  }
}

// REQUIRES: FindLabels.
uint32_t ReportJoin::LabelOf(const CountedKernel& kernel) {
  for (auto range = kernel.ranges.rbegin(); range != kernel.ranges.rend(); ++range) {
    const uint32_t label = labels_.Of(std::string(WithoutSequence(*range)));
    if (traced_labels_.contains(label)) return label;
  }
  return no_label_;
}

uint32_t ReportJoin::NameOf(uint32_t text, bool by_function) {
  uint32_t& name = names_of_texts_[text];
  if (name == ~uint32_t{0}) {
    const std::string_view whole = view_.trace.Text(StringId{text});
    name = names_.Of(by_function ? FunctionInName(whole) : std::string(whole));
  }
  return name;
}

Key ReportJoin::KeyOf(DeviceId id, bool by_function) {
  const DeviceEvents& device = view_.trace.device();
  const uint32_t detail = device.detail[id.value];
  Key key{NameOf(device.name[id.value].value, by_function), GridOf(view_.trace.kernels(), detail),
          BlockOf(view_.trace.kernels(), detail)};
  if (report_.amd) {
    key.grid = {ProductOf(key.grid), 1, 1};
    key.block = {ProductOf(key.block), 1, 1};
  }
  return key;
}

void ReportJoin::SetKeys(bool by_function) {
  keys_.clear();
  counted_tokens_.clear();
  items_.clear();
  counted_keys_.clear();
  traced_keys_.clear();
  names_of_texts_.assign(view_.trace.strings().size(), ~uint32_t{0});
  for (const CountedKernel& kernel : report_.kernels) {
    const std::string& name =
        by_function && !kernel.function.empty() ? kernel.function : kernel.name;
    const uint32_t number = names_.Of(by_function ? FunctionInName(name) : name);
    keys_.push_back(key_numbers_.Of({number, kernel.grid, kernel.block}));
    counted_tokens_.push_back(tokens_.Of({keys_.back(), LabelOf(kernel)}));
    counted_keys_.insert(keys_.back());
  }
  const DeviceEvents& device = view_.trace.device();
  for (const auto& [gpu, kernels] : traced_.kernels()) {
    std::vector<TracedItem>& items = items_[gpu];
    items.reserve(kernels.size());
    for (const DeviceId id : kernels) {
      CheckStopAt(items.size());
      const HostId origin = traced_.OriginOf(id);
      const uint32_t label = origin.valid() ? label_of_row_[origin.value] : no_label_;
      TracedItem item{.key = key_numbers_.Of(KeyOf(id, by_function)),
                      .signature = traced_.SignatureOf(id),
                      .segment = traced_.SegmentOf(id),
                      .stream = view_.trace.tracks().tid[device.track[id.value].value],
                      .ns = device.dur_ns[id.value],
                      .is_labelled = label != no_label_};
      item.token = tokens_.Of({item.key, label});
      has_common_key_ |= counted_keys_.contains(item.key);
      traced_keys_.insert(item.key);
      items.push_back(item);
    }
  }
}

// A report of one process is of every rank; of several the k-th in order of appearance is rank k.
// Of one device it is of every device of the rank; of several, of those with the same numbers.
std::vector<uint32_t> ReportJoin::KernelsOf(int64_t gpu) const {
  std::vector<int64_t> processes;
  std::set<int64_t> known;
  for (const CountedKernel& kernel : report_.kernels) {
    if (known.insert(kernel.pid).second) {
      processes.push_back(kernel.pid);
    }
  }
  const bool is_of_one = processes.size() <= 1;
  const auto rank = static_cast<uint64_t>(view_.rank);
  if (!is_of_one && rank >= processes.size()) return {};
  std::vector<uint32_t> kernels;
  std::set<int64_t> devices;
  for (uint32_t i = 0; i < report_.kernels.size(); ++i) {
    if (!is_of_one && report_.kernels[i].pid != processes[rank]) continue;
    kernels.push_back(i);
    devices.insert(report_.kernels[i].device);
  }
  if (devices.size() > 1) {
    std::erase_if(kernels, [&](uint32_t i) { return report_.kernels[i].device != gpu; });
  }
  return kernels;
}

std::vector<CountedItem> ReportJoin::CountedOf(std::span<const uint32_t> kernels) const {
  std::vector<CountedItem> items;
  items.reserve(kernels.size());
  for (const uint32_t i : kernels) {
    const MeasuredKernel& measured = measured_[i];
    items.push_back({.key = keys_[i],
                     .token = counted_tokens_[i],
                     .stream = report_.kernels[i].stream,
                     .ns = measured.ns,
                     .tensor_flops = measured.tensor_flops,
                     .vector_flops = measured.vector_flops});
  }
  return items;
}

std::vector<TracedItem> ReportJoin::TracedOf(int64_t gpu) const {
  const auto found = items_.find(gpu);
  return found == items_.end() ? std::vector<TracedItem>() : found->second;
}

// The mean of the counters of several kernels; of each counter over those that have it.
std::vector<CounterValue> MeanOf(const CounterReport& report, std::span<const uint32_t> kernels) {
  if (kernels.size() == 1) return ValuesOf(report.kernels[kernels.front()]);
  std::map<uint32_t, std::pair<double, int64_t>> sums;
  for (const uint32_t i : kernels) {
    for (const CountedKernel::Value& value : report.kernels[i].values) {
      auto& [sum, count] = sums[value.metric];
      sum += value.value;
      ++count;
    }
  }
  std::vector<CounterValue> mean;
  mean.reserve(sums.size());
  for (const auto& [metric, sum] : sums) {
    mean.push_back({metric, sum.first / static_cast<double>(sum.second)});
  }
  return mean;
}

// Joins every report with every device of one rank.
class CounterJoiner {
 public:
  CounterJoiner(const RankView& view, const GivenReports& given, const CapturedLaunches& captured)
      : view_(view), given_(given), traced_(view, captured) {}

  Result<RankCounters> Join();

 private:
  Result<void> CheckDevice(const CounterReport& report);
  void JoinDevice(const ReportJoin& report, int64_t gpu);
  void Take(DeviceId id, JoinedItem item, std::span<const uint32_t> groups, DeviceJoin& join);
  void CountSource(const TracedItem& item, DeviceId id, JoinSource source, DeviceJoin& join) const;
  void DescribeReport(const ReportJoin& report, std::span<const uint32_t> kernels,
                      DeviceJoin& join) const;
  void DescribePairs(const ReportJoin& report, std::span<const uint32_t> kernels,
                     const SequenceJoin& joined, std::span<const DeviceId> rows,
                     DeviceJoin& join) const;
  std::string NoCommonKey() const;

  const RankView& view_;
  const GivenReports& given_;
  TracedWork traced_;
  RankCounters result_;
};

std::string DeviceNameOf(const Trace& trace) {
  for (const DeviceInfo& device : trace.meta().devices) {
    if (!device.name.empty()) return device.name;
  }
  return "";
}

// Whether a report is of a model: "A, B" is of two.
bool IsAmongDevices(std::string_view model, std::string_view devices) {
  constexpr std::string_view kBetween = ", ";
  if (model == devices) return true;
  while (!devices.empty()) {
    const size_t end = std::min(devices.find(kBetween), devices.size());
    if (devices.substr(0, end) == model) return true;
    devices.remove_prefix(std::min(end + kBetween.size(), devices.size()));
  }
  return false;
}

Result<void> CounterJoiner::CheckDevice(const CounterReport& report) {
  const std::string traced = DeviceNameOf(view_.trace);
  if (traced.empty() || report.device.empty() || IsAmongDevices(traced, report.device)) return {};
  result_.is_of_other_device = true;
  if (given_.of_any_device) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("its counters are of {}, and {} was recorded on {}", report.device,
                           view_.trace.meta().file, traced),
               "measure on the same device, or take its counts alone with `counters_anyway`",
               report.file};
}

void CounterJoiner::CountSource(const TracedItem& item, DeviceId id, JoinSource source,
                                DeviceJoin& join) const {
  ++join.by_source[static_cast<size_t>(source)];
  join.total_ns += item.ns;
  if (HasCounters(source)) {
    join.valued_ns += item.ns;
  } else if (join.first_without.empty()) {
    join.first_without = view_.trace.Name(id);
  }
  if (source == JoinSource::kAmbiguous) join.ambiguous_ns += item.ns;
  if (source == JoinSource::kNone) join.unmatched_ns += item.ns;
}

bool DoOtherWork(const MeasuredKernel& a, const MeasuredKernel& b) {
  constexpr double kMost = 0.02;
  const auto differ = [](const std::optional<double>& x, const std::optional<double>& y) {
    return x.has_value() && y.has_value() && std::abs(*x - *y) > kMost * std::max(*x, *y);
  };
  return differ(a.tensor_flops, b.tensor_flops) || differ(a.vector_flops, b.vector_flops);
}

// Gives a row what a report knows about it, unless it has better from a report before: counters win
// over the reason why there are none.
void CounterJoiner::Take(DeviceId id, JoinedItem item, std::span<const uint32_t> groups,
                         DeviceJoin& join) {
  JoinedItem& known = result_.items[id.value];
  if (HasCounters(item.source)) item.group = groups[item.group];
  if (HasCounters(known.source) && known.group != kNoGroup) {
    if (HasCounters(item.source) &&
        DoOtherWork(result_.groups[known.group].measured, result_.groups[item.group].measured)) {
      ++join.disagreeing;
    }
    return;
  }
  if (HasCounters(item.source) || item.source < known.source) known = item;
}

// What the report knows about its kernels, whether they are in the trace or not.
void CounterJoiner::DescribeReport(const ReportJoin& report, std::span<const uint32_t> kernels,
                                   DeviceJoin& join) const {
  const CounterReport& file = *result_.reports[join.report];
  std::map<std::string_view, double> only_here;
  for (const uint32_t i : kernels) {
    const MeasuredKernel& measured = report.MeasuredOf(i);
    const double ns = measured.ns.value_or(0);
    join.report_ns += ns;
    if (measured.passes.has_value()) {
      join.passes = std::max(join.passes.value_or(0), *measured.passes);
    }
    if (report.IsCommon(i)) continue;
    ++join.only_in_report;
    join.only_in_report_ns += ns;
    only_here[file.kernels[i].name] += ns;
  }
  for (const auto& [name, ns] : only_here) {
    if (join.largest_reported.empty() || ns > only_here[join.largest_reported]) {
      join.largest_reported = name;
    }
  }
}

// What follows from kernels of which both sides are known.
void CounterJoiner::DescribePairs(const ReportJoin& report, std::span<const uint32_t> kernels,
                                  const SequenceJoin& joined, std::span<const DeviceId> rows,
                                  DeviceJoin& join) const {
  const Kernels& traced = view_.trace.kernels();
  double clock_ns = 0;
  double ratio_ns = 0;
  for (const ItemPair& pair : joined.pairs) {
    const MeasuredKernel& measured = report.MeasuredOf(kernels[pair.counted]);
    const DeviceId id = rows[pair.traced];
    const uint32_t detail = view_.trace.device().detail[id.value];
    const auto differs = [](std::optional<double> counted, int32_t recorded) {
      return counted.has_value() && recorded >= 0 && *counted != recorded;
    };
    join.other_build += differs(measured.registers, traced.registers[detail]) ||
                                differs(measured.shared_bytes, traced.shared_bytes[detail])
                            ? 1
                            : 0;
    if (measured.clock_hz.has_value() && measured.max_clock_hz.value_or(0) > 0) {
      const auto ns = static_cast<double>(view_.trace.device().dur_ns[id.value]);
      clock_ns += ns;
      ratio_ns += ns * *measured.clock_hz / *measured.max_clock_hz;
    }
  }
  if (clock_ns > 0) join.clock_ratio = ratio_ns / clock_ns;
}

void CounterJoiner::JoinDevice(const ReportJoin& report, int64_t gpu) {
  const std::vector<DeviceId>& rows = traced_.kernels().at(gpu);
  const std::vector<uint32_t> kernels = report.KernelsOf(gpu);
  const std::vector<TracedItem> traced = report.TracedOf(gpu);
  const SequenceJoin joined =
      JoinSequences(report.CountedOf(kernels), traced, traced_.has_shapes());
  DeviceJoin join{.gpu = gpu,
                  .report = static_cast<uint32_t>(result_.reports.size() - 1),
                  .profiled = static_cast<int64_t>(kernels.size()),
                  .launches = static_cast<int64_t>(rows.size())};
  std::vector<uint32_t> groups;
  for (const std::vector<uint32_t>& members : joined.groups) {
    groups.push_back(static_cast<uint32_t>(result_.groups.size()));
    CounterGroup& group = result_.groups.emplace_back();
    group.report = join.report;
    for (const uint32_t member : members) {
      group.kernels.push_back(kernels[member]);
    }
    group.mean = MeanOf(*result_.reports.back(), group.kernels);
    group.measured = report.Measure(group.mean);
  }
  std::map<std::string_view, int64_t> unmatched;
  for (size_t i = 0; i < rows.size(); ++i) {
    CountSource(traced[i], rows[i], joined.items[i].source, join);
    if (!report.IsCommon(traced[i])) unmatched[view_.trace.Name(rows[i])] += traced[i].ns;
    Take(rows[i], joined.items[i], groups, join);
  }
  for (const auto& [name, ns] : unmatched) {
    if (join.largest_none.empty() || ns > unmatched[join.largest_none]) join.largest_none = name;
  }
  DescribeReport(report, kernels, join);
  DescribePairs(report, kernels, joined, rows, join);
  result_.joins.push_back(join);
}

std::string Spelled(std::string_view name, const Size3& grid, const Size3& block) {
  constexpr size_t kMostName = 200;
  return fmt::format("{} (grid {}, {}, {}; block {}, {}, {})", name.substr(0, kMostName), grid[0],
                     grid[1], grid[2], block[0], block[1], block[2]);
}

// How each side spells its first kernel, where none is on both.
std::string CounterJoiner::NoCommonKey() const {
  std::string counted = "no kernel";
  for (const auto& report : result_.reports) {
    if (report->kernels.empty()) continue;
    const CountedKernel& kernel = report->kernels.front();
    counted = Spelled(kernel.name, kernel.grid, kernel.block);
    break;
  }
  const DeviceId first = traced_.kernels().begin()->second.front();
  const uint32_t detail = view_.trace.device().detail[first.value];
  return fmt::format("no kernel of {} has the name and size of one of {}: the first is {}, and {}",
                     result_.reports.front()->file, view_.trace.meta().file, counted,
                     Spelled(view_.trace.Name(first), GridOf(view_.trace.kernels(), detail),
                             BlockOf(view_.trace.kernels(), detail)));
}

Result<RankCounters> CounterJoiner::Join() {
  if (traced_.kernels().empty()) return RankCounters{};
  result_.items.resize(view_.trace.device().size());
  for (const auto& [gpu, kernels] : traced_.kernels()) {
    result_.kernels.insert(result_.kernels.end(), kernels.begin(), kernels.end());
    for (const DeviceId id : kernels) {
      traced_.SignatureOf(id);  // whether any has shapes
    }
  }
  result_.has_shapes = traced_.has_shapes();
  bool has_common_key = false;
  for (const auto& report : given_.reports) {
    BS_TRY(CheckDevice(*report));
    result_.reports.push_back(report);
    const ReportJoin join(view_, traced_, *report);
    result_.metrics.push_back(join.metrics());
    has_common_key |= join.HasCommonKey();
    for (const auto& [gpu, kernels] : traced_.kernels()) {
      JoinDevice(join, gpu);
    }
  }
  if (!has_common_key) {
    return Error{ErrorCode::kInvalidArgument, NoCommonKey(),
                 "give a report of the program that was traced", view_.trace.meta().file};
  }
  std::stable_sort(result_.joins.begin(), result_.joins.end(),
                   [](const DeviceJoin& a, const DeviceJoin& b) { return a.gpu < b.gpu; });
  return std::move(result_);
}

}  // namespace

void GiveReports(SharedMeasures& shared, GivenReports reports) {
  shared.Get<ReportsOfRank>([&] { return std::move(reports); });
}

bool HasReports(const RankView& view) {
  return !view.Shared<ReportsOfRank>([] { return GivenReports(); })->empty();
}

Result<RankCounters> JoinCounters(const RankView& view, const GivenReports& given) {
  if (given.empty() || view.trace.ranges().size() > 0) return RankCounters{};
  BS_ASSIGN(const CapturedLaunches captured, FindCapturedLaunches(view));
  return CounterJoiner(view, given, captured).Join();
}

Result<std::shared_ptr<const RankCounters>> SharedRankCounters(const RankView& view) {
  const auto joined = view.Shared<CountersOfRank>([&]() -> Result<std::shared_ptr<RankCounters>> {
    const auto given = view.Shared<ReportsOfRank>([] { return GivenReports(); });
    BS_ASSIGN(RankCounters counters, JoinCounters(view, *given));
    if (given->when_joined != nullptr && !counters.empty()) given->when_joined(counters);
    return std::make_shared<RankCounters>(std::move(counters));
  });
  if (!joined->ok()) return joined->error();
  return std::shared_ptr<const RankCounters>(**joined);
}

namespace {

// The names of the metrics of a recording, and the values of ranges by their places.
class RecordedMetrics {
 public:
  explicit RecordedMetrics(const Trace& trace) : trace_(trace) {
    HashMap<uint32_t, uint32_t> places;
    place_.reserve(trace.metrics().size());
    for (const StringId name : trace.metrics().name) {
      const auto [place, is_new] =
          places.try_emplace(name.value, static_cast<uint32_t>(names_.size()));
      if (is_new) names_.push_back(trace.Text(name));
      place_.push_back(place->second);
    }
  }

  const std::vector<std::string_view>& names() const { return names_; }
  std::vector<CounterValue> ValuesOf(DeviceId range) const {
    const ProfilerRanges& ranges = trace_.ranges();
    const uint32_t row = trace_.device().detail[range.value];
    std::vector<CounterValue> values;
    if (row == kNoDetail) return values;
    for (uint32_t i = ranges.first_metric[row]; i < ranges.end_metric[row]; ++i) {
      values.push_back({place_[i], trace_.metrics().value[i]});
    }
    return values;
  }

 private:
  const Trace& trace_;
  std::vector<std::string_view> names_;
  std::vector<uint32_t> place_;  // per metric, in names_
};

}  // namespace

RankCounters OwnCounters(const RankView& view) {
  RankCounters recorded;
  const Trace& trace = view.trace;
  if (trace.ranges().size() == 0) return recorded;
  const RecordedMetrics metrics(trace);
  const CounterMeanings meanings(metrics.names());
  const std::vector<CounterLineup> lineups = LineUpCounters(view);
  for (const CounterLineup& lineup : lineups) {
    if (lineup.mode != LineupMode::kCorrelation) continue;
    recorded.items.resize(trace.device().size());
    for (const LinedUpRange& row : lineup.ranges) {
      CheckStopAt(recorded.groups.size());
      const DeviceId kernel = row.launch.kernel;
      if (!kernel.valid() || trace.device().detail[kernel.value] == kNoDetail) continue;
      recorded.items[kernel.value] = {JoinSource::kRecorded,
                                      static_cast<uint32_t>(recorded.groups.size())};
      CounterGroup& group = recorded.groups.emplace_back();
      group.kernels.push_back(0);
      group.mean = metrics.ValuesOf(row.range);
      group.measured = meanings.Measure(group.mean);
    }
  }
  if (recorded.groups.empty()) return RankCounters{};
  for (auto& [gpu, kernels] : KernelsByDevice(view)) {
    recorded.kernels.insert(recorded.kernels.end(), kernels.begin(), kernels.end());
  }
  // For the file itself: one kernel without texts, which all groups have.
  CounterReport report;
  report.file = trace.meta().file;
  report.tool = trace.meta().producer;
  report.kernels.emplace_back();
  recorded.reports.push_back(std::make_shared<const CounterReport>(std::move(report)));
  recorded.metrics.push_back(metrics.names());
  return recorded;
}

Result<std::shared_ptr<const RankCounters>> SharedKernelCounters(const RankView& view) {
  BS_ASSIGN(std::shared_ptr<const RankCounters> joined, SharedRankCounters(view));
  if (!joined->empty()) return joined;
  return std::shared_ptr<const RankCounters>(
      view.Shared<KernelCountersOfRank>([&] { return OwnCounters(view); }));
}

}  // namespace borescope::internal
