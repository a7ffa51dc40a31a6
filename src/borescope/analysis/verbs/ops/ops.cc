// ops: host and device time per operator (index/launches/operator_rule.h).
//
//   self host     time in which it is the innermost operator of its thread: duration less the
//                 operators nested directly inside. Python frames, other annotations and runtime
//                 calls are looked through: the time of a launch stays with its operator. The self
//                 times of a thread add up to the time in which it is in an operator, whether or
//                 not they nest.
//   self device   device work whose innermost operator is this call
//   total         self and everything nested inside. Calls inside a call of the same row count
//                 once, with the outermost, so that recursion does not inflate a total.
//   flops         of calls that count (modelled_work.h), from shapes; docs/how-it-works/flops.md
//
// Device work without an operator has a row of its own, kNoOperator, so that self_device_ns adds up
// to all selected device work. An operator that began outside the selected window, but launched
// work inside it, appears with that work and without a call.
//
// Work that was launched before the recording is in kNoOperator, too. Where it is certain enough
// what it is like (align_inherited.h), aligned_ns has its time once more, with the operator of
// that: inferred, and part of no other column.
//
// Everything is linear in the rows: host rows are in preorder, so what lies below a row is the
// range up to subtree_end, and sums over it are differences of prefix sums.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

struct OpRow {
  std::string_view name = {};
  int64_t calls = 0;
  int64_t self_host_ns = 0;
  int64_t total_host_ns = 0;
  int64_t self_device_ns = 0;
  int64_t total_device_ns = 0;
  std::optional<int64_t> flops = {};
  std::optional<double> share = {};
  int64_t aligned_ns = 0;

  static constexpr TableNames kTable{"ops", "Host and device time per operator"};
  static constexpr ColumnOf<OpRow> kColumns[] = {
      {"name", &OpRow::name, Role::kKey,
       "Name of the operator; \"(no operator)\" holds device work that none can be found for.",
       AsNames(Palette::kWork)},
      {"calls", &OpRow::calls, Unit::kCount, Role::kSum, "Calls that began in the selected time."},
      {"self_host_ns", &OpRow::self_host_ns, Unit::kNanoseconds, Role::kSum,
       "Host time less the operators nested inside; launches included."},
      {"total_host_ns", &OpRow::total_host_ns, Unit::kNanoseconds, Role::kSum,
       "Host time of the outermost calls of this row."},
      {"self_device_ns", &OpRow::self_device_ns, Unit::kNanoseconds, Role::kSum,
       "Device work launched by the operator itself."},
      {"total_device_ns", &OpRow::total_device_ns, Unit::kNanoseconds, Role::kSum,
       "Device work launched by the operator and all nested inside."},
      {"flops", &OpRow::flops, Unit::kFlops, Role::kSum,
       "FLOPs of the calls behind device work, by their shapes; each counts once, for the "
       "innermost operator with a formula: of its products of matrices, if it has any. Missing "
       "without one, or if shapes were not recorded (profiler option record_shapes=True)."},
      {"share", &OpRow::share, Unit::kShare, Role::kDerived,
       "Self device time / all device work; missing where there is none."},
      {"aligned_ns", &OpRow::aligned_ns, Unit::kNanoseconds, Role::kSum,
       "Device work from before the recording that is inferred to be of this operator; recorded, "
       "and in the other columns, it is of none."}};
};

// Name in place of a StringId for device work without an operator.
constexpr int64_t kNoName = -1;

class OpTable {
 public:
  OpTable(const RankView& view, const Selected& selected, std::span<const std::string> by,
          CallFlops flops)
      : view_(view),
        selected_(selected),
        keys_(view, by, selected.step_rule()),
        groups_(keys_.size() + 1),
        instances_(keys_),
        flops_(std::move(flops)) {}

  Table Build();

 private:
  void SumDeviceTime();
  void SumTotals();
  bool IsOp(uint32_t row) const { return view_.index.IsOperator(view_.trace, HostId{row}); }
  // The stats of the group of one host or device row.
  uint32_t GroupOf(HostId id);
  uint32_t GroupOfReplayed(HostId op, DeviceId work);
  void AddReplayed(DeviceId id, int64_t dur_ns);
  void AddWithoutOp(DeviceId id, int64_t dur_ns);
  void AddAligned();
  static void AddFlops(OpRow& stats, int64_t flops);
  Table Write() const;

