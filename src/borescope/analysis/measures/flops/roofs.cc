#include "borescope/analysis/measures/flops/roofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/opmodel/devices/device_specs.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/opmodel/op_costs.h"

namespace borescope::internal {

namespace {

// About 32 years: sums of a few of these do not overflow.
constexpr double kMostNs = 1e18;

int64_t TimeFor(uint64_t amount, double per_ns) {
  const double ns = static_cast<double>(amount) / per_ns;
  return ns < kMostNs ? std::llround(ns) : static_cast<int64_t>(kMostNs);
}

std::optional<double> CeilingOf(const DeviceSpec& spec, std::optional<Peak> peak) {
  return peak.has_value() ? CeilingOf(spec, *peak) : std::nullopt;
}

// Complex numbers are pairs of floating point numbers; frameworks compute on all else in fp32.
std::string_view ArithmeticOf(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat64:
    case ScalarType::kComplex128:
      return "fp64";
    case ScalarType::kFloat16:
    case ScalarType::kBFloat16:
      return ScalarTypeName(type);
    default:
      return "fp32";
  }
}

std::string_view OperandsOf(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat4:
      return "fp4";
    case ScalarType::kFloat8E5M2:
    case ScalarType::kFloat8E4M3:
      return "fp8";
    case ScalarType::kInt8:
    case ScalarType::kUInt8:
    case ScalarType::kQInt8:
    case ScalarType::kQUInt8:
      return "int8";
    default:
      return ArithmeticOf(type);
  }
}

std::optional<double> VectorTflops(const DeviceSpec& spec, ScalarType type) {
  const std::optional<double> own = CeilingOf(spec, VectorPeakOf(ArithmeticOf(type)));
  return own.has_value() ? own : CeilingOf(spec, Peak::kFp32);
}

std::optional<double> MatrixTflops(const DeviceSpec& spec, ScalarType type, MatrixUse use,
                                   std::string_view named) {
  if (use == MatrixUse::kYes && !named.empty()) {
    const std::optional<double> ceiling = CeilingOf(spec, MatrixPeakOf(named));
    if (ceiling.has_value()) return ceiling;
  }
  const std::string_view operands = OperandsOf(type);
  const std::optional<double> own = CeilingOf(spec, MatrixPeakOf(operands));
  if (own.has_value()) return own;
  if (operands == "fp32" && use == MatrixUse::kYes) return CeilingOf(spec, Peak::kTf32Matrix);
  return CeilingOf(spec, VectorPeakOf(operands));
}

// The device of the process with this number; any of them if all have the same name.
std::optional<DeviceSpec> RecordedSpec(const Trace& trace, int64_t gpu) {
  const std::vector<DeviceInfo>& devices = trace.meta().devices;
  const auto numbered = std::find_if(devices.begin(), devices.end(),
                                     [gpu](const DeviceInfo& info) { return info.id == gpu; });
  if (numbered != devices.end()) return FindDeviceSpec(*numbered);
  const bool are_alike = std::all_of(devices.begin(), devices.end(), [&](const DeviceInfo& info) {
    return info.name == devices.front().name;
  });
  return devices.empty() || !are_alike ? std::nullopt : FindDeviceSpec(devices.front());
}

std::string KnownNames() {
  std::string names;
  for (const std::span<const DevicePeaksRow> rows : {NvidiaDeviceRows(), AmdDeviceRows()}) {
    for (const DevicePeaksRow& row : rows) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
    }
  }
  return names;
}

}  // namespace

std::optional<double> CeilingOf(const DeviceSpec& spec, Peak peak) {
  const std::optional<double> measured = spec.measured.At(peak);
  return measured.has_value() ? measured : spec.peak.At(peak);
}

std::optional<double> BandwidthOf(const DeviceSpec& spec) {
  return spec.measured.memory_gbps.has_value() ? spec.measured.memory_gbps : spec.peak.memory_gbps;
}

