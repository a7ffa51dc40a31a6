// The arguments of an operator call as a trace keeps them: shapes, types, strides, and the values
// of arguments that are not tensors, each a JSON list with one entry for each argument. Also the
// element types of tensors, and counts that cannot overflow unnoticed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace borescope::internal {

// The element types of tensors.
enum class ScalarType : uint8_t {
  kUnknown,
  kOpaque8,  // only the size of its elements is known
  kOpaque16,
  kOpaque32,
  kOpaque64,
  kOpaque128,
  kBool,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kUInt64,
  kInt64,
  kQUInt4x2,  // two elements in a byte
  kQInt8,
  kQUInt8,
  kQInt32,
  kFloat4,  // e2m1fn_x2: an element of the tensor is a packed pair
  kFloat8E8M0,
  kFloat8E5M2,
  kFloat8E4M3,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex32,
  kComplex64,
  kComplex128,
};

// 0 for kUnknown. A packed pair of kFloat4 has 8.
int BitsPerElement(ScalarType type);

// "fp16", "bf16", "int64", ...; "unknown".
std::string_view ScalarTypeName(ScalarType type);
// "BFloat16": PyTorch's name in recorded collectives; empty for kUnknown and opaque types.
std::string_view RecordedTypeName(ScalarType type);

// The type of a recorded name: "float", "long int", "c10::Half", "BFloat16"; kUnknown for names
// that are not element types ("Scalar", "TensorList", "").
ScalarType ParseScalarType(std::string_view name);

// The type with this number in PyTorch (c10/core/ScalarType.h), as recorded in arguments: 6 is
// fp32.
ScalarType ScalarTypeOfNumber(int64_t number);

bool IsFloatingPoint(ScalarType type);  // not complex
bool IsComplex(ScalarType type);

// The type of an operation on both by PyTorch's rules of promotion; kUnknown if either is unknown.
ScalarType Promote(ScalarType a, ScalarType b);

struct OpTensor {
  std::vector<int64_t> dims;     // none negative; empty: a single element
  std::vector<int64_t> strides;  // in elements; as many as dims, or empty if not recorded
  ScalarType type = ScalarType::kUnknown;

  size_t rank() const { return dims.size(); }
};

enum class ArgKind : uint8_t {
  kAbsent,      // None, or of a type that is neither tensor nor number
  kTensor,      // exactly one of tensors
  kTensorList,  // tensors without recorded types; empty if their shapes were not recorded either
  kValue,       // a number or a list of numbers
};

struct CallArg {
  ArgKind kind = ArgKind::kAbsent;
  std::vector<OpTensor> tensors;
  std::string_view value;  // "1e-05", "[1, 1]", "True"; empty: not recorded
};

// Texts of one call as recorded ("[[2, 3], [], [[4], [5]]]", "[\"float\", \"Scalar\",
// \"TensorList\"]", ...). All but dims may be empty, if not recorded.
struct CallArgTexts {
  std::string_view dims;
  std::string_view types;
  std::string_view strides;
  std::string_view values;
};

class CallArgs {
 public:
  // Keeps views into `texts`. Uses nothing of a damaged text, see is_bad().
  static CallArgs Parse(const CallArgTexts& texts);

  bool is_recorded() const { return is_recorded_; }  // there was a text of shapes
  bool is_bad() const { return is_bad_; }            // ... which is no list of shapes
  size_t size() const { return args_.size(); }
  const CallArg& operator[](size_t index) const { return args_[index]; }

  // nullptr where argument `index` is not one tensor.
  const OpTensor* Tensor(size_t index) const;
  // The value of argument `index`, which need not exist; nullopt if it has another kind or was not
  // recorded.
  std::string_view Value(size_t index) const;
  std::optional<int64_t> Integer(size_t index) const;
  std::optional<bool> Bool(size_t index) const;
  // "[1, 1]"; a number alone is a list of one. nullopt for lists of more than 16 numbers.
  std::optional<std::vector<int64_t>> Integers(size_t index) const;

 private:
  std::vector<CallArg> args_;
  bool is_recorded_ = false;
  bool is_bad_ = false;
};

// The type of tensors in lists, which recordings lack, from the name of a kernel that worked on
// them: the template arguments of PyTorch's kernels on lists (multi_tensor_apply_kernel,
// CatArrayBatchedCopy), or the name of a reduction of NCCL or RCCL. kUnknown if the name does not
// say. Kernels that only move data show only the size of an element: kOpaque8 to kOpaque128.
ScalarType ListTypeOfKernel(std::string_view kernel);

// Arithmetic of FLOPs and bytes that cannot wrap around: shapes come from files and may be
// anything.

// A count that is not negative. Once a result is too large, or a part of it was negative, it stays
// overflown in all further arithmetic.
class Quantity {
 public:
  constexpr Quantity() = default;
  template <std::integral T>
  constexpr Quantity(T value)  // NOLINT(google-explicit-constructor): dimensions are factors
      : value_(std::cmp_less(value, 0) ? kOverflow : static_cast<uint64_t>(value)) {}

  constexpr bool is_overflow() const { return value_ == kOverflow; }
  constexpr uint64_t value() const { return value_; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    uint64_t sum = 0;
    const bool wraps = __builtin_add_overflow(a.value_, b.value_, &sum);
    return wraps || a.is_overflow() || b.is_overflow() ? Quantity(kOverflow) : Quantity(sum);
  }
  friend constexpr Quantity operator*(Quantity a, Quantity b) {
    uint64_t product = 0;
    const bool wraps = __builtin_mul_overflow(a.value_, b.value_, &product);
    return wraps || a.is_overflow() || b.is_overflow() ? Quantity(kOverflow) : Quantity(product);
  }
  // REQUIRES: b <= a, unless a is overflown
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    const bool fails = a.is_overflow() || b.is_overflow() || a.value_ < b.value_;
    return fails ? Quantity(kOverflow) : Quantity(a.value_ - b.value_);
  }
  // Rounded up. REQUIRES: divisor > 0
  constexpr Quantity DividedUp(uint64_t divisor) const {
    return is_overflow() ? *this : Quantity(value_ / divisor + (value_ % divisor != 0 ? 1 : 0));
  }
  Quantity& operator+=(Quantity other) { return *this = *this + other; }
  Quantity& operator*=(Quantity other) { return *this = *this * other; }
  friend constexpr bool operator==(Quantity, Quantity) = default;

 private:
  static constexpr uint64_t kOverflow = std::numeric_limits<uint64_t>::max();

  uint64_t value_ = 0;
};

}  // namespace borescope::internal
