#include "borescope/analysis/measures/flops/modelled_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/flops/counters.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/base/check.h"
#include "borescope/base/stop.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

namespace {

// Whether a kernel's name shows that it computes the products of a matrix operator.
enum class Evidence : uint8_t { kHelper, kNothing, kProduct };

class Modeller {
 public:
  Modeller(const RankView& view, const OpModelOptions& options)
      : view_(view),
        host_(view.trace.host()),
        phases_(SharedHostPhases(view)),
        measured_(view),
        op_of_(view.trace.device().size()),
        arguments_(view.trace.host().all_size(), Arguments::kNone),
        is_graph_(view.trace.strings().size()),
        uses_(view.trace.strings().size()) {
    result_.costs = std::make_unique<OpCosts>(view.trace, options);
  }

  Result<ModelledWork> Build();

 private:
  // Which arguments determine the cost of a host row.
  enum class Arguments : uint8_t { kNone, kOwn, kForward };

  OpCosts& Costs() { return *result_.costs; }
  void Assign(DeviceId id);
  void AssignTo(DeviceId id, HostId op, Arguments arguments);
  HostId OperatorOf(DeviceId id) const;
  bool IsReplay(uint32_t row) const {
    return op_of_[row].valid() && result_.captured.LaunchOf(DeviceId{row}).valid();
  }
  bool RanInGraph(DeviceId id);
  void LookAround();
  bool HasBackwardFormula(HostId forward);
  std::vector<char> RowsAboveCalls() const;
  bool IsCounted(const ModelledCall& call, const std::vector<char>& is_above) const;
  void AddCalls();
  void AddReplays(const std::vector<char>& is_above);
  ModelledCall CallOf(HostId op);
  void CollectWorks();
  void AssignRoles(ModelledCall& call);
  void InferListType(ModelledCall& call);
  void InferCost(ModelledCall& call);
  const OpCost& BackwardCostOf(const OpCost& forward, uint64_t gradients);
  Evidence EvidenceOf(DeviceId id);
  MatrixUse UseOf(DeviceId id);
  MatrixUse MeasuredUseOf(DeviceId id);
  WorkDirection DirectionOf(HostId op);

