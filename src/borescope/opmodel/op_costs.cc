#include "borescope/opmodel/op_costs.h"

#include "borescope/opmodel/families.h"

namespace borescope::internal {
namespace {

// Not the index of a text, so that keys of sizes differ from keys of arguments.
constexpr uint32_t kSizesKey = kNoDetail;

// The row of Collectives with the sizes of a call whose arguments do not contain them, else
// kNoDetail.
uint32_t SizesOf(const Trace& trace, HostId call, const OpModel& model) {
  const uint32_t row = trace.host().detail[call.value];
  const bool has_sizes =
      model.family == OpFamily::kCollective && model.variant == opmodel::kRecordedSizes;
  return has_sizes && row != kNoDetail ? uint32_t{trace.ops().collective[row]} : kNoDetail;
}

// The row of TritonLaunches with what a generated kernel moves, or kNoDetail if that was not
// recorded.
uint32_t RecordedWorkOf(const Trace& trace, HostId call, const OpModel& model) {
  const uint32_t row = trace.host().detail[call.value];
  if (model.family != OpFamily::kGenerated || row == kNoDetail) return kNoDetail;
  const uint32_t launch = trace.ops().triton[row];
  const bool is_recorded = launch != kNoDetail && trace.triton().bytes[launch] != kMissing;
  return is_recorded ? launch : kNoDetail;
}

// The cost of recorded bytes and, for products of matrices, FLOPs.
OpCost RecordedCost(const OpModel& model, int64_t bytes, int64_t flops) {
  OpCost cost;
  cost.status = flops > 0 ? CostStatus::kOk : CostStatus::kBytesOnly;
  cost.family = model.family;
  cost.direction = model.direction;
  cost.read_bytes = static_cast<uint64_t>(bytes);
  cost.matrix_flops = flops > 0 ? static_cast<uint64_t>(flops) : 0;
  return cost;
}

}  // namespace

CallArgs CallArgsOf(const Trace& trace, HostId call) {
  const uint32_t row = trace.host().detail[call.value];
  const HostKind kind = trace.host().kind[call.value];
  if (row == kNoDetail || (kind != HostKind::kOp && kind != HostKind::kAnnotation)) {
    return {};
  }
  const Ops& ops = trace.ops();
  return CallArgs::Parse({trace.Text(ops.input_dims[row]), trace.Text(ops.input_types[row]),
                          trace.Text(ops.input_strides[row]),
                          trace.Text(ops.concrete_inputs[row])});
}

const OpModel* OpCosts::ModelOf(HostId call) {
  const HostEvents& host = trace_.host();
  const HostKind kind = host.kind[call.value];
  if (kind != HostKind::kOp && kind != HostKind::kAnnotation) return nullptr;
  Name& name = names_[host.name[call.value].value];
  if (!name.is_known) {
    name.is_known = true;
    name.model = FindOpModel(trace_.Name(call));
  }
  return name.model;
}

OpCosts::Key OpCosts::KeyOfRecorded(uint32_t name, int64_t bytes, int64_t flops) {
  const auto low = [](int64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](int64_t value) {
    return static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
  };
  return {name, low(bytes), kSizesKey, high(bytes), low(flops), high(flops)};
}

OpCosts::Key OpCosts::KeyOf(HostId call, const OpModel& model, ScalarType list_type) const {
  const uint32_t name = trace_.host().name[call.value].value;
  const auto type = static_cast<uint32_t>(list_type);
  if (const uint32_t sizes = SizesOf(trace_, call, model); sizes != kNoDetail) {
    return {name, type, kSizesKey, sizes};
  }
  if (const uint32_t launch = RecordedWorkOf(trace_, call, model); launch != kNoDetail) {
    return KeyOfRecorded(name, trace_.triton().bytes[launch], trace_.triton().flops[launch]);
  }
  const uint32_t row = trace_.host().detail[call.value];
  if (row == kNoDetail) return {name, type};
  const Ops& ops = trace_.ops();
  return {name,
          type,
          ops.input_dims[row].value,
          ops.input_types[row].value,
          ops.input_strides[row].value,
          ops.concrete_inputs[row].value};
}

const OpCost& OpCosts::Of(HostId call, ScalarType list_type) {
  const OpModel* model = ModelOf(call);
  if (model == nullptr) return unknown_;
  Name& name = names_[trace_.host().name[call.value].value];
  const Key key = KeyOf(call, *model, list_type);
  if (name.last == nullptr || name.last_key != key) {
    const auto [found, is_new] = costs_.try_emplace(key);
    if (is_new) {
      found->second = Compute(call, *model, list_type);
    }
    name.last = &found->second;
    name.last_key = key;
  }
  return *name.last;
}

OpCost OpCosts::Compute(HostId call, const OpModel& model, ScalarType list_type) const {
  OpModelOptions options = options_;
  options.list_type = list_type;
  if (const uint32_t row = SizesOf(trace_, call, model); row != kNoDetail) {
    const Collectives& sizes = trace_.collectives();
    return opmodel::CollectiveOfSizes({model, CallArgs(), options}, sizes.in_elems[row],
                                      sizes.out_elems[row],
                                      ParseScalarType(trace_.Text(sizes.dtype[row])));
  }
  if (const uint32_t row = RecordedWorkOf(trace_, call, model); row != kNoDetail) {
    return RecordedCost(model, trace_.triton().bytes[row], trace_.triton().flops[row]);
  }
  return CostOf(trace_.Name(call), CallArgsOf(trace_, call), options);
}

}  // namespace borescope::internal
