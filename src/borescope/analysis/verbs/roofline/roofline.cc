// roofline: what operators computed, and how near their device came to what it can do at most. The
// time of an operator is the sum of its own kernels, as in `ops`; its FLOPs and bytes are those of
// its calls, each once (modelled_work.h). Rates compare these sums; the roof is taken call by call
// (roofs.h).
#include "borescope/analysis/verbs/roofline/roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/counter_join/counted_work.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

// An operator. What is carried is known of the calls of one rank or of several; what people see
// follows from it after the last reduce.
struct RooflineRow {
  std::optional<std::string_view> direction = {};  // with --by direction
  std::string_view op = {};
  std::optional<std::string_view> dtypes = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  std::optional<int64_t> lost_ns = {};
  std::optional<double> coverage = {};
  std::optional<double> roof_share = {};
  std::optional<std::string_view> bound = {};
  std::optional<std::string_view> tensor_core = {};
  std::optional<double> tflops = {};
  std::optional<double> gbps = {};
  std::optional<double> intensity = {};
  std::optional<int64_t> flops = {};
  std::optional<int64_t> bytes = {};
  std::optional<int64_t> vector_flops = {};
  int64_t kernels = 0;
  std::optional<int64_t> tensor_flops = {};
  std::optional<int64_t> dram_read = {};
  std::optional<int64_t> dram_written = {};
  std::optional<double> measured_intensity = {};
  std::optional<std::string_view> limiter = {};
  std::optional<int64_t> counted_flops = {};
  int64_t valued_ns = 0;
  int64_t near_peak_ns = 0;
  int64_t small_grid_ns = 0;
  int64_t latency_limited_ns = 0;
  int64_t balanced_ns = 0;
  int64_t compute_limited_ns = 0;
  int64_t memory_limited_ns = 0;
  int64_t unknown_tensor_calls = 0;
  int64_t unknown_counted_calls = 0;
  int64_t unknown_dram_calls = 0;
  int64_t roof_ns = 0;
  int64_t with_roof_ns = 0;
  int64_t with_flops_ns = 0;
  int64_t with_bytes_ns = 0;
  int64_t operator_ns = 0;  // with the calls of which nothing is known
  int64_t compute_bound_ns = 0;
  int64_t memory_bound_ns = 0;
  int64_t latency_bound_ns = 0;
  int64_t matrix_unit_calls = 0;
  int64_t vector_unit_calls = 0;
  int64_t unknown_unit_calls = 0;
  std::optional<std::string_view> shapes = {};  // with --by shape, as a key