  const RankView& view_;
  const HostEvents& host_;
  std::shared_ptr<const std::vector<Phase>> phases_;
  MeasuredMatrixUse measured_;                         // by counters of the trace
  std::shared_ptr<const RankCounters> counters_ = {};  // by those of reports
  // Per host row, among it and the rows around it: the innermost one with a model, and the
  // innermost one that is linked to a forward operator.
  std::vector<HostId> with_model_;
  std::vector<HostId> linked_;
  std::vector<HostId> op_of_;                   // per device row: the call it would belong to
  std::vector<Arguments> arguments_;            // per host row
  std::vector<std::optional<bool>> is_graph_;   // per text
  std::vector<std::optional<MatrixUse>> uses_;  // per text
  ModelledWork result_;
};

bool Modeller::RanInGraph(DeviceId id) {
  if (GraphNodeOf(view_.trace, id) != kMissing) return true;
  const HostId launch = view_.index.correlation.launch_of[id.value];
  if (!launch.valid()) return false;
  std::optional<bool>& is_graph = is_graph_[host_.name[launch.value].value];
  if (!is_graph.has_value()) {
    is_graph = IsGraphLaunchName(view_.trace.Name(launch));
  }
  return *is_graph;
}

// Finds the rows around every host row, itself included; rows are in preorder.
void Modeller::LookAround() {
  const auto rows = static_cast<uint32_t>(host_.all_size());
  with_model_.resize(rows);
  linked_.resize(rows);
  for (const ForwardBackwardLink& link : view_.index.forward_backward) {
    linked_[link.backward.value] = link.backward;
  }
  for (uint32_t row = 0; row < rows; ++row) {
    CheckStopAt(row);
    const HostId id{row};
    const HostId outer = view_.index.tree.parent[row];
    if (Costs().ModelOf(id) != nullptr) {
      with_model_[row] = id;
    } else if (outer.valid()) {
      with_model_[row] = with_model_[outer.value];
    }
    if (!linked_[row].valid() && outer.valid()) {
      linked_[row] = linked_[outer.value];
    }
  }
}

bool Modeller::HasBackwardFormula(HostId forward) {
  const OpFamily family = Costs().Of(forward).family;
  return IsMatrixFamily(family) && family != OpFamily::kRecurrent;
}

// For a kernel of a graph, the operator in the capture, if there is one.
HostId Modeller::OperatorOf(DeviceId id) const {
  HostId row = result_.captured.LaunchOf(id);
  if (!row.valid()) return view_.index.correlation.op_of[id.value];
  while (row.valid() && host_.kind[row.value] != HostKind::kOp) {
    row = view_.index.tree.parent[row.value];
  }
  return row;
}

void Modeller::Assign(DeviceId id) {
  WorkInfo& info = result_.info[id.value];
  const HostId op = OperatorOf(id);
  const bool is_replay = result_.captured.LaunchOf(id).valid() && op.valid();
  if (!is_replay && RanInGraph(id)) {
    info.status = WorkStatus::kGraph;
    return;
  }
  if (!op.valid()) {
    const bool has_launch = view_.index.correlation.launch_of[id.value].valid();
    info.status = has_launch ? WorkStatus::kOutsideOps : WorkStatus::kNoLaunch;
    return;
  }
  info.status = WorkStatus::kNoModel;
  info.direction = DirectionOf(op);
  const HostId call = with_model_[op.value];
  if (call.valid() && Costs().Of(call).status != CostStatus::kMissingShapes) {
    AssignTo(id, call, Arguments::kOwn);
    return;
  }
  const bool is_backward = info.direction == WorkDirection::kBackward;
  const HostId backward = is_backward ? linked_[op.value] : HostId{};
  if (backward.valid() && HasBackwardFormula(view_.index.ForwardOf(backward))) {
    AssignTo(id, backward, Arguments::kForward);
  } else if (call.valid()) {
    AssignTo(id, call, Arguments::kOwn);
  }
}

void Modeller::AssignTo(DeviceId id, HostId op, Arguments arguments) {
  op_of_[id.value] = op;
  arguments_[op.value] = arguments;
}

// Marks the host rows above a row with work of its own.
std::vector<char> Modeller::RowsAboveCalls() const {
  std::vector<char> is_above(host_.all_size(), 0);
  for (uint32_t row = 0; row < is_above.size(); ++row) {
    CheckStopAt(row);
    if (arguments_[row] == Arguments::kNone) continue;
    HostId outer = view_.index.tree.parent[row];
    while (outer.valid() && is_above[outer.value] == 0) {
      is_above[outer.value] = 1;
      outer = view_.index.tree.parent[outer.value];
    }
  }
  return is_above;
}

ModelledCall Modeller::CallOf(HostId op) {
  const bool is_own = arguments_[op.value] == Arguments::kOwn;
  const HostId shapes_of = is_own ? op : view_.index.ForwardOf(op);
  return {.op = op,
          .shapes_of = shapes_of,
          .cost_of_all = &Costs().Of(shapes_of),
          .direction = DirectionOf(op)};
}

// A composite call, or a backward call that represents operators that were not recorded, is not
// counted if calls below it are.
bool Modeller::IsCounted(const ModelledCall& call, const std::vector<char>& is_above) const {
  const bool stands_in = call.cost().is_composite || call.op != call.shapes_of;
  return !stands_in || is_above[call.op.value] == 0;
}

// Adds the calls in captures, once for each launch of their graph.
void Modeller::AddReplays(const std::vector<char>& is_above) {
  std::vector<std::array<uint32_t, 3>> works;  // graph launch, operator, device row
  for (uint32_t row = 0; row < op_of_.size(); ++row) {
    if (IsReplay(row)) works.push_back({result_.captured.replay_of[row], op_of_[row].value, row});
  }
  std::sort(works.begin(), works.end());
  for (size_t begin = 0, end = 0; begin < works.size(); begin = end) {
    ModelledCall call = CallOf(HostId{works[begin][1]});
    call.is_replay = true;
    const bool is_counted = IsCounted(call, is_above);
    for (; end < works.size() && std::equal(&works[begin][0], &works[begin][2], &works[end][0]);
         ++end) {
      if (is_counted) {
        result_.info[works[end][2]].call = static_cast<uint32_t>(result_.calls.size());
      }
    }
    if (is_counted) result_.calls.push_back(call);
  }
}

void Modeller::AddCalls() {
  const std::vector<char> is_above = RowsAboveCalls();
  std::vector<char> has_work(host_.all_size());  // of its own launches
  for (uint32_t row = 0; row < op_of_.size(); ++row) {
    if (op_of_[row].valid() && !IsReplay(row)) has_work[op_of_[row].value] = 1;
  }
  std::vector<uint32_t> call_of_op(host_.all_size(), kNoCall);
  result_.calls.reserve(static_cast<size_t>(std::count(has_work.begin(), has_work.end(), 1)));
  for (uint32_t row = 0; row < host_.size(); ++row) {
    CheckStopAt(row);
    if (has_work[row] == 0) continue;
    const ModelledCall call = CallOf(HostId{row});
    if (IsCounted(call, is_above)) {
      call_of_op[row] = static_cast<uint32_t>(result_.calls.size());
      result_.calls.push_back(call);
    }
  }
  for (uint32_t row = 0; row < op_of_.size(); ++row) {
    CheckStopAt(row);
    if (op_of_[row].valid() && !IsReplay(row)) {
      result_.info[row].call = call_of_op[op_of_[row].value];
    }
  }
  AddReplays(is_above);
}

// A counting sort by call.
void Modeller::CollectWorks() {
  for (const WorkInfo& info : result_.info) {
    if (info.call != kNoCall) ++result_.calls[info.call].end_work;
  }
  uint32_t next = 0;
  for (ModelledCall& call : result_.calls) {
    const uint32_t count = call.end_work;
    call.first_work = call.end_work = next;
    next += count;
  }
  result_.works.resize(next);
  for (uint32_t row = 0; row < result_.info.size(); ++row) {
    const uint32_t call = result_.info[row].call;
    if (call != kNoCall) result_.works[result_.calls[call].end_work++] = DeviceId{row};
  }
}

MatrixUse Modeller::UseOf(DeviceId id) {
  if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) return MatrixUse::kNotMatrix;
  std::optional<MatrixUse>& use = uses_[view_.trace.device().name[id.value].value];
  if (!use.has_value()) {
    use = MatrixUseOf(view_.trace.Name(id), true);
  }
  return *use;
}

