// roofline: what operators computed, and how near their device came to what it can do at most. The
// time of an operator is the sum of its own kernels, as in `ops`; its FLOPs and bytes are those of
// its calls, each once (modelled_work.h). Rates compare these sums; the roof is taken call by call
// (roofs.h).
#include "borescope/analysis/verbs/roofline/roofline.h"

#include <algorithm>
#include <array>
#include <memory>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 20;
constexpr size_t kBounds = 3;

// Columns that sums are carried in until the last reduce; people see what follows from them.
constexpr std::string_view kBoundColumns[kBounds] = {"compute_bound_ns", "memory_bound_ns",
                                                     "latency_bound_ns"};
constexpr std::string_view kUseColumns[] = {"matrix_unit_calls", "vector_unit_calls",
                                            "unknown_unit_calls"};
constexpr std::string_view kRoofedColumn = "with_roof_ns";
constexpr std::string_view kFlopsTimeColumn = "with_flops_ns";
constexpr std::string_view kBytesTimeColumn = "with_bytes_ns";
constexpr std::string_view kAllTimeColumn = "operator_ns";
constexpr std::string_view kTimeColumns[] = {kRoofedColumn, kFlopsTimeColumn, kBytesTimeColumn,
                                             kAllTimeColumn};

struct Stats {
  CallTotals totals;
  int64_t count = 0;
  int64_t flops = 0;
  int64_t vector_flops = 0;
  int64_t bytes = 0;
  bool has_flops = false;
  bool has_bytes = false;
  bool has_roof = false;
  int64_t roof_ns = 0;
  int64_t roofed_ns = 0;
  int64_t flops_ns = 0;  // time of the calls whose FLOPs are known
  int64_t bytes_ns = 0;
  int64_t all_ns = 0;  // with the calls of which nothing is known
  int64_t lost_ns = 0;
  std::array<int64_t, kBounds> bound_ns{};
  std::array<int64_t, 3> unit_calls{};  // kYes, kNo, kUnknown
  ScalarType type = ScalarType::kUnknown;
  bool has_types = false;  // ... which differ
};

void AddRoof(const RoofTime& roof, const CallTotals& totals, Stats& stats) {
  stats.has_roof = true;
  AddSaturatingTo(stats.roof_ns, roof.longest());
  AddSaturatingTo(stats.roofed_ns, totals.total_ns);
  AddSaturatingTo(stats.lost_ns, std::max<int64_t>(0, totals.total_ns - roof.longest()));
  const Bound bound = BoundOf(roof, totals.total_ns, totals.kernels);
  AddSaturatingTo(stats.bound_ns[static_cast<size_t>(bound)], totals.total_ns);
}

void AddKnown(CostStatus status, int64_t total_ns, Stats& stats) {
  if (KnowsBytes(status)) {
    stats.has_bytes = true;
    AddSaturatingTo(stats.bytes_ns, total_ns);
  }
  if (KnowsFlops(status)) {
    stats.has_flops = true;
    AddSaturatingTo(stats.flops_ns, total_ns);
  }
}

void AddMatrixUse(const ModelledCall& call, Stats& stats) {
  if (!IsMatrixFamily(call.cost().family)) return;
  const bool is_yes = call.matrix_use == MatrixUse::kYes;
  ++stats.unit_calls[is_yes ? 0 : call.matrix_use == MatrixUse::kNo ? 1 : 2];
}

class RooflineRows {
 public:
  RooflineRows(const RooflineInput& in, std::span<const std::string> by)
      : in_(in),
        by_direction_(HasKey(by, "direction")),
        has_shapes_key_(HasKey(by, "shape")),
        has_dtypes_key_(HasKey(by, "dtype")),
        keys_(in.view, by, in.selected.step_rule()),
        groups_(keys_.size() + 2) {}

  Table Build();

 private:
  void Add(size_t call);
  Stats& StatsOf(const ModelledCall& call);
  Table NewTable() const;
  void AddRateColumns(Table& table) const;
  void AddSumColumns(Table& table) const;
  void Push(Row& row, const Stats& stats) const;

  const RooflineInput& in_;
  bool by_direction_;
  bool has_shapes_key_;
  bool has_dtypes_key_;
  GroupKeys keys_;
  Grouper groups_;  // key values, direction (0 if not asked for), name
  std::vector<int64_t> key_;
  std::vector<Stats> stats_;
};

Stats& RooflineRows::StatsOf(const ModelledCall& call) {
  key_.clear();
  keys_.Append(call.op, key_);
  key_.push_back(by_direction_ ? static_cast<int64_t>(call.direction) : 0);
  key_.push_back(in_.view.trace.host().name[call.op.value].value);
  const uint32_t group = groups_.Find(key_);
  stats_.resize(groups_.size());
  return stats_[group];
}

