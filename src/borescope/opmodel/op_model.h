// The cost models of operators: what is known of an operator by its name, and what a call of it
// costs by its arguments. docs/how-it-works/flops.md has every formula, its source, an example.
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

#include <cstdint>
#include <span>
#include <string_view>

#include "borescope/opmodel/op_cost.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

// Which pairs of query and key a causal attention counts.
enum class CausalMode : uint8_t {
  kExact,  // the pairs that are not masked
  kHalf,   // half of all pairs: as papers and TraceLens count
  kFull,   // all pairs: as PyTorch's FlopCounterMode counts
};

struct OpModelOptions {
  CausalMode causal = CausalMode::kExact;
  uint32_t transcendental_flops = 1;  // of one exp, log, sin, sqrt, ... (PyProf: 20)
  // Of the tensors in lists (aten::cat, aten::_foreach_*), which producers do not record.
  ScalarType list_type = ScalarType::kUnknown;
};

struct OpModel;

// What a model computes with.
struct OpCall {
  const OpModel& model;
  const CallArgs& args;
  const OpModelOptions& options;
  bool is_in_place = false;    // "aten::add_" by the row of "aten::add"
  std::string_view name = {};  // as recorded
};

// The type of what a pointwise operator writes.
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
  uint8_t inputs = 0;          // how many leading arguments are read; what comes behind is `out=`
  uint8_t arithmetic = 0;      // FLOPs per element (each family says of what)
  uint8_t transcendental = 0;  // transcendental functions per element
  ResultType result = ResultType::kPromoted;
  uint8_t variant = 0;  // tells the operators of one function apart (order of arguments, ...)
};

// The model for an operator, or nullptr. In-place variants are found by the name of the other,
// generated kernels by what their names begin with.
const OpModel* FindOpModel(std::string_view name);

// All rows, in the order of their families.
std::span<const OpModel> AllOpModels();

// The cost of a call of `name`. Never fails: the status says what is missing.
OpCost CostOf(std::string_view name, const CallArgs& args, const OpModelOptions& options);

}  // namespace borescope::internal