// What counters prove wins over the name.
MatrixUse Modeller::MeasuredUseOf(DeviceId id) {
  const MatrixUse use = measured_.Of(id, UseOf(id));
  const MeasuredKernel* const measured = counters_->MeasuredOf(id);
  if (measured == nullptr || !measured->uses_matrix_units.has_value()) return use;
  if (*measured->uses_matrix_units) return MatrixUse::kYes;
  return use == MatrixUse::kNotMatrix ? use : MatrixUse::kNo;
}

Evidence Modeller::EvidenceOf(DeviceId id) {
  const MatrixUse use = UseOf(id);
  if (use == MatrixUse::kNotMatrix) return Evidence::kHelper;
  if (use != MatrixUse::kUnknown) return Evidence::kProduct;
  const KernelClass kind = view_.index.ClassOf(view_.trace, id);
  const bool is_product =
      kind == KernelClass::kGemm || kind == KernelClass::kConv || kind == KernelClass::kAttention;
  return is_product ? Evidence::kProduct : Evidence::kNothing;
}

void Modeller::AssignRoles(ModelledCall& call) {
  const DeviceEvents& device = view_.trace.device();
  const bool is_matrix = IsMatrixFamily(call.cost().family);
  const auto evidence = [&](DeviceId id) {
    return is_matrix ? EvidenceOf(id) : Evidence::kNothing;
  };
  const std::span<const DeviceId> works = result_.WorksOf(call);
  const DeviceId best = *std::max_element(works.begin(), works.end(), [&](DeviceId a, DeviceId b) {
    return std::pair(evidence(a), device.dur_ns[a.value]) <
           std::pair(evidence(b), device.dur_ns[b.value]);
  });
  for (const DeviceId id : works) {
    const bool is_main =
        evidence(id) == Evidence::kProduct || device.name[id.value] == device.name[best.value];
    result_.info[id.value].role = is_main ? KernelRole::kMain : KernelRole::kHelper;
    if (is_main && is_matrix) {
      const MatrixUse use = MeasuredUseOf(id);
      const bool is_better = call.matrix_use == MatrixUse::kNotMatrix || use == MatrixUse::kYes;
      call.matrix_use = is_better ? use : call.matrix_use;
    }
  }
}