void RooflineRows::Add(size_t i) {
  const ModelledCall& call = in_.work.calls[i];
  const WorkStatus status = in_.work.info[in_.work.WorksOf(call).front().value].status;
  const CallTotals totals = TotalsOf(in_, call);
  if (totals.kernels == 0) return;
  Stats& stats = StatsOf(call);
  AddSaturatingTo(stats.all_ns, totals.total_ns);
  if (status != WorkStatus::kModelled) return;
  ++stats.count;
  AddSaturatingTo(stats.totals.kernels, totals.kernels);
  AddSaturatingTo(stats.totals.total_ns, totals.total_ns);
  stats.has_types = stats.count > 1 && (stats.has_types || stats.type != call.cost().type);
  stats.type = call.cost().type;
  AddSaturatingTo(stats.flops, static_cast<int64_t>(call.cost().main_flops()));
  AddSaturatingTo(stats.vector_flops, static_cast<int64_t>(call.cost().vector_flops));
  AddSaturatingTo(stats.bytes, static_cast<int64_t>(call.cost().bytes()));
  AddKnown(call.cost().status, totals.total_ns, stats);
  if (in_.at_roof[i].has_value()) {
    AddRoof(*in_.at_roof[i], totals, stats);
  }
  AddMatrixUse(call, stats);
}

void RooflineRows::AddRateColumns(Table& table) const {
  const auto rate = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddFloat(table, name, unit, Role::kDerived, doc);
  };
  rate("roof_share", Unit::kShare,
       "Time at the roof / time; above 1 where caches spare the memory. Missing if the peaks are "
       "not known. This and the other rates are missing, too, if they do not cover 90 % of the "
       "time of the operator.");
  AddString(table, "bound", Role::kDerived,
            "What held back most of the time: compute, memory, or latency (kernels so short that "
            "starting them counts); missing if the peaks are not known.");
  AddString(table, "tensor_core", Role::kDerived,
            "Whether the main kernels use matrix units, by their names: yes, no, some, unknown; - "
            "for operators that are no matrix operators.");
  rate("tflops", Unit::kNone,
       "FLOPs / time of the calls whose FLOPs are known, in 1e12 operations per second.");
  rate("gbps", Unit::kGigabytesPerSecond,
       "Bytes / time of the calls whose bytes are known: at least so much was moved.");
  rate("intensity", Unit::kNone, "FLOPs / bytes.");
}

void RooflineRows::AddSumColumns(Table& table) const {
  const auto sum = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddInt(table, name, unit, Role::kSum, doc);
  };
  sum("flops", Unit::kFlops,
      "Matrix FLOPs of matrix operators, vector FLOPs of others, each call once; a multiply-add "
      "is two. Missing of generated kernels, whose arguments do not tell what they compute.");
  sum("bytes", Unit::kBytes,
      "Every input read once, every output written once, of communication, too: not the size of "
      "its "
      "message, as in collectives. Missing if types were not recorded.");
  sum("vector_flops", Unit::kFlops,
      "Vector FLOPs, which matrix operators have beside: bias, softmax, activation.");
  sum("kernels", Unit::kCount, "Kernels, copies and memsets of these calls.");
  sum("roof_ns", Unit::kNanoseconds, "Time at the roof.");
  sum(kRoofedColumn, Unit::kNanoseconds, "Time of the calls with a roof.");
  sum(kFlopsTimeColumn, Unit::kNanoseconds, "Time of the calls whose FLOPs are known.");
  sum(kBytesTimeColumn, Unit::kNanoseconds, "Time of the calls whose bytes are known.");
  sum(kAllTimeColumn, Unit::kNanoseconds, "Time of all calls of the operator.");
  for (const std::string_view name : kBoundColumns) {
    sum(name, Unit::kNanoseconds, "Time of the calls so bound.");
  }
  for (const std::string_view name : kUseColumns) {
    sum(name, Unit::kCount, "Calls of matrix operators by the units they ran on.");
  }
}

Table RooflineRows::NewTable() const {
  Table table{"roofline", "Operators against the peaks of the device", {}, kPreviewRows};
  keys_.AddColumnsBeforeName(table);
  if (by_direction_) {
    AddDirectionKey(table);
  }
  AddString(table, "op", Role::kKey, "Operator with a model that launched the kernels.");
  keys_.AddColumnsAfterName(table);
  if (!has_dtypes_key_) {
    AddString(table, "dtypes", Role::kDerived,
              "Type of the operands, if all calls have the same; as recorded with --by dtype.");
  }
  AddInt(table, "count", Unit::kCount, Role::kSum, "Calls whose FLOPs or bytes are known.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of the durations of the kernels.");
  AddInt(table, "lost_ns", Unit::kNanoseconds, Role::kSum,
         "Time beyond the roof, call by call; missing if the peaks are not known.");
  AddFloat(table, "coverage", Unit::kShare, Role::kDerived,
           "total / device time of all calls of the operator: the others lack shapes or values "
           "(the table modelled says what).");
  AddRateColumns(table);
  AddSumColumns(table);
  if (!has_shapes_key_) {
    AddString(table, "shapes", Role::kDerived, "Input shapes as recorded, with --by shape.");
  }
  return table;
}

