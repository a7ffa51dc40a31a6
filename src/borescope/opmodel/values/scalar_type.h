// The element types of tensors: their sizes, the names traces give them, and what an operation on
// two of them yields.
#pragma once

#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class ScalarType : uint8_t {
  kUnknown,
  kOpaque8,  // of elements of which the size alone is known
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
// "BFloat16": as PyTorch names it where it records collectives; empty for kUnknown and its like.
std::string_view RecordedTypeName(ScalarType type);

// The type of a recorded name: "float", "long int", "c10::Half", "BFloat16"; kUnknown for what is
// no type of an element ("Scalar", "TensorList", "").
ScalarType ParseScalarType(std::string_view name);

// The type of PyTorch's number for it (c10/core/ScalarType.h), as arguments record it: 6 is fp32.
ScalarType ScalarTypeOfNumber(int64_t number);

bool IsFloatingPoint(ScalarType type);  // not complex
bool IsComplex(ScalarType type);

// What an operation on both yields by PyTorch's rules of promotion; kUnknown if either is.
ScalarType Promote(ScalarType a, ScalarType b);

}  // namespace borescope::internal
