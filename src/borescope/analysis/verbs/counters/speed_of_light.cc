// speed_of_light: how near kernels came to the peaks of the device, and what held them back, by the
// percentages that Nsight Compute's sections measure. Kernels of one name and size are one row; its
// percentages are means weighted by the time in the trace.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

struct SpeedOfLightRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  std::string_view kernel = {};
  std::string grid = {};
  std::string block = {};
  std::optional<std::string_view> op = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  std::optional<double> share = {};
  std::optional<double> compute = {};
  std::optional<double> memory = {};
  std::optional<double> dram = {};
  std::optional<double> l2 = {};
  std::optional<double> l1 = {};
  std::optional<double> tensor = {};
  std::optional<double> occupancy = {};
  std::optional<double> occupancy_max = {};
  std::optional<std::string_view> occupancy_limit = {};
  std::optional<double> waves = {};
  std::optional<std::string_view> limiter = {};
  std::optional<std::string_view> inner = {};
  std::optional<int64_t> beyond_ns = {};
  std::string_view source = {};

  static constexpr TableNames kTable{"speed_of_light",
                                     "Kernels against the peaks of the device, as measured", 20};
  static constexpr ColumnOf<SpeedOfLightRow> kColumns[] = {
      {"rank", &SpeedOfLightRow::rank, Role::kKey, kRankDoc},
      {"gpu", &SpeedOfLightRow::gpu, Role::kKey, kGpuDoc},
      {"kernel", &SpeedOfLightRow::kernel, Role::kKey, "Name of the kernel."},
      {"grid", &SpeedOfLightRow::grid, Role::kKey, "Its size in blocks: x, y, z."},
      {"block", &SpeedOfLightRow::block, Role::kKey, "The size of a block in threads: x, y, z."},
      {"op", &SpeedOfLightRow::op, Role::kDerived,
       "Operator around most of the time: that with a model, else the innermost one."},
      {"count", &SpeedOfLightRow::count, Unit::kCount, Role::kDerived, "Kernels with percentages."},
      {"total_ns", &SpeedOfLightRow::total_ns, Unit::kNanoseconds, Role::kDerived,
       "Sum of their durations in the trace."},
      {"share", &SpeedOfLightRow::share, Unit::kShare, Role::kDerived,
       "total_ns / time of all selected kernels of the rank."},
      {"compute", &SpeedOfLightRow::compute, Unit::kShare, Role::kDerived,
       "Throughput of the SMs, of its peak: sm__throughput."},
      {"memory", &SpeedOfLightRow::memory, Unit::kShare, Role::kDerived,
       "Throughput of the memory system, of its peak: gpu__compute_memory_throughput."},
      {"dram", &SpeedOfLightRow::dram, Unit::kShare, Role::kDerived,
       "Throughput of device memory, of its peak."},
      {"l2", &SpeedOfLightRow::l2, Unit::kShare, Role::kDerived,
       "Throughput of the L2 cache, of its peak."},
      {"l1", &SpeedOfLightRow::l1, Unit::kShare, Role::kDerived,
       "Throughput of the L1 caches, of its peak."},
      {"tensor", &SpeedOfLightRow::tensor, Unit::kShare, Role::kDerived,
       "Cycles in which the matrix units worked."},
      {"occupancy", &SpeedOfLightRow::occupancy, Unit::kShare, Role::kDerived,
       "Warps that were active, of those that an SM holds."},
      {"occupancy_max", &SpeedOfLightRow::occupancy_max, Unit::kShare, Role::kDerived,
       "The same at most, for what a block needs."},
      {"occupancy_limit", &SpeedOfLightRow::occupancy_limit, Role::kDerived,
       "What limits that: registers, shared_mem, blocks, warps or barriers."},
      {"waves", &SpeedOfLightRow::waves, Role::kDerived,
       "Blocks of the grid / blocks that the device holds at once."},
      {"limiter", &SpeedOfLightRow::limiter, Role::kDerived,
       "What held it back: near peak (one of compute and memory is at 80 % or above); where both "
       "are below 60 %, small grid (less than one wave) or latency; else compute, memory, or "
       "balanced (less than 10 % between them)."},
      {"inner", &SpeedOfLightRow::inner, Role::kDerived,
       "The part of compute, or of memory if that is higher, that is nearest to its peak."},
      {"beyond_ns", &SpeedOfLightRow::beyond_ns, Unit::kNanoseconds, Role::kDerived,
       "Time beyond that at the peak: total_ns x (1 - the larger of compute and memory)."},
      {"source", &SpeedOfLightRow::source, Role::kDerived,
       "How most of the time came by its counters: range, order, broadcast, or recorded (the file "
       "itself has them)."}};
};