void RooflineRows::Push(Row& row, const Stats& stats) const {
  if (!has_dtypes_key_) {
    const bool is_one = !stats.has_types && stats.type != ScalarType::kUnknown;
    is_one ? row.Text(ScalarTypeName(stats.type)) : row.Missing();
  }
  row.Int(stats.count).Int(stats.totals.total_ns);
  stats.has_roof ? row.Int(stats.lost_ns) : row.Missing();
  row.Missing().Missing().Missing().Missing().Missing().Missing().Missing();
  stats.has_flops ? row.Int(stats.flops) : row.Missing();
  stats.has_bytes ? row.Int(stats.bytes) : row.Missing();
  stats.has_flops ? row.Int(stats.vector_flops) : row.Missing();
  row.Int(stats.totals.kernels).Int(stats.roof_ns).Int(stats.roofed_ns);
  row.Int(stats.flops_ns).Int(stats.bytes_ns).Int(stats.all_ns);
  for (const int64_t ns : stats.bound_ns) {
    row.Int(ns);
  }
  for (const int64_t calls : stats.unit_calls) {
    row.Int(calls);
  }
  if (!has_shapes_key_) row.Missing();
}

Table RooflineRows::Build() {
  for (size_t i = 0; i < in_.work.calls.size(); ++i) {
    Add(i);
  }
  Table table = NewTable();
  for (size_t i = 0; i < stats_.size(); ++i) {
    const std::span<const int64_t> key = groups_.key(i);
    const Stats& stats = stats_[i];
    Row row(table);
    keys_.PushBeforeName(row, key);
    if (by_direction_) {
      row.Text(WorkDirectionName(static_cast<WorkDirection>(key[keys_.size()])));
    }
    row.Text(in_.view.trace.Text(StringId{static_cast<uint32_t>(key.back())}));
    keys_.PushAfterName(row, key);
    Push(row, stats);
  }
  return table;
}

// Of the calls that took the time in the column `known`; missing if that is too small a part of all
// time of the operator.
void FillRate(Table& table, std::string_view amount, std::string_view known, double factor,
              std::string_view rate) {
  const Column& amounts = *table.Find(amount);
  const IntValues& known_ns = Ints(table, known);
  const IntValues& all_ns = Ints(table, kAllTimeColumn);
  Column& rates = *table.Find(rate);
  rates.missing.assign(table.rows(), 0);
  for (size_t row = 0; row < table.rows(); ++row) {
    const TimeCovered time{known_ns[row], all_ns[row]};
    if (amounts.IsMissing(row) || !time.is_enough()) {
      rates.missing[row] = 1;
      continue;
    }
    std::get<FloatValues>(rates.values)[row] =
        ShareOf(std::get<IntValues>(amounts.values)[row], known_ns[row]) * factor;
  }
}

void FillCoverage(Table& table) {
  const IntValues& total_ns = Ints(table, "total_ns");
  const IntValues& all_ns = Ints(table, kAllTimeColumn);
  Column& coverage = *table.Find("coverage");
  coverage.missing.assign(table.rows(), 0);
  for (size_t row = 0; row < table.rows(); ++row) {
    std::get<FloatValues>(coverage.values)[row] = ShareOf(total_ns[row], all_ns[row]);
    coverage.missing[row] = all_ns[row] == 0 ? 1 : 0;
  }
}

// FLOPs / bytes where both rates are there, or would be if the calls took any time.
void FillIntensity(Table& table) {
  const Column& flops = *table.Find("flops");
  const Column& bytes = *table.Find("bytes");
  const IntValues& all_ns = Ints(table, kAllTimeColumn);
  Column& intensity = *table.Find("intensity");
  intensity.missing.assign(table.rows(), 0);
  for (size_t row = 0; row < table.rows(); ++row) {
    const int64_t moved = std::get<IntValues>(bytes.values)[row];
    const bool has_rates =
        !table.Find("tflops")->IsMissing(row) && !table.Find("gbps")->IsMissing(row);
    const bool has_sums = !flops.IsMissing(row) && !bytes.IsMissing(row) && moved != 0;
    intensity.missing[row] = has_sums && (has_rates || all_ns[row] == 0) ? 0 : 1;
    if (intensity.missing[row] == 0) {
      std::get<FloatValues>(intensity.values)[row] =
          ShareOf(std::get<IntValues>(flops.values)[row], moved);
    }
  }
}

