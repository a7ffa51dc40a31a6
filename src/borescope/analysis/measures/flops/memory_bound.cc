#include "borescope/analysis/measures/flops/memory_bound.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/opmodel/op_costs.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kNoGroup = ~uint32_t{0};
// A call is at the speed of memory if it takes at most so many times as long as its bytes.
constexpr int64_t kTimesBytes = 2;

// The kernels of one call; of a call in the capture of a graph those of one launch of it.
struct CallKernels {
  HostId op;
  HostId graph_launch;       // invalid outside of graphs
  DeviceId on_matrix_units;  // the first such kernel of a matrix operator
  int64_t kernels = 0;
  int64_t total_ns = 0;
  bool is_bound = false;
};

// Of one device.
struct DeviceSums {
  int64_t kernel_ns = 0;
  int64_t modelled_ns = 0;
  int64_t calls_ns = 0;
  int64_t bytes = 0;
  std::vector<Interval> bound;
  std::map<uint32_t, int64_t> calls_by_op;  // of calls_ns, by name
};

// Whether any call has what a model needs.
bool HasArguments(const Trace& trace) {
  const auto is_text = [](StringId id) { return id.valid() && id.value != 0; };
  return std::any_of(trace.ops().input_dims.begin(), trace.ops().input_dims.end(), is_text) ||
         trace.triton().size() > 0;
}

class MemoryBound {
 public:
  MemoryBound(const RankView& view, const Selected& selected, const Roofs& roofs)
      : view_(view),
        selected_(selected),
        roofs_(roofs),
        costs_(view.trace),
        group_of_(view.trace.host().all_size(), kNoGroup),
        is_above_(view.trace.host().all_size(), 0),
        is_graph_(view.trace.strings().size()),
        uses_(view.trace.strings().size()) {}

  // Of the streams of one device.
  DeviceSums SumsOf(const std::vector<uint32_t>& tracks, int64_t gpu);

 private:
  void AddKernel(DeviceId id, DeviceSums& sums);
  bool RanInGraph(DeviceId id);
  HostId CallAround(HostId op);
  uint32_t GroupOf(HostId call, DeviceId id);
  void MarkAbove(HostId call);
  std::optional<RoofTime> RoofOf(const CallKernels& call, int64_t gpu);
  void Judge(CallKernels& call, int64_t gpu, DeviceSums& sums);
  MatrixUse UseOf(DeviceId id);
  std::string_view OperandsOf(DeviceId id);

  const RankView& view_;
  const Selected& selected_;
  const Roofs& roofs_;
  OpCosts costs_;
  std::vector<uint32_t> group_of_;  // per host row: the last group of this call
  std::vector<char> is_above_;      // per host row: whether a call with kernels is below it
  std::vector<CallKernels> calls_;
  std::vector<std::pair<DeviceId, uint32_t>> kernels_;  // with their call
  std::vector<std::optional<bool>> is_graph_;           // per text
  std::vector<std::optional<MatrixUse>> uses_;          // per text
  HashMap<uint32_t, std::string_view> operands_;        // by the name of the kernel
};

// By a graph, and no capture says which operator asked for it.
bool MemoryBound::RanInGraph(DeviceId id) {
  if (view_.index.correlation.CapturedCallOf(id).valid()) {
    return false;
  }
  if (GraphNodeOf(view_.trace, id) != kMissing) {
    return true;
  }
  const HostId launch = view_.index.correlation.launch_of[id.value];
  if (!launch.valid()) {
    return false;
  }
  std::optional<bool>& is_graph = is_graph_[view_.trace.host().name[launch.value].value];
  if (!is_graph.has_value()) {
    is_graph = IsGraphLaunchName(view_.trace.Name(launch));
  }
  return *is_graph;
}

// The innermost operator with a model.
HostId MemoryBound::CallAround(HostId op) {
  while (op.valid() && costs_.ModelOf(op) == nullptr) {
    op = view_.index.tree.parent[op.value];
  }
  return op;
}

