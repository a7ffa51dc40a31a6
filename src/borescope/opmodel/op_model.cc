#include "borescope/opmodel/op_model.h"

#include <iterator>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/opmodel/cost_builder.h"

namespace borescope::internal {

std::string_view CostStatusName(CostStatus status) {
  switch (status) {
    case CostStatus::kOk:
      return "ok";
    case CostStatus::kUnknownOp:
      return "unknown op";
    case CostStatus::kMissingShapes:
      return "missing shapes";
    case CostStatus::kBadShapes:
      return "bad shapes";
    case CostStatus::kNeedsValues:
      return "needs values";
    case CostStatus::kDependsOnData:
      return "depends on data";
    case CostStatus::kUnknownType:
      return "unknown dtype";
    case CostStatus::kBytesOnly:
      return "bytes only";
    case CostStatus::kOverflow:
      return "overflow";
  }
  return "";
}

std::string_view OpFamilyName(OpFamily family) {
  constexpr std::string_view kNames[] = {
      "",           "gemm",      "convolution",   "attention",
      "recurrent",  "pointwise", "normalization", "softmax",
      "loss",       "reduction", "indexing",      "data movement",
      "pooling",    "optimizer", "quantization",  "linear algebra",
      "collective", "generated"};
  static_assert(std::size(kNames) == kOpFamilies);
  return kNames[static_cast<size_t>(family)];
}

namespace {

using ModelsByName = HashMap<std::string_view, const OpModel*>;

ModelsByName IndexByName() {
  ModelsByName models;
  models.reserve(AllOpModels().size());
  for (const OpModel& model : AllOpModels()) {
    models.emplace(model.name, &model);
  }
  return models;
}

// "triton_poi_" for "triton_poi_fused_add_0", and similar for all kernels that TorchInductor
// generates; empty for other names.
std::string_view GeneratedPrefix(std::string_view name) {
  constexpr std::string_view kExample = "triton_poi_";
  const bool is_generated = name.starts_with("triton_") && name.size() > kExample.size();
  return is_generated ? name.substr(0, kExample.size()) : std::string_view();
}

}  // namespace

const OpModel* FindOpModel(std::string_view name) {
  static const ModelsByName models = IndexByName();
  auto found = models.find(name);
  if (found == models.end() && name.ends_with('_')) {
    found = models.find(name.substr(0, name.size() - 1));
  }
  if (found == models.end()) {
    found = models.find(GeneratedPrefix(name));
  }
  return found == models.end() ? nullptr : found->second;
}

OpCost CostOf(std::string_view name, const CallArgs& args, const OpModelOptions& options) {
  const OpModel* model = FindOpModel(name);
  if (model == nullptr) return {};
  const OpCall call{*model, args, options, name.ends_with('_') && name != model->name, name};
  if (args.is_bad()) return opmodel::Failure(call, CostStatus::kBadShapes);
  if (!args.is_recorded()) return opmodel::Failure(call, CostStatus::kMissingShapes);
  return model->cost(call);
}

}  // namespace borescope::internal