// Operators of which no call is known are in `modelled` alone.
Table WithKnownCalls(const Table& table) {
  std::vector<uint32_t> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (Ints(table, "count")[row] > 0) rows.push_back(static_cast<uint32_t>(row));
  }
  return TakeRows(table, rows);
}

std::string_view BoundOfRow(const Table& table, size_t row) {
  size_t most = kBounds;
  for (size_t i = 0; i < kBounds; ++i) {
    const int64_t ns = Ints(table, kBoundColumns[i])[row];
    if (ns > 0 && (most == kBounds || ns > Ints(table, kBoundColumns[most])[row])) most = i;
  }
  return BoundName(static_cast<Bound>(most));
}

std::string_view TensorCoreOfRow(const Table& table, size_t row) {
  const int64_t yes = Ints(table, kUseColumns[0])[row];
  const int64_t no = Ints(table, kUseColumns[1])[row];
  const int64_t unknown = Ints(table, kUseColumns[2])[row];
  // Not added up: the sums of a damaged partial result may be as large as a number can be.
  const bool has_others = no > 0 || unknown > 0;
  if (yes <= 0 && !has_others) return "-";
  if (yes > 0) return has_others ? "some" : "yes";
  return no > 0 ? "no" : "unknown";
}

void FillTexts(Table& table, std::string_view column,
               std::string_view (*text)(const Table&, size_t)) {
  Column filled{std::string(column),     Unit::kNone,    Role::kDerived,
                table.Find(column)->doc, StringValues(), {}};
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string_view value = text(table, row);
    value.empty() ? PushMissing(filled) : Push(filled, value);
  }
  *table.Find(column) = std::move(filled);
}

void DropSums(Table& table) {
  std::erase_if(table.columns, [](const Column& column) {
    const auto is_one_of = [&](std::span<const std::string_view> names) {
      return std::find(names.begin(), names.end(), column.name) != names.end();
    };
    return is_one_of(kBoundColumns) || is_one_of(kUseColumns) || is_one_of(kTimeColumns) ||
           column.name == "roof_ns";
  });
}

bool HasAny(const Column& column) {
  for (size_t row = 0; row < column.size(); ++row) {
    if (!column.IsMissing(row)) return true;
  }
  return false;
}

void FinishRows(Table& table) {
  table = WithKnownCalls(table);
  FillRate(table, "flops", kFlopsTimeColumn, 1e-3, "tflops");
  FillRate(table, "bytes", kBytesTimeColumn, 1, "gbps");
  FillRate(table, "roof_ns", kRoofedColumn, 1, "roof_share");
  FillIntensity(table);
  FillCoverage(table);
  FillTexts(table, "bound", BoundOfRow);
  FillTexts(table, "tensor_core", TensorCoreOfRow);
  DropSums(table);
  table = Sorted(table, HasAny(*table.Find("lost_ns")) ? "lost_ns" : "total_ns");
}

Table* FindTable(Tables& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
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
  const std::vector<std::optional<RoofTime>> at_roof = RoofTimes(view.trace, work, roofs);
  std::map<int64_t, IntervalSet> time_of = TimesOfDevices(view, selected);
  std::map<int64_t, int64_t> inherited_ns;
  if (!params.selection.has_time()) {
    inherited_ns = TakeInherited(view, time_of);
  }
  const RooflineInput in{view, selected, time_of, inherited_ns, roofs, work, at_roof};
  return Tables{UtilisationTable(in),
                LedgerTable(in),
                RooflineRows(in, params.by).Build(),
                GemmShapesTable(in, params.by),
                TensorCoreMissesTable(in),
                ModelledShareTable(in),
                RoofsTable(in)};
}

Result<Tables> FinishRoofline(Tables tables, const Params&) {
  FinishRows(*FindTable(tables, "roofline"));
  Table& shapes = *FindTable(tables, "gemm_shapes");
  shapes = FinishGemmShapes(shapes);
  Table& misses = *FindTable(tables, "tensor_core_misses");
  misses = Sorted(misses, "total_ns");
  Table& modelled = *FindTable(tables, "modelled");
  FillShare(modelled, "total_ns", "share");
  modelled = Sorted(modelled, "total_ns");
  std::erase_if(tables, [](const Table& table) {
    return (table.name == "tensor_core_misses" || table.name == "gemm_shapes") && table.rows() == 0;
  });
  return tables;
}

constexpr std::string_view kRooflineKeys[] = {
    "rank", "step", "phase", "module", "module-instance", "direction", "shape", "dtype"};
constexpr const ParamSpec* kRooflineParams[] = {&kDeviceParam, &kDeviceSpecParam, &kCausalParam,
                                                &kSfuWeightParam};
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