// The cost of a backward call, from that of its forward operator.
OpCost BackwardCost(const OpCost& forward, uint64_t gradients) {
  OpCost cost = forward;
  cost.direction = OpDirection::kBackward;
  const bool is_attention = forward.family == OpFamily::kAttention;
  const Quantity flops =  // twice, as attention has five products for two
      Quantity(forward.matrix_flops) * (is_attention ? 5 : 2 * gradients);
  const uint64_t passes = is_attention ? 2 : gradients;
  const Quantity read = Quantity(forward.read_bytes) * passes;
  const Quantity written = Quantity(forward.written_bytes) * passes;
  if ((read + written + flops).is_overflow()) {
    cost = {.status = CostStatus::kOverflow, .family = forward.family, .type = forward.type};
    cost.direction = OpDirection::kBackward;
    return cost;
  }
  cost.matrix_flops = flops.value() / 2;
  cost.vector_flops = is_attention ? forward.vector_flops : 0;
  cost.read_bytes = read.value();
  cost.written_bytes = written.value();
  return cost;
}

// Infers the types of tensors in lists from the kernels that worked on them.
void Modeller::InferListType(ModelledCall& call) {
  if (call.cost().status != CostStatus::kUnknownType) return;
  for (const DeviceId id : result_.WorksOf(call)) {
    const ScalarType type = ListTypeOfKernel(view_.trace.Name(id));
    if (type == ScalarType::kUnknown) continue;
    call.cost_of_all = &Costs().Of(call.shapes_of, type);
    return;
  }
}

const OpCost& Modeller::BackwardCostOf(const OpCost& forward, uint64_t gradients) {
  const auto [known, is_new] = result_.backward_costs.try_emplace({&forward, gradients});
  if (is_new) {
    known->second = BackwardCost(forward, gradients);
  }
  return known->second;
}

void Modeller::InferCost(ModelledCall& call) {
  InferListType(call);
  if (call.op != call.shapes_of) {
    const std::span<const DeviceId> works = result_.WorksOf(call);
    const auto mains = std::count_if(works.begin(), works.end(), [&](DeviceId id) {
      return result_.info[id.value].role == KernelRole::kMain;
    });
    call.cost_of_all =
        &BackwardCostOf(call.cost(), std::clamp<uint64_t>(static_cast<uint64_t>(mains), 1, 2));
  }
  const bool is_known =
      KnowsBytes(call.cost().status) || (KnowsFlops(call.cost().status) && call.cost().flops() > 0);
  for (const DeviceId id : result_.WorksOf(call)) {
    WorkInfo& info = result_.info[id.value];
    info.status = is_known ? WorkStatus::kModelled : WorkStatus::kUnknownCost;
    info.direction = call.direction;
  }
}

WorkDirection Modeller::DirectionOf(HostId op) {
  const OpModel* model = Costs().ModelOf(op);
  const OpDirection by_model = model == nullptr ? OpDirection::kForward : model->direction;
  if (by_model == OpDirection::kUpdate || (*phases_)[op.value] == Phase::kOptimizer) {
    return WorkDirection::kUpdate;
  }
  if (by_model == OpDirection::kBackward) return WorkDirection::kBackward;
  if ((*phases_)[op.value] == Phase::kRecompute) return WorkDirection::kRecompute;
  return (*phases_)[op.value] == Phase::kBackward ? WorkDirection::kBackward
                                                  : WorkDirection::kForward;
}

Result<ModelledWork> Modeller::Build() {
  BS_ASSIGN(result_.captured, FindCapturedLaunches(view_));
  BS_ASSIGN(counters_, SharedRankCounters(view_));
  const DeviceEvents& device = view_.trace.device();
  result_.info.resize(device.size());
  LookAround();
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (IsDeviceWork(device.kind[row])) Assign(DeviceId{row});
  }
  AddCalls();
  CollectWorks();
  for (ModelledCall& call : result_.calls) {
    AssignRoles(call);
    InferCost(call);
  }
  return std::move(result_);
}

}  // namespace

std::string_view WorkStatusName(WorkStatus status) {
  constexpr std::string_view kNames[kWorkStatuses] = {"modelled", "unknown cost", "no model",
                                                      "graph",    "no operator",  "no launch"};
  return kNames[static_cast<size_t>(status)];
}

std::string_view WorkDirectionName(WorkDirection direction) {
  constexpr std::string_view kNames[] = {"forward", "backward", "recompute", "update", "unknown"};
  return kNames[static_cast<size_t>(direction)];
}

bool IsMatrixFamily(OpFamily family) {
  return family == OpFamily::kGemm || family == OpFamily::kConvolution ||
         family == OpFamily::kAttention || family == OpFamily::kRecurrent;
}