uint32_t MemoryBound::GroupOf(HostId call, DeviceId id) {
  const bool is_replay = view_.index.correlation.CapturedCallOf(id).valid();
  const HostId launch = is_replay ? view_.index.correlation.launch_of[id.value] : HostId();
  uint32_t& group = group_of_[call.value];
  if (group == kNoGroup || calls_[group].graph_launch != launch) {
    group = static_cast<uint32_t>(calls_.size());
    calls_.push_back({.op = call, .graph_launch = launch, .on_matrix_units = {}});
    MarkAbove(call);
  }
  return group;
}

void MemoryBound::MarkAbove(HostId call) {
  HostId outer = view_.index.tree.parent[call.value];
  while (outer.valid() && is_above_[outer.value] == 0) {
    is_above_[outer.value] = 1;
    outer = view_.index.tree.parent[outer.value];
  }
}

void MemoryBound::AddKernel(DeviceId id, DeviceSums& sums) {
  const int64_t dur_ns = view_.trace.device().dur_ns[id.value];
  AddSaturatingTo(sums.kernel_ns, dur_ns);
  if (RanInGraph(id)) {
    return;
  }
  const HostId call = CallAround(view_.index.correlation.op_of[id.value]);
  if (!call.valid() || costs_.Of(call).status == CostStatus::kMissingShapes) {
    return;
  }
  const uint32_t group = GroupOf(call, id);
  kernels_.emplace_back(id, group);
  CallKernels& kernels = calls_[group];
  ++kernels.kernels;
  AddSaturatingTo(kernels.total_ns, dur_ns);
  if (!kernels.on_matrix_units.valid() && IsMatrixFamily(costs_.Of(call).family) &&
      UseOf(id) == MatrixUse::kYes) {
    kernels.on_matrix_units = id;
  }
}

MatrixUse MemoryBound::UseOf(DeviceId id) {
  std::optional<MatrixUse>& use = uses_[view_.trace.device().name[id.value].value];
  if (!use.has_value()) {
    use = MatrixUseOf(view_.trace.Name(id), true);
  }
  return *use;
}

std::optional<RoofTime> MemoryBound::RoofOf(const CallKernels& call, int64_t gpu) {
  ModelledCall modelled{.op = call.op, .shapes_of = call.op, .cost_of_all = &costs_.Of(call.op)};
  if (modelled.cost().is_composite && is_above_[call.op.value] != 0) {
    return std::nullopt;  // operators below it are counted
  }
  const DeviceId main = call.on_matrix_units;
  modelled.matrix_use = main.valid() ? MatrixUse::kYes : MatrixUse::kNo;
  return roofs_.TimeOf(modelled, main.valid() ? OperandsOf(main) : std::string_view(), gpu);
}

std::string_view MemoryBound::OperandsOf(DeviceId id) {
  const auto [known, is_new] = operands_.try_emplace(view_.trace.device().name[id.value].value);
  if (is_new) {
    known->second = OperandFormat(view_.trace.Name(id));
  }
  return known->second;
}

void MemoryBound::Judge(CallKernels& call, int64_t gpu, DeviceSums& sums) {
  const std::optional<RoofTime> roof = RoofOf(call, gpu);
  if (!roof.has_value() || roof->longest() == 0) {
    return;
  }
  AddSaturatingTo(sums.modelled_ns, call.total_ns);
  call.is_bound = BoundOf(*roof, call.total_ns, call.kernels) == Bound::kMemory &&
                  call.total_ns / kTimesBytes <= roof->memory_ns;
  if (call.is_bound) {
    AddSaturatingTo(sums.calls_ns, call.total_ns);
    AddSaturatingTo(sums.bytes, static_cast<int64_t>(costs_.Of(call.op).bytes()));
    AddSaturatingTo(sums.calls_by_op[view_.trace.host().name[call.op.value].value], call.total_ns);
  }
}