// A mean weighted by time.
struct Mean {
  double sum = 0;
  double ns = 0;

  void Add(const std::optional<double>& value, double weight) {
    if (!value.has_value()) return;
    sum += *value * weight;
    ns += weight;
  }
  std::optional<double> value() const { return ns > 0 ? std::optional(sum / ns) : std::nullopt; }
};

// Kernels of one device, name and size.
struct SameKernels {
  DeviceId longest;  // one of them
  int64_t count = 0;
  int64_t total_ns = 0;
  std::array<Mean, kPercentages> percent = {};
  Mean waves;
  std::map<uint32_t, int64_t> ns_of_op;  // by the text of the operator's name
  std::array<int64_t, kJoinSources> ns_of_source = {};
};

class SpeedOfLight {
 public:
  explicit SpeedOfLight(const CountersInput& in) : in_(in) {}

  Table Build();

 private:
  using Key = std::tuple<int64_t, uint32_t, std::array<int32_t, 6>>;  // gpu, name, sizes

  Key KeyOf(DeviceId id) const;
  HostId OpOf(DeviceId id) const;
  void Add(DeviceId id);
  SpeedOfLightRow RowOf(const Key& key, const SameKernels& kernels) const;

  const CountersInput& in_;
  std::map<Key, SameKernels> groups_;
  int64_t all_ns_ = 0;
};

SpeedOfLight::Key SpeedOfLight::KeyOf(DeviceId id) const {
  const DeviceEvents& device = in_.view.trace.device();
  const Kernels& kernels = in_.view.trace.kernels();
  const uint32_t detail = device.detail[id.value];
  return {in_.view.trace.DeviceOf(id),
          device.name[id.value].value,
          {kernels.grid_x[detail], kernels.grid_y[detail], kernels.grid_z[detail],
           kernels.block_x[detail], kernels.block_y[detail], kernels.block_z[detail]}};
}

HostId SpeedOfLight::OpOf(DeviceId id) const {
  const uint32_t call = in_.work.info[id.value].call;
  return call == kNoCall ? in_.view.index.correlation.op_of[id.value] : in_.work.calls[call].op;
}

void SpeedOfLight::Add(DeviceId id) {
  const int64_t dur_ns = in_.view.trace.device().dur_ns[id.value];
  AddSaturatingTo(all_ns_, dur_ns);
  const MeasuredKernel* const measured = in_.counters.MeasuredOf(id);
  if (measured == nullptr || !LimiterOf(*measured).has_value()) return;
  SameKernels& kernels = groups_[KeyOf(id)];
  if (kernels.count == 0 || dur_ns > in_.view.trace.device().dur_ns[kernels.longest.value]) {
    kernels.longest = id;
  }
  ++kernels.count;
  AddSaturatingTo(kernels.total_ns, dur_ns);
  const auto weight = static_cast<double>(std::max<int64_t>(dur_ns, 1));
  for (size_t i = 0; i < kPercentages; ++i) {
    kernels.percent[i].Add(measured->percent[i], weight);
  }
  kernels.waves.Add(measured->waves, weight);
  if (const HostId op = OpOf(id); op.valid()) {
    AddSaturatingTo(kernels.ns_of_op[in_.view.trace.host().name[op.value].value], dur_ns);
  }
  AddSaturatingTo(kernels.ns_of_source[static_cast<size_t>(in_.counters.SourceOf(id))], dur_ns);
}