  const RankView& view_;
  const Selected& selected_;
  GroupKeys keys_;
  Grouper groups_;  // key values, then the name
  InstanceCounts instances_;
  CallFlops flops_;
  std::vector<OpRow> stats_;
  std::vector<int64_t> key_;
  std::vector<int64_t> self_host_ns_;  // per host row; 0 for what is not an operator
  // Selected device work of the operators in the rows before each host row.
  std::vector<int64_t> device_before_;
};

uint32_t OpTable::GroupOf(HostId id) {
  key_.clear();
  keys_.Append(id, key_);
  key_.push_back(view_.trace.host().name[id.value].value);
  const uint32_t group = groups_.Find(key_);
  stats_.resize(groups_.size());
  if (instances_.is_used()) {
    instances_.Add(group, keys_.ModuleInstance(id));
  }
  return group;
}

void OpTable::AddWithoutOp(DeviceId id, int64_t dur_ns) {
  key_.clear();
  keys_.Append(id, key_);
  key_.push_back(kNoName);
  const uint32_t group = groups_.Find(key_);
  stats_.resize(groups_.size());
  if (instances_.is_used()) {
    instances_.Add(group, keys_.ModuleInstance(id));
  }
  AddSaturatingTo(stats_[group].self_device_ns, dur_ns);
  AddSaturatingTo(stats_[group].total_device_ns, dur_ns);
}

void OpTable::AddFlops(OpRow& stats, int64_t flops) {
  if (flops != kMissing) {
    stats.flops = AddSaturating(stats.flops.value_or(0), flops);
  }
}

uint32_t OpTable::GroupOfReplayed(HostId op, DeviceId work) {
  key_.clear();
  keys_.AppendReplayed(op, work, key_);
  key_.push_back(view_.trace.host().name[op.value].value);
  const uint32_t group = groups_.Find(key_);
  stats_.resize(groups_.size());
  if (instances_.is_used()) {
    instances_.Add(group, keys_.ModuleInstance(work));
  }
  return group;
}

// A kernel of a graph: to the operators around its call in the capture, then to those around the
// launch of the graph. Totals of a row have it once.
void OpTable::AddReplayed(DeviceId id, int64_t dur_ns) {
  const Correlation& links = view_.index.correlation;
  const ColumnData<HostId>& parent = view_.index.tree.parent;
  std::vector<uint32_t> groups;
  const auto add_total = [&](uint32_t group) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) {
      groups.push_back(group);
      AddSaturatingTo(stats_[group].total_device_ns, dur_ns);
    }
  };
  for (HostId row = links.op_of[id.value]; row.valid(); row = parent[row.value]) {
    if (IsOp(row.value)) add_total(GroupOfReplayed(row, id));
  }
  AddSaturatingTo(stats_[groups.front()].self_device_ns, dur_ns);
  for (HostId row = links.launch_of[id.value]; row.valid(); row = parent[row.value]) {
    if (IsOp(row.value)) add_total(GroupOf(row));
  }
}

void OpTable::AddAligned() {
  const std::shared_ptr<const AlignedWork> aligned = SharedAlignedWork(view_);
  for (uint32_t row = 0; row < aligned->like.size() && aligned->IsConfident(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    if (!aligned->LikeOf(id).valid() || !selected_.Keeps(id)) {
      continue;
    }
    HostId op = view_.index.correlation.op_of[aligned->LikeOf(id).value];
    while (op.valid() && !IsOp(op.value)) {
      op = view_.index.tree.parent[op.value];
    }
    if (op.valid()) {
      key_.clear();
      keys_.AppendInferred(id, aligned->PlaceOf(id), key_);
      key_.push_back(view_.trace.host().name[op.value].value);
      const uint32_t group = groups_.Find(key_);
      stats_.resize(groups_.size());
      AddSaturatingTo(stats_[group].aligned_ns, view_.trace.device().dur_ns[row]);
    }
  }
}

void OpTable::SumDeviceTime() {
  const DeviceEvents& device = view_.trace.device();
  const size_t host_rows = view_.trace.host().size();
  device_before_.assign(host_rows + 1, 0);
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (!selected_.Keeps(id)) {
      continue;
    }
    const HostId op = view_.index.correlation.op_of[row];
    if (op.valid() && view_.trace.host().IsCaptured(op)) {
      AddReplayed(id, device.dur_ns[row]);
    } else if (op.valid() && IsOp(op.value)) {
      AddSaturatingTo(device_before_[op.value + 1], device.dur_ns[row]);
    } else {
      AddWithoutOp(id, device.dur_ns[row]);
    }
  }
  for (size_t row = 0; row < host_rows; ++row) {
    AddSaturatingTo(device_before_[row + 1], device_before_[row]);
  }
}