Result<ModelledWork> ModelWork(const RankView& view, const OpModelOptions& options) {
  return Modeller(view, options).Build();
}

namespace {

struct ModeRow {
  std::string_view word;  // of --causal
  CausalMode mode;
};
constexpr ModeRow kModes[] = {
    {"exact", CausalMode::kExact}, {"half", CausalMode::kHalf}, {"full", CausalMode::kFull}};

// nullptr for an unknown word.
constexpr const ModeRow* FindMode(std::string_view word) {
  const auto* row = std::find_if(std::begin(kModes), std::end(kModes),
                                 [&](const ModeRow& one) { return one.word == word; });
  return row == std::end(kModes) ? nullptr : row;
}

// ParseParam accepts the words that the option lists; each of them, and no other, must have a mode
// here.
constexpr bool HasModeOfEachWord() {
  const std::string_view words = kCausalParam.value;
  size_t found = 0;
  for (size_t at = 0; at <= words.size();) {
    const size_t bar = std::min(words.find('|', at), words.size());
    if (FindMode(words.substr(at, bar - at)) == nullptr) {
      return false;
    }
    found += 1;
    at = bar + 1;
  }
  return found == std::size(kModes) && FindMode(kCausalParam.default_text) != nullptr;
}
static_assert(HasModeOfEachWord(),
              "--causal: a word of kCausalParam without a mode, or the reverse");

}  // namespace

Result<OpModelOptions> ModelOptionsOf(const Params& params) {
  constexpr int64_t kMostWeight = 1000;
  const ModeRow* mode = FindMode(params.Text(kCausalParam));
  BS_CHECK(mode != nullptr);
  const int64_t weight = params.Number(kSfuWeightParam);
  if (weight > kMostWeight) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = fmt::format("`sfu_weight` {}: expected at most {}", weight, kMostWeight),
                 .parameter = "sfu_weight"};
  }
  return OpModelOptions{.causal = mode->mode,
                        .transcendental_flops = static_cast<uint32_t>(weight)};
}

namespace {

// Whether any call has shapes; without them no FLOPs are known.
bool HasShapes(const Trace& trace) {
  const ColumnData<StringId>& dims = trace.ops().input_dims;
  return std::any_of(dims.begin(), dims.end(),
                     [&](StringId text) { return !trace.Text(text).empty(); });
}

int64_t FlopsOf(const OpCost& cost) {
  return KnowsFlops(cost.status) ? static_cast<int64_t>(cost.main_flops()) : kMissing;
}

Result<void> CountWithDevice(const RankView& view, const Selected& selected, CallFlops& flops) {
  BS_ASSIGN(const ModelledWork work, ModelWork(view, {}));
  for (const ModelledCall& call : work.calls) {
    // Replays of captures in this recording itself have no rows in these tables.
    if (call.is_replay && !view.trace.host().IsCaptured(call.op)) continue;
    const std::span<const DeviceId> works = work.WorksOf(call);
    const bool is_known = work.info[works.front().value].status == WorkStatus::kModelled;
    const bool is_selected =
        std::any_of(works.begin(), works.end(), [&](DeviceId id) { return selected.Keeps(id); });
    if (!is_known || !is_selected) continue;
    if (call.is_replay) {
      flops.replayed.push_back({call.op, works.front(), FlopsOf(call.cost())});
    } else {
      flops.of_call[call.op.value] = FlopsOf(call.cost());
    }
  }
  return {};
}

void CountOnHost(const RankView& view, const Selected& selected, std::vector<int64_t>& flops) {
  OpCosts costs(view.trace);
  for (uint32_t row = 0; row < flops.size(); ++row) {
    const OpModel* model = costs.ModelOf(HostId{row});
    if (model != nullptr && !model->is_composite && selected.Keeps(HostId{row})) {
      flops[row] = FlopsOf(costs.Of(HostId{row}));
    }
  }
}

}  // namespace

Result<CallFlops> FlopsOfCalls(const RankView& view, const Selected& selected) {
  CallFlops flops;
  flops.of_call.assign(view.trace.host().size(), kMissing);
  if (!HasShapes(view.trace)) return flops;
  if (HasDeviceWork(view.trace)) {
    BS_TRY(CountWithDevice(view, selected, flops));
  } else {
    CountOnHost(view, selected, flops.of_call);
  }
  return flops;
}

}  // namespace borescope::internal