DeviceSums MemoryBound::SumsOf(const std::vector<uint32_t>& tracks, int64_t gpu) {
  DeviceSums sums;
  calls_.clear();
  kernels_.clear();
  const DeviceEvents& device = view_.trace.device();
  for (const uint32_t track : tracks) {
    for (uint32_t row = view_.trace.tracks().first_row[track];
         row < view_.trace.tracks().end_row[track]; ++row) {
      CheckStopAt(row);
      const DeviceId id{row};
      const bool is_compute = device.kind[row] == DeviceKind::kKernel &&
                              view_.index.ClassOf(view_.trace, id) != KernelClass::kCollective;
      if (is_compute && selected_.Keeps(id)) {
        AddKernel(id, sums);
      }
    }
  }
  for (CallKernels& call : calls_) {
    Judge(call, gpu, sums);
    group_of_[call.op.value] = kNoGroup;
  }
  for (const auto& [id, call] : kernels_) {
    if (calls_[call].is_bound) {
      sums.bound.push_back({device.ts_ns[id.value], device.end_ns(id)});
    }
  }
  return sums;
}

Table NewTable() {
  Table table{"memory_bound", "Kernels at the speed of the memory of their device", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  AddRankKey(table);
  AddGpuKey(table);
  ns("kernel_ns", "Durations of kernels, without those of communication.");
  ns("modelled_ns", "Of these, of calls whose bytes are known.");
  ns("memory_bound_ns",
     "Time in which kernels run whose calls move their bytes at no less than half of the bandwidth "
     "of the device, and compute faster than that.");
  ns("calls_ns", "Sum of the durations of these kernels.");
  AddInt(table, "bytes", Unit::kBytes, Role::kSum, "Least bytes that these calls move.");
  AddFloat(table, "peak_gbps", Unit::kGigabytesPerSecond, Role::kDerived,
           "Bandwidth of the memory of the device.");
  AddString(table, "op", Role::kDerived, "Operator with the most of calls_ns.");
  ns("op_ns", "Of it.");
  return table;
}

void Push(const RankView& view, int64_t gpu, const DeviceSpec* spec, const IntervalSet& windows,
          DeviceSums sums, Table& table) {
  const auto most =
      std::max_element(sums.calls_by_op.begin(), sums.calls_by_op.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  Row row(table);
  row.Int(view.rank).Int(gpu).Int(sums.kernel_ns).Int(sums.modelled_ns);
  row.Int(Coverage(Intersect(Union(std::move(sums.bound)), windows)));
  row.Int(sums.calls_ns).Int(sums.bytes);
  const std::optional<double> gbps = spec == nullptr ? std::nullopt : BandwidthOf(*spec);
  gbps.has_value() ? row.Float(*gbps) : row.Missing();
  if (most == sums.calls_by_op.end()) {
    row.Missing().Int(0);
  } else {
    row.Text(view.trace.Text(StringId{most->first})).Int(most->second);
  }
}

}  // namespace

Result<Table> MemoryBoundTable(const RankView& view, const Selection& selection) {
  Table table = NewTable();
  BS_ASSIGN(const Roofs roofs, Roofs::Make(view, Params()));
  if (!roofs.knows_any() || !HasArguments(view.trace)) {
    return table;
  }
  BS_ASSIGN(const Selected selected, Selected::Make(view, selection));
  std::map<int64_t, std::vector<uint32_t>> tracks_of;  // by device
  for (uint32_t track = 0; track < view.trace.tracks().size(); ++track) {
    if (HasDeviceWork(view.trace, track) && selected.KeepsTrack(TrackId{track})) {
      tracks_of[view.trace.tracks().pid[track]].push_back(track);
    }
  }
  MemoryBound memory(view, selected, roofs);
  for (const auto& [gpu, tracks] : tracks_of) {
    Push(view, gpu, roofs.SpecOf(gpu), selected.TimeOf(tracks), memory.SumsOf(tracks, gpu), table);
  }
  return table;
}

}  // namespace borescope::internal
