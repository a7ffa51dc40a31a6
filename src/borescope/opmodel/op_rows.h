// The words the table of models (op_table.cc) is written in.
#pragma once

#include <span>
#include <string_view>

#include "borescope/opmodel/families.h"

namespace borescope::internal::opmodel {

// Parts of AllOpModels().
std::span<const OpModel> MemoryOpModels();   // op_table_memory.cc
std::span<const OpModel> LibraryOpModels();  // op_table_libraries.cc

constexpr OpModel Row(std::string_view name, OpFamily family, OpCost (*cost)(const OpCall&),
                      uint8_t variant = 0) {
  return {.name = name, .family = family, .cost = cost, .variant = variant};
}

constexpr OpModel Composite(OpModel model) {
  model.is_composite = true;
  return model;
}

constexpr OpModel Backward(OpModel model) {
  model.direction = OpDirection::kBackward;
  return model;
}

// With FLOPs per element: arithmetic, and transcendental functions.
constexpr OpModel With(OpModel model, uint8_t arithmetic, uint8_t transcendental = 0) {
  model.arithmetic = arithmetic;
  model.transcendental = transcendental;
  return model;
}

constexpr OpModel Inputs(OpModel model, uint8_t inputs) {
  model.inputs = inputs;
  return model;
}

constexpr OpModel Gives(OpModel model, ResultType result) {
  model.result = result;
  return model;
}

// FLOPs per element of the result, then transcendental functions.
constexpr OpModel Unary(std::string_view name, uint8_t arithmetic, uint8_t transcendental = 0) {
  return With(Inputs(Row(name, OpFamily::kPointwise, Pointwise), 1), arithmetic, transcendental);
}

constexpr OpModel Binary(std::string_view name, uint8_t arithmetic, uint8_t transcendental = 0) {
  return Inputs(Unary(name, arithmetic, transcendental), 2);
}

constexpr OpModel Ternary(std::string_view name, uint8_t arithmetic) {
  return Inputs(Unary(name, arithmetic), 3);
}

// Transcendental functions of integers are fp32.
constexpr OpModel Function(std::string_view name, uint8_t arithmetic = 0,
                           uint8_t transcendental = 1) {
  return Gives(Unary(name, arithmetic, transcendental), ResultType::kFloat);
}

constexpr OpModel Predicate(std::string_view name, uint8_t inputs) {
  return Gives(Inputs(Unary(name, 1), inputs), ResultType::kBool);
}

// A gradient from that of the result and from what forward saved.
constexpr OpModel Derivative(std::string_view name, uint8_t arithmetic,
                             uint8_t transcendental = 0) {
  return Backward(Binary(name, arithmetic, transcendental));
}

// `dims`: where the schema has the dimensions to reduce.
constexpr OpModel Reduce(std::string_view name, uint8_t dims, uint8_t arithmetic,
                         ReductionKind kind = kReducePlain) {
  return With(Inputs(Row(name, OpFamily::kReduction, Reduction, kind), dims), arithmetic);
}

// On lists of tensors; `lists` of them are read.
constexpr OpModel Lists(std::string_view name, uint8_t lists, uint8_t arithmetic,
                        uint8_t transcendental = 0) {
  return With(Inputs(Row(name, OpFamily::kOptimizer, ForEach), lists), arithmetic, transcendental);
}

constexpr OpModel Update(std::string_view name, uint8_t lists, uint8_t arithmetic) {
  OpModel model = With(Inputs(Row(name, OpFamily::kOptimizer, FusedUpdate), lists), arithmetic);
  model.direction = OpDirection::kUpdate;
  return model;
}

}  // namespace borescope::internal::opmodel
