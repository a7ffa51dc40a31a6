// What an operator call costs at least, judged by its arguments alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "borescope/opmodel/values/scalar_type.h"

namespace borescope::internal {

enum class CostStatus : uint8_t {
  kOk,
  kUnknownOp,      // no row in the table of models
  kMissingShapes,  // shapes were not recorded, or not of what the model needs
  kBadShapes,      // no shapes, or such that the operator cannot have been called with
  kNeedsValues,    // depends on a value (stride, mode, ...) that was not recorded
  kDependsOnData,  // depends on the contents of tensors, or on a part of a buffer: no argument says
                   // it
  kUnknownType,    // FLOPs are right; bytes are 0, because the type of a tensor is not known
  kBytesOnly,      // bytes are right; FLOPs are 0, because what is computed was not recorded
  kOverflow,       // more than 64 bits can count: damaged shapes
};
inline bool KnowsFlops(CostStatus status) {
  return status == CostStatus::kOk || status == CostStatus::kUnknownType;
}
inline bool KnowsBytes(CostStatus status) {
  return status == CostStatus::kOk || status == CostStatus::kBytesOnly;
}
// "ok", "unknown op", ...
std::string_view CostStatusName(CostStatus status);

enum class OpFamily : uint8_t {
  kNone,  // unknown operator
  kGemm,
  kConvolution,
  kAttention,
  kRecurrent,
  kPointwise,
  kNormalization,
  kSoftmax,
  kLoss,
  kReduction,
  kIndexing,
  kDataMovement,
  kPooling,
  kOptimizer,
  kQuantization,
  kLinearAlgebra,
  kCollective,
  kGenerated,  // kernels that a compiler fused
};
inline constexpr size_t kOpFamilies = static_cast<size_t>(OpFamily::kGenerated) + 1;
std::string_view OpFamilyName(OpFamily family);

enum class OpDirection : uint8_t { kForward, kBackward, kUpdate };  // kUpdate: of parameters

// Compulsory work: FLOPs of the mathematical operation (a multiply-add is 2, of complex numbers 8),
// bytes of every distinct input read once and every output written once. Counts are 0 unless the
// status is kOk or, for FLOPs alone, kUnknownType, for bytes alone, kBytesOnly.
struct OpCost {
  CostStatus status = CostStatus::kUnknownOp;
  OpFamily family = OpFamily::kNone;
  OpDirection direction = OpDirection::kForward;
  bool is_composite = false;    // see OpModel::is_composite
  bool is_lower_bound = false;  // lengths or counts are not recorded; it costs at least this
  ScalarType type = ScalarType::kUnknown;  // of the inputs of the arithmetic
  uint64_t matrix_flops = 0;  // products of matrices, convolutions, attention: what matrix units do
  uint64_t vector_flops = 0;  // everything else: bias, activation, softmax, ...
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  // Of matrix_flops, in the backward call of a convolution: which gradient they are for.
  uint64_t input_gradient_flops = 0;
  uint64_t weight_gradient_flops = 0;

  uint64_t flops() const { return matrix_flops + vector_flops; }
  // What every verb calls the FLOPs of a call: the matrix FLOPs of what has any, as a bias or a
  // softmax beside products does not take the time; else the vector FLOPs.
  uint64_t main_flops() const { return matrix_flops > 0 ? matrix_flops : vector_flops; }
  uint64_t bytes() const { return read_bytes + written_bytes; }
};

}  // namespace borescope::internal
