#include "borescope/opmodel/op_cost.h"

#include <iterator>

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

}  // namespace borescope::internal
