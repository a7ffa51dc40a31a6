#include "borescope/opmodel/op_cost.h"

namespace borescope {

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
  switch (family) {
    case OpFamily::kNone:
      return "";
    case OpFamily::kGemm:
      return "gemm";
    case OpFamily::kConvolution:
      return "convolution";
    case OpFamily::kAttention:
      return "attention";
    case OpFamily::kRecurrent:
      return "recurrent";
    case OpFamily::kPointwise:
      return "pointwise";
    case OpFamily::kNormalization:
      return "normalization";
    case OpFamily::kSoftmax:
      return "softmax";
    case OpFamily::kLoss:
      return "loss";
    case OpFamily::kReduction:
      return "reduction";
    case OpFamily::kIndexing:
      return "indexing";
    case OpFamily::kDataMovement:
      return "data movement";
    case OpFamily::kPooling:
      return "pooling";
    case OpFamily::kOptimizer:
      return "optimizer";
    case OpFamily::kQuantization:
      return "quantization";
    case OpFamily::kLinearAlgebra:
      return "linear algebra";
    case OpFamily::kCollective:
      return "collective";
    case OpFamily::kGenerated:
      return "generated";
  }
  return "";
}

std::string_view OpDirectionName(OpDirection direction) {
  switch (direction) {
    case OpDirection::kForward:
      return "forward";
    case OpDirection::kBackward:
      return "backward";
    case OpDirection::kUpdate:
      return "update";
  }
  return "";
}

}  // namespace borescope