void OpTable::SumTotals() {
  const HostEvents& host = view_.trace.host();
  struct Open {
    uint32_t end_row;
    uint32_t group;
  };
  std::vector<Open> open;
  std::vector<uint32_t> depth;  // per group: how many of its calls are open
  for (const uint32_t row : EachRow(host.size())) {
    while (!open.empty() && open.back().end_row <= row) {
      --depth[open.back().group];
      open.pop_back();
    }
    const uint32_t end_row = view_.index.tree.subtree_end[row];
    const int64_t below_ns = device_before_[end_row] - device_before_[row];
    const bool kept = IsOp(row) && selected_.Keeps(HostId{row});
    if (!kept && !(IsOp(row) && below_ns > 0)) {
      continue;
    }
    const uint32_t group = GroupOf(HostId{row});
    depth.resize(stats_.size());
    OpRow& stats = stats_[group];
    stats.calls += kept ? 1 : 0;
    AddSaturatingTo(stats.self_host_ns, kept ? self_host_ns_[row] : 0);
    AddSaturatingTo(stats.self_device_ns, device_before_[row + 1] - device_before_[row]);
    AddFlops(stats, flops_.of_call[row]);
    if (depth[group] == 0) {
      AddSaturatingTo(stats.total_host_ns, kept ? host.dur_ns[row] : 0);
      AddSaturatingTo(stats.total_device_ns, below_ns);
    }
    ++depth[group];
    open.push_back({end_row, group});
  }
}

Table OpTable::Write() const {
  std::vector<OpRow> rows = stats_;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const int64_t name = groups_.key(i).back();
    rows[i].name =
        name == kNoName ? kNoOperator : view_.trace.Text(StringId{static_cast<uint32_t>(name)});
  }
  Table table = MakeTable(rows);
  Table of_instances;
  instances_.AddColumn(of_instances);
  for (uint32_t i = 0; i < rows.size(); ++i) {
    Row row(of_instances);
    instances_.Push(row, i);
  }
  table.columns.insert(std::next(table.columns.begin()),
                       std::make_move_iterator(of_instances.columns.begin()),
                       std::make_move_iterator(of_instances.columns.end()));
  InsertKeys(table, "name", keys_, [&](size_t row) { return groups_.key(row); });
  return table;
}

Table OpTable::Build() {
  SumDeviceTime();
  self_host_ns_ = InnermostTimes(view_.trace, [&](HostId id) { return IsOp(id.value); });
  SumTotals();
  for (const ReplayedFlops& call : flops_.replayed) {
    const uint32_t group = GroupOfReplayed(call.op, call.work);
    AddFlops(stats_[group], call.flops);
  }
  AddAligned();
  return Write();
}

Result<Tables> MapOps(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(CallFlops flops, FlopsOfCalls(view, selected));
  return Tables{OpTable(view, selected, params.by, std::move(flops)).Build()};
}

Result<Tables> FinishOps(Tables findings, const Params&) {
  Table& ops = TableOf<OpRow>(findings);
  const int64_t device_ns = SumOf(ReadRows<OpRow>(ops), &OpRow::self_device_ns);
  if (device_ns != 0) {
    UpdateRows<OpRow>(ops, [&](OpRow& row) { row.share = ShareOf(row.self_device_ns, device_ns); });
  }
  ops = Sorted(ops, device_ns == 0 ? "self_host_ns" : "self_device_ns");
  return findings;
}

constexpr std::string_view kOpKeys[] = {
    "rank", "step", "phase", "domain", "module", "module-instance", "shape", "dtype"};
constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kSelfDevice[] = {"self_device_ns"};
constexpr std::string_view kAligned[] = {"aligned_ns"};
constexpr ViewSpec kViews[] = {
    {"ops", ViewKind::kBars, "Device time of operators themselves", kName, kSelfDevice},
    {"ops", ViewKind::kAside, "Work from before the recording", {}, kAligned}};

}  // namespace

const AnalysisSpec kOpsVerb{
    .name = "ops",
    .summary = "host and device time per framework operator",
    .example = "borescope ops trace.json.gz --by shape --top 20",
    .needs = Needs::kOps,
    .by = kOpKeys,
    .answer = {.map = MapOnce<MapOps>, .reduce = MergeTables, .finish = FinishOps},
    .views = kViews};

}  // namespace borescope::internal