std::string_view BoundName(Bound bound) {
  constexpr std::string_view kNames[] = {"compute", "memory", "latency", ""};
  return kNames[static_cast<size_t>(bound)];
}

int64_t RoofTime::longest() const { return std::max({matrix_ns, vector_ns, memory_ns}); }

Bound BoundOf(const RoofTime& roof, int64_t total_ns, int64_t kernels) {
  const bool is_short = total_ns / std::max<int64_t>(1, kernels) < kLatencyKernelNs;
  if (is_short && total_ns / kLatencyTimesRoof > roof.longest()) return Bound::kLatency;
  return std::max(roof.matrix_ns, roof.vector_ns) > roof.memory_ns ? Bound::kCompute
                                                                   : Bound::kMemory;
}

Result<std::optional<DeviceSpec>> GivenDevice(const Params& params) {
  const std::string* file = params.Content(kDeviceSpecParam);
  const std::string_view name = params.Text(kDeviceParam);
  if (file != nullptr && !name.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "`device` and `device_spec` both name the device",
                 .remedy = "give one of them",
                 .parameter = "device"};
  }
  if (file != nullptr) {
    BS_ASSIGN(DeviceSpec spec, ParseDeviceSpec(*file, params.Text(kDeviceSpecParam)));
    return std::optional<DeviceSpec>(std::move(spec));
  }
  if (name.empty()) return std::optional<DeviceSpec>();
  if (std::optional<DeviceSpec> spec = FindDeviceSpec(name); spec.has_value()) return spec;
  DeviceInfo as_reported;  // the device as drivers report it, and so as traces name it
  as_reported.name = name;
  if (std::optional<DeviceSpec> spec = FindDeviceSpec(as_reported); spec.has_value()) return spec;
  return Error{.code = ErrorCode::kInvalidArgument,
               .cause = fmt::format("`device` {}: not known", name),
               .remedy = fmt::format("known are {}; describe any other in a file for `device_spec`",
                                     KnownNames()),
               .parameter = "device"};
}

Result<Roofs> Roofs::Make(const RankView& view, const Params& params) {
  BS_ASSIGN(const std::optional<DeviceSpec> given, GivenDevice(params));
  Roofs roofs;
  const Tracks& tracks = view.trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDevice || roofs.specs_.contains(tracks.pid[track])) {
      continue;
    }
    const int64_t gpu = tracks.pid[track];
    roofs.specs_[gpu] = given.has_value() ? given : RecordedSpec(view.trace, gpu);
  }
  return roofs;
}

bool Roofs::knows_any() const {
  return std::any_of(specs_.begin(), specs_.end(),
                     [](const auto& of_gpu) { return of_gpu.second.has_value(); });
}

const DeviceSpec* Roofs::SpecOf(int64_t gpu) const {
  const auto found = specs_.find(gpu);
  return found == specs_.end() || !found->second.has_value() ? nullptr : &*found->second;
}

std::optional<RoofTime> Roofs::TimeOf(const ModelledCall& call, std::string_view operands,
                                      int64_t gpu) const {
  const OpCost& cost = call.cost();
  const DeviceSpec* spec = SpecOf(gpu);
  if (spec == nullptr) return std::nullopt;
  RoofTime time;
  if (cost.matrix_flops > 0) {
    const std::optional<double> tflops = MatrixTflops(*spec, cost.type, call.matrix_use, operands);
    if (!tflops.has_value()) return std::nullopt;
    time.matrix_ns = TimeFor(cost.matrix_flops, *tflops * 1e3);
  }
  if (const std::optional<double> tflops = VectorTflops(*spec, cost.type)) {
    time.vector_ns = TimeFor(cost.vector_flops, *tflops * 1e3);
  }
  const std::optional<double> gbps = BandwidthOf(*spec);
  const bool has_bytes = gbps.has_value() && KnowsBytes(cost.status);
  if (has_bytes) {
    time.memory_ns = TimeFor(cost.bytes(), *gbps);
  } else if (cost.matrix_flops == 0) {
    return std::nullopt;  // memory may be the largest of the three
  }
  return time;
}

