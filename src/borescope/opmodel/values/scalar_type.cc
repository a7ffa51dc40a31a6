#include "borescope/opmodel/values/scalar_type.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace borescope::internal {
namespace {

constexpr int64_t kNoNumber = -1;

struct TypeRow {
  ScalarType type;
  int bits;
  std::string_view name;     // ours
  std::string_view cpp;      // as traces have it, without "c10::"
  std::string_view aten;     // as c10::toString has it
  int64_t number;            // in c10::ScalarType
  std::string_view old_cpp;  // another spelling; may be empty
};

using enum ScalarType;
// In the order of the enum.
constexpr TypeRow kTypes[] = {
    {kUnknown, 0, "unknown", "", "", kNoNumber, ""},
    {kOpaque8, 8, "8 bits", "", "", kNoNumber, ""},
    {kOpaque16, 16, "16 bits", "", "", kNoNumber, ""},
    {kOpaque32, 32, "32 bits", "", "", kNoNumber, ""},
    {kOpaque64, 64, "64 bits", "", "", kNoNumber, ""},
    {kOpaque128, 128, "128 bits", "", "", kNoNumber, ""},
    {kBool, 8, "bool", "bool", "Bool", 11, ""},
    {kUInt8, 8, "uint8", "unsigned char", "Byte", 0, ""},
    {kInt8, 8, "int8", "signed char", "Char", 1, "char"},
    {kUInt16, 16, "uint16", "unsigned short", "UInt16", 27, "short unsigned int"},
    {kInt16, 16, "int16", "short int", "Short", 2, "short"},
    {kUInt32, 32, "uint32", "unsigned int", "UInt32", 28, "unsigned"},
    {kInt32, 32, "int32", "int", "Int", 3, ""},
    {kUInt64, 64, "uint64", "unsigned long", "UInt64", 29, "long unsigned int"},
    {kInt64, 64, "int64", "long int", "Long", 4, "long"},
    {kQUInt4x2, 4, "quint4x2", "quint4x2", "QUInt4x2", 16, ""},
    {kQInt8, 8, "qint8", "qint8", "QInt8", 12, ""},
    {kQUInt8, 8, "quint8", "quint8", "QUInt8", 13, ""},
    {kQInt32, 32, "qint32", "qint32", "QInt32", 14, ""},
    {kFloat4, 8, "fp4", "Float4_e2m1fn_x2", "Float4_e2m1fn_x2", 45, ""},
    {kFloat8E8M0, 8, "e8m0", "Float8_e8m0fnu", "Float8_e8m0fnu", 44, ""},
    {kFloat8E5M2, 8, "e5m2", "Float8_e5m2", "Float8_e5m2", 23, "Float8_e5m2fnuz"},
    {kFloat8E4M3, 8, "e4m3", "Float8_e4m3fn", "Float8_e4m3fn", 24, "Float8_e4m3fnuz"},
    {kFloat16, 16, "fp16", "Half", "Half", 5, ""},
    {kBFloat16, 16, "bf16", "BFloat16", "BFloat16", 15, ""},
    {kFloat32, 32, "fp32", "float", "Float", 6, ""},
    {kFloat64, 64, "fp64", "double", "Double", 7, ""},
    {kComplex32, 32, "complex32", "complex<c10::Half>", "ComplexHalf", 8, ""},
    {kComplex64, 64, "complex64", "complex<float>", "ComplexFloat", 9, ""},
    {kComplex128, 128, "complex128", "complex<double>", "ComplexDouble", 10, ""},
};

constexpr bool IsInOrder() {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (static_cast<size_t>(kTypes[i].type) != i) return false;
  }
  return std::size(kTypes) == static_cast<size_t>(kComplex128) + 1;
}
static_assert(IsInOrder());

const TypeRow& RowOf(ScalarType type) { return kTypes[static_cast<size_t>(type)]; }

enum class Kind : uint8_t { kBool, kInteger, kFloat, kComplex };

Kind KindOf(ScalarType type) {
  if (type >= kComplex32) return Kind::kComplex;
  if (type >= kFloat4) return Kind::kFloat;
  return type == kBool ? Kind::kBool : Kind::kInteger;
}

bool IsUnsigned(ScalarType type) {
  return type == kUInt8 || type == kUInt16 || type == kUInt32 || type == kUInt64;
}

ScalarType PromoteComplex(ScalarType a, ScalarType b) {
  const auto bits = [](ScalarType type) {
    const bool is_float = KindOf(type) == Kind::kFloat;
    return KindOf(type) == Kind::kComplex ? RowOf(type).bits : is_float ? 2 * RowOf(type).bits : 0;
  };
  const int widest = std::max(bits(a), bits(b));
  return widest > 64 ? kComplex128 : widest > 32 ? kComplex64 : kComplex32;
}

ScalarType PromoteSameKind(ScalarType a, ScalarType b) {
  if (RowOf(a).bits != RowOf(b).bits) return RowOf(a).bits > RowOf(b).bits ? a : b;
  if (KindOf(a) == Kind::kFloat) return RowOf(a).bits == 16 ? kFloat32 : kFloat16;
  if (!IsUnsigned(a) && !IsUnsigned(b)) return std::max(a, b);
  switch (RowOf(a).bits) {
    case 8:
      return kInt16;
    case 16:
      return kInt32;
    default:
      return kInt64;
  }
}

}  // namespace

int BitsPerElement(ScalarType type) { return RowOf(type).bits; }

std::string_view ScalarTypeName(ScalarType type) { return RowOf(type).name; }

std::string_view RecordedTypeName(ScalarType type) { return RowOf(type).aten; }

ScalarType ParseScalarType(std::string_view name) {
  constexpr std::string_view kNamespace = "c10::";
  if (name.starts_with(kNamespace)) {
    name.remove_prefix(kNamespace.size());
  }
  if (name.empty()) return kUnknown;
  const auto* row = std::ranges::find_if(kTypes, [&](const TypeRow& type) {
    return type.cpp == name || type.aten == name || type.old_cpp == name;
  });
  return row == std::end(kTypes) ? kUnknown : row->type;
}

ScalarType ScalarTypeOfNumber(int64_t number) {
  constexpr int64_t kFloat8E5M2Fnuz = 25;
  constexpr int64_t kFloat8E4M3Fnuz = 26;
  if (number == kFloat8E5M2Fnuz) return kFloat8E5M2;
  if (number == kFloat8E4M3Fnuz) return kFloat8E4M3;
  const auto* row = std::ranges::find_if(
      kTypes, [&](const TypeRow& type) { return number >= 0 && type.number == number; });
  return row == std::end(kTypes) ? kUnknown : row->type;
}

bool IsFloatingPoint(ScalarType type) { return KindOf(type) == Kind::kFloat; }
bool IsComplex(ScalarType type) { return KindOf(type) == Kind::kComplex; }

ScalarType Promote(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  const Kind kind = std::max(KindOf(a), KindOf(b));
  if (kind == Kind::kComplex) return PromoteComplex(a, b);
  if (KindOf(a) != KindOf(b)) return KindOf(a) == kind ? a : b;
  return PromoteSameKind(a, b);
}

}  // namespace borescope::internal
