// The cost models of operators: what an operator's name says about it, and what a call costs
// according to its arguments. docs/how-it-works/flops.md has every formula, its source, an example.
//
// To add an operator: one row in op_table.cc, its function in the file of its family, a line in
// docs/how-it-works/flops.md, a test.
//
// Which calls to count. Operators call each other (aten::linear -> aten::addmm -> the kernel), and
// models exist for both, because which of them appear depends on the producer. The kernel belongs
// to the innermost operator around its launch that has a model; a call is counted once if at least
// one kernel belongs to it, and not at all otherwise. In a recording without kernels, the calls to
// count are those with a model that is not composite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

// Whether the least cost of a call is known from its arguments alone.
enum class CostStatus : uint8_t {
  kOk,
  kUnknownOp,      // no row in the table of models
  kMissingShapes,  // shapes were not recorded, or not those that the model needs
  kBadShapes,      // not shapes, or shapes that the operator does not accept
  kNeedsValues,    // depends on a value (stride, mode, ...) that was not recorded
  kDependsOnData,  // depends on the contents of tensors, or on a part of a buffer
  kUnknownType,    // FLOPs are right; bytes are 0, because the type of a tensor is not known
  kBytesOnly,      // bytes are right; FLOPs are 0, because what is computed was not recorded
  kOverflow,       // more than 64 bits can count, so shapes are damaged
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
  ScalarType type = ScalarType::kUnknown;  // the type of the inputs of the arithmetic
  uint64_t matrix_flops =
      0;  // of products of matrices, convolutions and attention, for matrix units
  uint64_t vector_flops = 0;  // of everything else: bias, activation, softmax, ... ...
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  // In the backward call of a convolution: the parts of matrix_flops for each gradient.
  uint64_t input_gradient_flops = 0;
  uint64_t weight_gradient_flops = 0;

  uint64_t flops() const { return matrix_flops + vector_flops; }
  // The FLOPs of a call in every verb: the matrix FLOPs if there are any, as a bias or softmax
  // beside products does not determine the time; else the vector FLOPs.
  uint64_t main_flops() const { return matrix_flops > 0 ? matrix_flops : vector_flops; }
  uint64_t bytes() const { return read_bytes + written_bytes; }
};

// Which pairs of query and key a causal attention counts.
enum class CausalMode : uint8_t {
  kExact,  // the pairs that are not masked
  kHalf,   // half of all pairs: as papers and TraceLens count
  kFull,   // all pairs: as PyTorch's FlopCounterMode counts
};

struct OpModelOptions {
  CausalMode causal = CausalMode::kExact;
  uint32_t transcendental_flops = 1;  // of one exp, log, sin, sqrt, ... (PyProf: 20)
  // The type of tensors in lists (aten::cat, aten::_foreach_*), which recordings lack.
  ScalarType list_type = ScalarType::kUnknown;
};

struct OpModel;

// A call as models get it.
struct OpCall {
  const OpModel& model;
  const CallArgs& args;
  const OpModelOptions& options;
  bool is_in_place = false;    // the call is "aten::add_", by the row of "aten::add"
  std::string_view name = {};  // as recorded
};

// The type of the result of a pointwise operator.
enum class ResultType : uint8_t {
  kPromoted,  // by PyTorch's rules of promotion
  kFloat,     // promoted; integers become fp32
  kBool,
  kFirst,  // that of the first argument
};

struct OpModel {
  // "aten::mm"; for in-place variants ("aten::add_") without the last '_'; for generated kernels
  // ("triton_poi_fused_add_0") what they begin with
  std::string_view name;
  OpFamily family = OpFamily::kNone;
  OpDirection direction = OpDirection::kForward;
  OpCost (*cost)(const OpCall&) = nullptr;
  bool is_composite = false;   // calls other operators of the table instead of kernels of its own
  uint8_t inputs = 0;          // how many leading arguments are read; later ones are `out=`
  uint8_t arithmetic = 0;      // FLOPs per element (of which tensor depends on the family)
  uint8_t transcendental = 0;  // transcendental functions per element
  ResultType result = ResultType::kPromoted;
  uint8_t variant = 0;  // distinguishes the operators of one function (order of arguments, ...)
};

// The model for an operator, or nullptr. In-place variants are found by the name without '_',
// generated kernels by the begin of their names.
const OpModel* FindOpModel(std::string_view name);

// All rows, in the order of their families.
std::span<const OpModel> AllOpModels();

// The cost of a call of `name`. Never fails: the status says what is missing.
OpCost CostOf(std::string_view name, const CallArgs& args, const OpModelOptions& options);

}  // namespace borescope::internal
