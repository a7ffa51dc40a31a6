#include "borescope/opmodel/op_costs.h"

namespace borescope {

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

size_t OpCosts::KeyHash::operator()(const Key& key) const {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;
  uint64_t hash = 0;
  for (const uint32_t part : key) {
    hash = (hash ^ part) * kMultiplier;
    hash ^= hash >> 32;
  }
  return static_cast<size_t>(hash);
}

const OpModel* OpCosts::ModelOf(HostId call) {
  const HostEvents& host = trace_.host();
  const HostKind kind = host.kind[call.value];
  if (kind != HostKind::kOp && kind != HostKind::kAnnotation) return nullptr;
  const StringId name = host.name[call.value];
  const auto [found, is_new] = models_.try_emplace(name.value, nullptr);
  if (is_new) {
    found->second = FindOpModel(trace_.Text(name));
  }
  return found->second;
}

const OpCost& OpCosts::Of(HostId call, ScalarType list_type) {
  if (ModelOf(call) == nullptr) return unknown_;
  const uint32_t row = trace_.host().detail[call.value];
  Key key{trace_.host().name[call.value].value, static_cast<uint32_t>(list_type)};
  if (row != kNoDetail) {
    const Ops& ops = trace_.ops();
    key = {key[0],
           key[1],
           ops.input_dims[row].value,
           ops.input_types[row].value,
           ops.input_strides[row].value,
           ops.concrete_inputs[row].value};
  }
  const auto [found, is_new] = costs_.try_emplace(key);
  if (is_new) {
    found->second = Compute(call, list_type);
  }
  return found->second;
}

OpCost OpCosts::Compute(HostId call, ScalarType list_type) const {
  OpModelOptions options = options_;
  options.list_type = list_type;
  return CostOf(trace_.Name(call), CallArgsOf(trace_, call), options);
}

}  // namespace borescope