namespace {

// Communication and copies from or to the host go over links, whose speed is not known.
bool UsesLinks(const Trace& trace, const ModelledCall& call, DeviceId main) {
  if (call.cost().family == OpFamily::kCollective) return true;
  const DeviceKind kind = trace.device().kind[main.value];
  return kind == DeviceKind::kMemcpy &&
         ClassifyCopy(kind, trace.Name(main)) != CopyKind::kDeviceToDevice;
}

}  // namespace

std::vector<std::optional<RoofTime>> RoofTimes(const Trace& trace, const ModelledWork& work,
                                               const Roofs& roofs) {
  std::vector<std::optional<RoofTime>> times(work.calls.size());
  HashMap<uint32_t, std::string_view> operands;  // by name
  for (size_t i = 0; i < work.calls.size(); ++i) {
    const ModelledCall& call = work.calls[i];
    const std::span<const DeviceId> works = work.WorksOf(call);
    const bool is_known = work.info[works.front().value].status == WorkStatus::kModelled;
    if (!is_known) continue;
    const DeviceId main = *std::find_if(works.begin(), works.end(), [&](DeviceId id) {
      return work.info[id.value].role == KernelRole::kMain;
    });
    if (UsesLinks(trace, call, main)) continue;
    std::string_view format;
    if (call.matrix_use == MatrixUse::kYes) {
      const auto [known, is_new] = operands.try_emplace(trace.device().name[main.value].value);
      if (is_new) {
        known->second = OperandFormat(trace.Name(main));
      }
      format = known->second;
    }
    times[i] = roofs.TimeOf(call, format, trace.DeviceOf(works.front()));
  }
  return times;
}

namespace {

constexpr uint32_t kNoGroup = ~uint32_t{0};
// A call is at the speed of memory if it takes at most this many times as long as its bytes need.
constexpr int64_t kTimesBytes = 2;

// The kernels of one call; for a call in the capture of a graph, those of one launch of the graph.
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

// Whether any call has the arguments that models need.
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

