// The arguments of an operator call as a trace keeps them: shapes, types, strides and the values of
// what is no tensor, each one JSON list of one entry per argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/opmodel/values/scalar_type.h"

namespace borescope::internal {

struct OpTensor {
  std::vector<int64_t> dims;     // none negative; empty: a single element
  std::vector<int64_t> strides;  // in elements; as many as dims, or empty where not recorded
  ScalarType type = ScalarType::kUnknown;

  size_t rank() const { return dims.size(); }
};

enum class ArgKind : uint8_t {
  kAbsent,      // None, or of a type that is neither tensor nor number
  kTensor,      // exactly one of tensors
  kTensorList,  // tensors, whose types are not recorded; empty where their shapes are not either
  kValue,       // a number or a list of numbers
};

struct CallArg {
  ArgKind kind = ArgKind::kAbsent;
  std::vector<OpTensor> tensors;
  std::string_view value;  // "1e-05", "[1, 1]", "True"; empty: not recorded
};

// Texts of one call as recorded ("[[2, 3], [], [[4], [5]]]", "[\"float\", \"Scalar\",
// \"TensorList\"]", ...). Every one but dims may be empty: not recorded.
struct CallArgTexts {
  std::string_view dims;
  std::string_view types;
  std::string_view strides;
  std::string_view values;
};

class CallArgs {
 public:
  // Views into `texts` are kept. Nothing of a damaged text is used: is_bad().
  static CallArgs Parse(const CallArgTexts& texts);

  bool is_recorded() const { return is_recorded_; }  // there was a text of shapes
  bool is_bad() const { return is_bad_; }            // ... which is no list of shapes
  size_t size() const { return args_.size(); }
  const CallArg& operator[](size_t index) const { return args_[index]; }

  // nullptr where argument `index` is not one tensor.
  const OpTensor* Tensor(size_t index) const;
  // Of argument `index`, which need not exist; nothing where its value is of another kind or not
  // recorded.
  std::string_view Value(size_t index) const;
  std::optional<int64_t> Integer(size_t index) const;
  std::optional<bool> Bool(size_t index) const;
  // "[1, 1]"; a number alone is a list of one. Lists of more than 16 numbers are not read.
  std::optional<std::vector<int64_t>> Integers(size_t index) const;

 private:
  std::vector<CallArg> args_;
  bool is_recorded_ = false;
  bool is_bad_ = false;
};

}  // namespace borescope::internal