  static constexpr TableNames kTable{"roofline", "Operators against the peaks of the device", 20};
  static constexpr ColumnOf<RooflineRow> kColumns[] = {
      {"direction", &RooflineRow::direction, Role::kKey, kDirectionDoc},
      {"op", &RooflineRow::op, Role::kKey, "Operator with a model that launched the kernels."},
      {"dtypes", &RooflineRow::dtypes, Role::kDerived,
       "Type of the operands, if all calls have the same; as recorded with --by dtype."},
      {"count", &RooflineRow::count, Unit::kCount, Role::kSum,
       "Calls whose FLOPs or bytes are known."},
      {"total_ns", &RooflineRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the durations of the kernels."},
      {"lost_ns", &RooflineRow::lost_ns, Unit::kNanoseconds, Role::kSum,
       "Time beyond the roof, call by call; missing if the peaks are not known."},
      {"coverage", &RooflineRow::coverage, Unit::kShare, Role::kDerived,
       "total / device time of all calls of the operator: the others lack shapes or values "
       "(the table modelled says what)."},
      {"roof_share", &RooflineRow::roof_share, Unit::kShare, Role::kDerived,
       "Time at the roof / time; above 1 where caches spare the memory. Missing if the peaks are "
       "not known. This and the other rates are missing, too, if they do not cover 90 % of the "
       "time of the operator."},
      {"bound", &RooflineRow::bound, Role::kDerived,
       "What held back most of the time: compute, memory, or latency (kernels so short that "
       "starting them counts); missing if the peaks are not known."},
      {"tensor_core", &RooflineRow::tensor_core, Role::kDerived,
       "Whether the main kernels use matrix units, by their names: yes, no, some, unknown; - "
       "for operators that are no matrix operators."},
      {"tflops", &RooflineRow::tflops, Role::kDerived,
       "FLOPs / time of the calls whose FLOPs are known, in 1e12 operations per second."},
      {"gbps", &RooflineRow::gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Bytes / time of the calls whose bytes are known: at least so much was moved."},
      {"intensity", &RooflineRow::intensity, Role::kDerived, "FLOPs / bytes."},
      {"flops", &RooflineRow::flops, Unit::kFlops, Role::kSum,
       "Matrix FLOPs of matrix operators, vector FLOPs of others, each call once; a multiply-add "
       "is two. Missing of generated kernels, whose arguments do not tell what they compute."},
      {"bytes", &RooflineRow::bytes, Unit::kBytes, Role::kSum,
       "Every input read once, every output written once, of communication, too: not the size of "
       "its message, as in collectives. Missing if types were not recorded."},
      {"vector_flops", &RooflineRow::vector_flops, Unit::kFlops, Role::kSum,
       "Vector FLOPs, which matrix operators have beside: bias, softmax, activation."},
      {"kernels", &RooflineRow::kernels, Unit::kCount, Role::kSum,
       "Kernels, copies and memsets of these calls."},
      {"tensor_flops", &RooflineRow::tensor_flops, Unit::kFlops, Role::kSum,
       "Operations of matrix units as measured in another run (counters). This and what follows "
       "is of the calls all of whose kernels have counters, and missing if these take less than "
       "90 % of the time, or if something was not counted."},
      {"dram_read", &RooflineRow::dram_read, Unit::kBytes, Role::kSum,
       "Bytes read from device memory, as measured."},
      {"dram_written", &RooflineRow::dram_written, Unit::kBytes, Role::kSum,
       "Bytes written to device memory until the kernels ended, as measured."},
      {"measured_intensity", &RooflineRow::measured_intensity, Role::kDerived,
       "Measured FLOPs, of matrix units if it used them, / measured bytes of device memory."},
      {"limiter", &RooflineRow::limiter, Role::kDerived,
       "What held back most of the time of its kernels, by measured percentages of the peaks: "
       "near peak, small grid, latency, balanced, compute, memory (see speed_of_light)."},
      Carried<RooflineRow>({"counted_flops", &RooflineRow::counted_flops, Unit::kFlops, Role::kSum,
                            "Measured FLOPs on the units that it used."}),
      Carried<RooflineRow>({"valued_ns", &RooflineRow::valued_ns, Unit::kNanoseconds, Role::kSum,
                            "Time of the calls all of whose kernels have counters."}),
      Carried<RooflineRow>({"near_peak_ns", &RooflineRow::near_peak_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the kernels so limited."}),
      Carried<RooflineRow>({"small_grid_ns", &RooflineRow::small_grid_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the kernels so limited."}),
      Carried<RooflineRow>({"latency_limited_ns", &RooflineRow::latency_limited_ns,
                            Unit::kNanoseconds, Role::kSum, "Time of the kernels so limited."}),
      Carried<RooflineRow>({"balanced_ns", &RooflineRow::balanced_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the kernels so limited."}),
      Carried<RooflineRow>({"compute_limited_ns", &RooflineRow::compute_limited_ns,
                            Unit::kNanoseconds, Role::kSum, "Time of the kernels so limited."}),
      Carried<RooflineRow>({"memory_limited_ns", &RooflineRow::memory_limited_ns,
                            Unit::kNanoseconds, Role::kSum, "Time of the kernels so limited."}),
      Carried<RooflineRow>({"unknown_tensor_calls", &RooflineRow::unknown_tensor_calls,
                            Unit::kCount, Role::kSum,
                            "Calls whose operations of matrix units were not counted."}),
      Carried<RooflineRow>({"unknown_counted_calls", &RooflineRow::unknown_counted_calls,
                            Unit::kCount, Role::kSum, "Calls whose FLOPs were not counted."}),
      Carried<RooflineRow>({"unknown_dram_calls", &RooflineRow::unknown_dram_calls, Unit::kCount,
                            Role::kSum, "Calls whose bytes were not counted."}),
      Carried<RooflineRow>(
          {"roof_ns", &RooflineRow::roof_ns, Unit::kNanoseconds, Role::kSum, "Time at the roof."}),
      Carried<RooflineRow>({"with_roof_ns", &RooflineRow::with_roof_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the calls with a roof."}),
      Carried<RooflineRow>({"with_flops_ns", &RooflineRow::with_flops_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the calls whose FLOPs are known."}),
      Carried<RooflineRow>({"with_bytes_ns", &RooflineRow::with_bytes_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the calls whose bytes are known."}),
      Carried<RooflineRow>({"operator_ns", &RooflineRow::operator_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of all calls of the operator."}),
      Carried<RooflineRow>({"compute_bound_ns", &RooflineRow::compute_bound_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the calls so bound."}),
      Carried<RooflineRow>({"memory_bound_ns", &RooflineRow::memory_bound_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the calls so bound."}),
      Carried<RooflineRow>({"latency_bound_ns", &RooflineRow::latency_bound_ns, Unit::kNanoseconds,
                            Role::kSum, "Time of the calls so bound."}),
      Carried<RooflineRow>({"matrix_unit_calls", &RooflineRow::matrix_unit_calls, Unit::kCount,
                            Role::kSum, "Calls of matrix operators by the units they ran on."}),
      Carried<RooflineRow>({"vector_unit_calls", &RooflineRow::vector_unit_calls, Unit::kCount,
                            Role::kSum, "Calls of matrix operators by the units they ran on."}),
      Carried<RooflineRow>({"unknown_unit_calls", &RooflineRow::unknown_unit_calls, Unit::kCount,
                            Role::kSum, "Calls of matrix operators by the units they ran on."}),
      {"shapes", &RooflineRow::shapes, Role::kDerived,
       "Input shapes as recorded, with --by shape."}};
};

void AddTo(std::optional<int64_t>& sum, int64_t more) {
  sum = AddSaturating(sum.value_or(0), more);
}

int64_t& TimeBound(RooflineRow& row, Bound bound) {
  return bound == Bound::kCompute  ? row.compute_bound_ns
         : bound == Bound::kMemory ? row.memory_bound_ns
                                   : row.latency_bound_ns;
}

void AddRoof(const RoofTime& roof, const CallTotals& totals, RooflineRow& row) {
  AddSaturatingTo(row.roof_ns, roof.longest());
  AddSaturatingTo(row.with_roof_ns, totals.total_ns);
  AddTo(row.lost_ns, std::max<int64_t>(0, totals.total_ns - roof.longest()));
  AddSaturatingTo(TimeBound(row, BoundOf(roof, totals.total_ns, totals.kernels)), totals.total_ns);
}

void AddMatrixUse(const ModelledCall& call, RooflineRow& row) {
  if (!IsMatrixFamily(call.cost().family)) return;
  ++(call.matrix_use == MatrixUse::kYes  ? row.matrix_unit_calls
     : call.matrix_use == MatrixUse::kNo ? row.vector_unit_calls
                                         : row.unknown_unit_calls);
}

int64_t& TimeLimited(RooflineRow& row, Limiter limiter) {
  switch (limiter) {
    case Limiter::kNearPeak:
      return row.near_peak_ns;
    case Limiter::kSmallGrid:
      return row.small_grid_ns;
    case Limiter::kLatency:
      return row.latency_limited_ns;
    case Limiter::kBalanced:
      return row.balanced_ns;
    case Limiter::kCompute:
      return row.compute_limited_ns;
    case Limiter::kMemory:
      break;
  }
  return row.memory_limited_ns;
}

// Adds a measured amount, or counts that there is none.
void AddMeasured(const std::optional<double>& amount, std::optional<int64_t>& sum,
                 int64_t& unknown) {
  constexpr double kLargest = 9e18;
  if (amount.has_value() && *amount >= 0 && *amount < kLargest) {
    AddTo(sum, std::llround(*amount));
  } else {
    ++unknown;
  }
}

void AddCounted(const CountedSums& counted, int64_t total_ns, RooflineRow& row) {
  AddSaturatingTo(row.valued_ns, total_ns);
  AddMeasured(counted.tensor_flops, row.tensor_flops, row.unknown_tensor_calls);
  const bool used_matrix_units = counted.tensor_flops.value_or(1) > 0;
  AddMeasured(used_matrix_units ? counted.tensor_flops : counted.vector_flops, row.counted_flops,
              row.unknown_counted_calls);
  AddMeasured(counted.dram_read, row.dram_read, row.unknown_dram_calls);
  AddMeasured(counted.dram_written, row.dram_written, row.unknown_dram_calls);
}

// An operator while the calls of a rank are added.
struct OperatorSums {
  RooflineRow row;
  bool has_flops = false;
  bool has_bytes = false;
  ScalarType type = ScalarType::kUnknown;
  bool has_types = false;  // ... which differ

  void AddModelled(const ModelledCall& call, const CallTotals& totals);
  RooflineRow Finished() const;
};

void OperatorSums::AddModelled(const ModelledCall& call, const CallTotals& totals) {
  const OpCost& cost = call.cost();
  ++row.count;
  AddSaturatingTo(row.kernels, totals.kernels);
  AddSaturatingTo(row.total_ns, totals.total_ns);
  has_types = row.count > 1 && (has_types || type != cost.type);
  type = cost.type;
  AddTo(row.flops, static_cast<int64_t>(cost.main_flops()));
  AddTo(row.vector_flops, static_cast<int64_t>(cost.vector_flops));
  AddTo(row.bytes, static_cast<int64_t>(cost.bytes()));
  if (KnowsBytes(cost.status)) {
    has_bytes = true;
    AddSaturatingTo(row.with_bytes_ns, totals.total_ns);
  }
  if (KnowsFlops(cost.status)) {
    has_flops = true;
    AddSaturatingTo(row.with_flops_ns, totals.total_ns);
  }
  AddMatrixUse(call, row);
}

RooflineRow OperatorSums::Finished() const {
  RooflineRow finished = row;
  if (!has_types && type != ScalarType::kUnknown) finished.dtypes = ScalarTypeName(type);
  if (!has_flops) finished.flops = finished.vector_flops = std::nullopt;
  if (!has_bytes) finished.bytes = std::nullopt;
  return finished;
}

class Operators {
 public:
  Operators(const RooflineInput& in, const RankCounters& counters, std::span<const std::string> by)
      : in_(in),
        counters_(counters),
        counted_(in.view, counters, in.work),
        by_(by),
        keys_(in.view, by, in.selected.step_rule()),
        groups_(keys_.size() + 2) {}

  Table Build();

 private:
  void Add(size_t call);
  void AddCounters(const ModelledCall& call, int64_t total_ns, RooflineRow& row);
  OperatorSums& SumsOf(const ModelledCall& call);

  const RooflineInput& in_;
  const RankCounters& counters_;
  CountedWork counted_;
  std::span<const std::string> by_;
  GroupKeys keys_;
  Grouper groups_;  // key values, direction (0 if not asked for), name
  std::vector<int64_t> key_;
  std::vector<OperatorSums> sums_;
};

OperatorSums& Operators::SumsOf(const ModelledCall& call) {
  const bool by_direction = HasKey(by_, "direction");
  key_.clear();
  keys_.Append(call.op, key_);
  key_.push_back(by_direction ? static_cast<int64_t>(call.direction) : 0);
  key_.push_back(in_.view.trace.host().name[call.op.value].value);
  const uint32_t group = groups_.Find(key_);
  if (group == sums_.size()) {
    RooflineRow& row = sums_.emplace_back().row;
    row.op = in_.view.trace.Name(call.op);
    if (by_direction) row.direction = WorkDirectionName(call.direction);
  }
  return sums_[group];
}

void Operators::AddCounters(const ModelledCall& call, int64_t total_ns, RooflineRow& row) {
  std::vector<DeviceId> works;
  for (const DeviceId id : in_.work.WorksOf(call)) {
    if (in_.selected.Keeps(id)) works.push_back(id);
  }
  const std::optional<CountedSums> counted = counted_.SumsOf(works);
  if (!counted.has_value()) return;
  AddCounted(*counted, total_ns, row);
  for (const DeviceId id : works) {
    const MeasuredKernel* const measured = counters_.MeasuredOf(id);
    if (measured == nullptr || counters_.is_of_other_device) continue;
    if (const std::optional<Limiter> limiter = LimiterOf(*measured); limiter.has_value()) {
      AddSaturatingTo(TimeLimited(row, *limiter), in_.view.trace.device().dur_ns[id.value]);
    }
  }
}

void Operators::Add(size_t i) {
  const ModelledCall& call = in_.work.calls[i];
  const WorkStatus status = in_.work.info[in_.work.WorksOf(call).front().value].status;
  const CallTotals totals = TotalsOf(in_, call);
  if (totals.kernels == 0) return;
  OperatorSums& sums = SumsOf(call);
  AddSaturatingTo(sums.row.operator_ns, totals.total_ns);
  if (status != WorkStatus::kModelled) return;
  sums.AddModelled(call, totals);
  if (in_.at_roof[i].has_value()) AddRoof(*in_.at_roof[i], totals, sums.row);
  if (!counters_.empty()) AddCounters(call, totals.total_ns, sums.row);
}

Table Operators::Build() {
  for (size_t i = 0; i < in_.work.calls.size(); ++i) {
    Add(i);
  }
  std::vector<RooflineRow> rows;
  rows.reserve(sums_.size());
  for (const OperatorSums& sums : sums_) {
    rows.push_back(sums.Finished());
  }
  Table table = MakeTable(rows);
  if (!HasKey(by_, "direction")) DropColumn(table, "direction");
  if (HasKey(by_, "dtype")) DropColumn(table, "dtypes");  // it is a key
  if (HasKey(by_, "shape")) DropColumn(table, "shapes");
  InsertKeys(table, "op", keys_, [&](size_t row) { return groups_.key(row); });
  return table;
}

// A rate over the calls that took `known_ns`; missing if that is too small a part of all time of
// the operator.
std::optional<double> RateOf(std::optional<int64_t> amount, int64_t known_ns, double factor,
                             const RooflineRow& row) {
  const TimeCovered time{known_ns, row.operator_ns};
  return amount && time.is_enough() ? std::optional(ShareOf(*amount, known_ns) * factor)
                                    : std::nullopt;
}

std::string_view BoundOfRow(const RooflineRow& row) {
  const std::pair<Bound, int64_t> times[] = {{Bound::kCompute, row.compute_bound_ns},
                                             {Bound::kMemory, row.memory_bound_ns},
                                             {Bound::kLatency, row.latency_bound_ns}};
  std::pair<Bound, int64_t> most = {Bound::kUnknown, 0};
  for (const auto& time : times) {
    if (time.second > most.second) most = time;
  }
  return BoundName(most.first);
}

std::string_view TensorCoreOfRow(const RooflineRow& row) {
  // Not added up: the sums of a damaged partial result may be as large as a number can be.
  const bool has_others = row.vector_unit_calls > 0 || row.unknown_unit_calls > 0;
  if (row.matrix_unit_calls <= 0 && !has_others) return "-";
  if (row.matrix_unit_calls > 0) return has_others ? "some" : "yes";
  return row.vector_unit_calls > 0 ? "no" : "unknown";
}

std::string_view LimiterOfRow(RooflineRow& row) {
  std::string_view limiter;
  int64_t most_ns = 0;
  for (size_t i = 0; i < kLimiters; ++i) {
    const int64_t ns = TimeLimited(row, static_cast<Limiter>(i));
    if (ns > most_ns) {
      most_ns = ns;
      limiter = LimiterName(static_cast<Limiter>(i));
    }
  }
  return limiter;
}

void FinishCounted(RooflineRow& row) {
  const bool is_enough = row.valued_ns > 0 && TimeCovered{row.valued_ns, row.total_ns}.is_enough();
  if (!is_enough || row.unknown_tensor_calls > 0) row.tensor_flops = std::nullopt;
  if (!is_enough || row.unknown_dram_calls > 0) row.dram_read = row.dram_written = std::nullopt;
  if (row.dram_read && row.counted_flops && row.unknown_counted_calls == 0) {
    const int64_t bytes = AddSaturating(*row.dram_read, row.dram_written.value_or(0));
    if (bytes > 0) row.measured_intensity = ShareOf(*row.counted_flops, bytes);
  }
  if (is_enough) row.limiter = Recorded(LimiterOfRow(row));
}

void FinishRow(RooflineRow& row) {
  row.tflops = RateOf(row.flops, row.with_flops_ns, 1e-3, row);
  row.gbps = RateOf(row.bytes, row.with_bytes_ns, 1, row);
  row.roof_share = RateOf(row.roof_ns, row.with_roof_ns, 1, row);
  // Where both rates are there, or would be if the calls took any time.
  const bool has_rates = (row.tflops && row.gbps) || row.operator_ns == 0;
  if (has_rates && row.flops && row.bytes.value_or(0) != 0) {
    row.intensity = ShareOf(*row.flops, *row.bytes);
  }
  if (row.operator_ns != 0) row.coverage = ShareOf(row.total_ns, row.operator_ns);
  row.bound = Recorded(BoundOfRow(row));
  row.tensor_core = TensorCoreOfRow(row);
  FinishCounted(row);
}

Table FinishOperators(const Table& operators) {
  // Operators of which no call is known are in `modelled` alone.
  Table table =
      RowsWhere<RooflineRow>(operators, [](const RooflineRow& row) { return row.count > 0; });
  bool has_lost = false;
  bool has_counters = false;
  UpdateRows<RooflineRow>(table, [&](RooflineRow& row) {
    FinishRow(row);
    has_counters = has_counters || row.valued_ns > 0;
    has_lost = has_lost || row.lost_ns.has_value();
  });
  DropCarried<RooflineRow>(table);
  if (!has_counters) {
    for (const std::string_view column :
         {"tensor_flops", "dram_read", "dram_written", "measured_intensity", "limiter"}) {
      DropColumn(table, column);
    }
  }
  return Sorted(table, has_lost ? "lost_ns" : "total_ns");
}

Result<void> CheckRoofline(const Params& params) {
  BS_TRY(ModelOptionsOf(params));
  BS_TRY(GivenDevice(params));
  return {};
}

std::map<int64_t, IntervalSet> TimesOfDevices(const RankView& view, const Selected& selected) {
  const Tracks& tracks = view.trace.tracks();
  std::map<int64_t, std::vector<uint32_t>> tracks_of;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (HasDeviceWork(view.trace, track) && selected.KeepsTrack(TrackId{track})) {
      tracks_of[tracks.pid[track]].push_back(track);
    }
  }
  std::map<int64_t, IntervalSet> times;
  for (const auto& [gpu, of_device] : tracks_of) {
    times[gpu] = selected.TimeOf(of_device);
  }
  return times;
}

// Leaves the time of inherited work out of the times of devices; how much that was.
std::map<int64_t, int64_t> TakeInherited(const RankView& view,
                                         std::map<int64_t, IntervalSet>& time_of) {
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  std::map<int64_t, int64_t> taken_ns;
  for (auto& [gpu, windows] : time_of) {
    const int64_t before_ns = Coverage(windows);
    windows = inherited->RateWindow(gpu, windows);
    taken_ns[gpu] = before_ns - Coverage(windows);
  }
  return taken_ns;
}

Result<Tables> MapRoofline(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const OpModelOptions options, ModelOptionsOf(params));
  BS_ASSIGN(const Roofs roofs, Roofs::Make(view, params));
  BS_ASSIGN(const ModelledWork work, ModelWork(view, options));
  BS_ASSIGN(const std::shared_ptr<const RankCounters> counters, SharedRankCounters(view));
  const std::vector<std::optional<RoofTime>> at_roof = RoofTimes(view.trace, work, roofs);
  std::map<int64_t, IntervalSet> time_of = TimesOfDevices(view, selected);
  std::map<int64_t, int64_t> inherited_ns;
  if (!params.selection.has_time()) {
    inherited_ns = TakeInherited(view, time_of);
  }
  const RooflineInput in{view, selected, time_of, inherited_ns, roofs, work, at_roof};
  BS_ASSIGN(const std::shared_ptr<const RankCounters> of_kernels, SharedKernelCounters(view));
  const CountersInput counted{view, selected, *counters, work};
  return Tables{UtilisationTable(in),
                LedgerTable(in),
                Operators(in, *counters, params.by).Build(),
                CounterOpsTable(counted, params.by, params.Share(kDisagreeParam)),
                SpeedOfLightTable({view, selected, *of_kernels, work}),
                GemmShapesTable(in, params.by),
                TensorCoreMissesTable(in),
                ModelledShareTable(in),
                RoofsTable(in)};
}

Result<Tables> FinishRoofline(Tables tables, const Params&) {
  for (Table& table : tables) {
    if (table.name == "roofline") table = FinishOperators(table);
    if (table.name == "gemm_shapes") table = FinishGemmShapes(table);
    if (table.name == "tensor_core_misses") table = Sorted(table, "total_ns");
    if (table.name == "modelled") table = FinishModelledShare(std::move(table));
  }
  std::erase_if(tables, [](const Table& table) {
    return IsWithoutReports(table) ||
           ((table.name == "tensor_core_misses" || table.name == "gemm_shapes") &&
            table.rows() == 0);
  });
  return tables;
}

constexpr std::string_view kRooflineKeys[] = {
    "rank", "step", "phase", "module", "module-instance", "direction", "shape", "dtype"};
constexpr const ParamSpec* kRooflineParams[] = {&kDeviceParam, &kDeviceSpecParam, &kCausalParam,
                                                &kSfuWeightParam, &kDisagreeParam};
constexpr std::string_view kOp[] = {"op"};
constexpr std::string_view kRates[] = {"intensity", "tflops"};
constexpr ViewSpec kViews[] = {
    {"roofline", ViewKind::kRoofline, "Operators under the roofs of the device", kOp, kRates}};

}  // namespace

CallTotals TotalsOf(const RooflineInput& in, const ModelledCall& call) {
  CallTotals totals;
  for (const DeviceId id : in.work.WorksOf(call)) {
    if (in.selected.Keeps(id)) {
      ++totals.kernels;
      totals.total_ns = AddSaturating(totals.total_ns, in.view.trace.device().dur_ns[id.value]);
    }
  }
  return totals;
}

int64_t CallTime::PartOf(int64_t amount, int64_t part_ns) const {
  return part_ns == total_ns
             ? amount
             : static_cast<int64_t>(static_cast<double>(amount) * static_cast<double>(part_ns) /
                                    static_cast<double>(total_ns));
}

int64_t InsideOf(const RooflineInput& in, DeviceId id) {
  const DeviceEvents& device = in.view.trace.device();
  if (!in.selected.KeepsTrack(device.track[id.value])) return 0;
  const Interval time{device.ts_ns[id.value], device.end_ns(id)};
  const IntervalSet& windows = in.time_of.at(in.view.trace.DeviceOf(id));
  if (windows.size() != 1) return Coverage(Clip(windows, time));
  const Interval& window = windows.front();
  return std::max<int64_t>(0, std::min(time.end, window.end) - std::max(time.begin, window.begin));
}

CallTime TimeOf(const RooflineInput& in, const ModelledCall& call) {
  CallTime time;
  for (const DeviceId id : in.work.WorksOf(call)) {
    time.total_ns = AddSaturating(time.total_ns, in.view.trace.device().dur_ns[id.value]);
    time.inside_ns = AddSaturating(time.inside_ns, InsideOf(in, id));
  }
  return time;
}

const AnalysisSpec kRooflineVerb{
    .name = "roofline",
    .summary = "operators against the peaks of the device, and the wall time as a ledger",
    .example = "borescope roofline trace.json.gz --by shape --top 20",
    .needs = Needs::kDeviceEvents,
    .by = kRooflineKeys,
    .params = kRooflineParams,
    .answer = {.map = MapRoofline, .reduce = ReduceByRank, .finish = FinishRoofline},
    .check = CheckRoofline,
    .views = kViews};

}  // namespace borescope::internal