  // The sums over the streams of one device.
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

// Whether a graph launched it, and no capture shows which operator asked for it.
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

// The innermost operator with a model around a row.
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
    return std::nullopt;  // operators below it are counted instead
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
    for (const uint32_t row :
         EachRow(view_.trace.tracks().first_row[track], view_.trace.tracks().end_row[track])) {
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
  ns("modelled_ns", "The part of it in calls whose bytes are known.");
  ns("memory_bound_ns",
     "Time of kernels of calls that move their bytes at half of the device's bandwidth or more, "
     "and would compute in less time.");
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

namespace {

constexpr int64_t kFirstWithTf32 = 8;  // NVIDIA's compute capability of Ampere

bool HasTf32(const Trace& trace, int64_t gpu) {
  for (const DeviceInfo& info : trace.meta().devices) {
    if (info.id == gpu) {
      return trace.meta().vendor == Vendor::kNvidia && info.compute_major >= kFirstWithTf32;
    }
  }
  return false;
}

// Whether a kernel of this name multiplies 32-bit numbers on vector units.
bool IsFp32Product(std::string_view kernel, KernelClass kind) {
  const bool is_product = kind == KernelClass::kGemm || kind == KernelClass::kConv;
  return is_product && MatrixUseOf(kernel) == MatrixUse::kNo &&
         (Contains(kernel, "sgemm") || Contains(kernel, "f32f32_f32f32") ||
          Contains(kernel, "scudnn") || Contains(kernel, "fprop_f32"));
}

class BoundFinder {
 public:
  explicit BoundFinder(const RankView& view)
      : device_(view.trace.device()),
        trace_(view.trace),
        is_product_(ProductsOnVectorUnits(view)),
        aligned_(SharedAlignedWork(view)),
        is_known_(device_.size(), 0) {}

  TensorCoreBound Find(const ModelledWork& work, const Roofs& roofs) {
    bound_.share.assign(device_.size(), 1);
    for (uint32_t row = 0; row < device_.size(); ++row) {
      if (is_product_[row] != 0) {
        AddSaturatingTo(bound_.products_ns, device_.dur_ns[row]);
        bound_.share[row] = 0;
      }
    }
    for (const ModelledCall& call : work.calls) {
      BoundCall(call, work, roofs);
    }
    BoundInherited();
    CountKnown();
    return std::move(bound_);
  }

 private:
  void BoundCall(const ModelledCall& call, const ModelledWork& work, const Roofs& roofs) {
    const std::span<const DeviceId> works = work.WorksOf(call);
    int64_t all_ns = 0;
    int64_t products_ns = 0;
    for (const DeviceId id : works) {
      AddSaturatingTo(all_ns, device_.dur_ns[id.value]);
      AddSaturatingTo(products_ns, is_product_[id.value] != 0 ? device_.dur_ns[id.value] : 0);
    }
    const bool is_counted = products_ns > 0 && call.cost().matrix_flops > 0 &&
                            work.info[works.front().value].status == WorkStatus::kModelled;
    if (!is_counted) {
      return;
    }
    ModelledCall with_tf32 = call;
    with_tf32.matrix_use = MatrixUse::kYes;
    const int64_t gpu = trace_.DeviceOf(works.front());
    const DeviceSpec* spec = roofs.SpecOf(gpu);
    const std::optional<RoofTime> least = roofs.TimeOf(with_tf32, "tf32", gpu);
    if (spec == nullptr || !CeilingOf(*spec, Peak::kTf32Matrix) || !least) {
      return;
    }
    const double share =
        std::min(1.0, static_cast<double>(least->longest()) / static_cast<double>(all_ns));
    for (const DeviceId id : works) {
      bound_.share[id.value] = share;
      is_known_[id.value] = 1;
    }
  }

  // Work from before the recording has the share of the work that it certainly resembles.
  void BoundInherited() {
    for (const uint32_t row : EachRow(device_.size())) {
      const DeviceId like = aligned_->AsLaunched(DeviceId{row});
      if (like.value != row && is_known_[like.value] != 0) {
        bound_.share[row] = bound_.share[like.value];
        is_known_[row] = 1;
      }
    }
  }

  void CountKnown() {
    for (uint32_t row = 0; row < device_.size(); ++row) {
      const bool counts = is_product_[row] != 0 && is_known_[row] != 0;
      AddSaturatingTo(bound_.known_ns, counts ? device_.dur_ns[row] : 0);
    }
  }

  const DeviceEvents& device_;
  const Trace& trace_;
  const std::vector<char> is_product_;
  const std::shared_ptr<const AlignedWork> aligned_;
  std::vector<char> is_known_;  // per device row
  TensorCoreBound bound_;
};

}  // namespace

std::vector<char> ProductsOnVectorUnits(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  enum : char { kNo, kYes, kUnknown };
  std::vector<char> of_name(view.trace.strings().size(), kUnknown);
  std::vector<char> is_product(device.size(), kNo);
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] != DeviceKind::kKernel) {
      continue;
    }
    char& known = of_name[device.name[row].value];
    if (known == kUnknown) {
      const DeviceId id{row};
      known = IsFp32Product(view.trace.Name(id), view.index.ClassOf(view.trace, id)) ? kYes : kNo;
    }
    if (known == kYes && HasTf32(view.trace, view.trace.DeviceOf(DeviceId{row}))) {
      is_product[row] = kYes;
    }
  }
  return is_product;
}

Result<TensorCoreBound> BoundOfTensorCores(const RankView& view, const Params& params) {
  BS_ASSIGN(const OpModelOptions options, ModelOptionsOf(params));
  BS_ASSIGN(const ModelledWork work, ModelWork(view, options));
  BS_ASSIGN(const Roofs roofs, Roofs::Make(view, params));
  return BoundFinder(view).Find(work, roofs);
}

}  // namespace borescope::internal