template <class Value>
Value MostOf(const std::map<Value, int64_t>& times) {
  return std::max_element(times.begin(), times.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::string Size(int32_t x, int32_t y, int32_t z) { return fmt::format("{}, {}, {}", x, y, z); }

SpeedOfLightRow SpeedOfLight::RowOf(const Key& key, const SameKernels& kernels) const {
  const auto& [gpu, name, sizes] = key;
  MeasuredKernel mean = *in_.counters.MeasuredOf(kernels.longest);
  for (size_t i = 0; i < kPercentages; ++i) {
    mean.percent[i] = kernels.percent[i].value();
  }
  mean.waves = kernels.waves.value();
  const auto share_of = [&](Percentage which) {
    const std::optional<double> percent = mean.Percent(which);
    return percent.has_value() ? std::optional(*percent / 100) : std::nullopt;
  };
  SpeedOfLightRow row;
  row.rank = in_.view.rank;
  row.gpu = gpu;
  row.kernel = in_.view.trace.Text(StringId{name});
  row.grid = Size(sizes[0], sizes[1], sizes[2]);
  row.block = Size(sizes[3], sizes[4], sizes[5]);
  if (!kernels.ns_of_op.empty()) {
    row.op = in_.view.trace.Text(StringId{MostOf(kernels.ns_of_op)});
  }
  row.count = kernels.count;
  row.total_ns = kernels.total_ns;
  if (all_ns_ > 0) {
    row.share = static_cast<double>(kernels.total_ns) / static_cast<double>(all_ns_);
  }
  row.compute = share_of(Percentage::kCompute);
  row.memory = share_of(Percentage::kMemory);
  row.dram = share_of(Percentage::kDram);
  row.l2 = share_of(Percentage::kL2);
  row.l1 = share_of(Percentage::kL1);
  row.tensor = share_of(Percentage::kTensor);
  row.occupancy = share_of(Percentage::kOccupancy);
  row.occupancy_max = share_of(Percentage::kMaxOccupancy);
  row.occupancy_limit = Recorded(OccupancyLimit(mean));
  row.waves = mean.waves;
  row.limiter = LimiterName(*LimiterOf(mean));
  row.inner = Recorded(NearestPart(in_.counters, *in_.counters.GroupOf(kernels.longest),
                                   *row.memory > *row.compute));
  row.beyond_ns = std::llround(static_cast<double>(kernels.total_ns) * (1 - *ShareOfPeak(mean)));
  const auto& sources = kernels.ns_of_source;
  row.source = JoinSourceName(
      static_cast<JoinSource>(std::max_element(sources.begin(), sources.end()) - sources.begin()));
  return row;
}

Table SpeedOfLight::Build() {
  if (!in_.counters.is_of_other_device) {
    for (const DeviceId id : in_.counters.kernels) {
      if (in_.selected.Keeps(id)) Add(id);
    }
  }
  std::vector<SpeedOfLightRow> rows;
  rows.reserve(groups_.size());
  for (const auto& [key, kernels] : groups_) {
    rows.push_back(RowOf(key, kernels));
  }
  // By name, not by the number of the text, where times are equal.
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.total_ns, a.gpu, a.kernel, std::string_view(a.grid),
                      std::string_view(a.block)) < std::tuple(-b.total_ns, b.gpu, b.kernel,
                                                              std::string_view(b.grid),
                                                              std::string_view(b.block));
  });
  return MakeTable(rows);
}

}  // namespace

Table SpeedOfLightTable(const CountersInput& in) { return SpeedOfLight(in).Build(); }

}  // namespace borescope::internal
