#include "borescope/opmodel/values/op_args.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <utility>

#include "borescope/json/json_string.h"

namespace borescope::internal {

namespace {

constexpr int64_t kNoNumber = -1;

struct TypeRow {
  ScalarType type;
  int bits;
  std::string_view name;     // ours
  std::string_view cpp;      // as in traces, without "c10::"
  std::string_view aten;     // as in c10::toString
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

namespace {

// The entry of one argument in a list of shapes or strides: one list of numbers, or several.
struct NumberLists {
  std::vector<std::vector<int64_t>> lists;
  bool is_nested = false;
};

// Reads one of the four texts from left to right. Anything unexpected is a failure, never a guess.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }
  bool Take(char c) {
    SkipBlanks();
    const bool is_there = at_ < text_.size() && text_[at_] == c;
    at_ += is_there ? 1 : 0;
    return is_there;
  }
  bool Sees(char c) {
    SkipBlanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool Number(int64_t& number) {
    SkipBlanks();
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    at_ += static_cast<size_t>(end - begin);
    return error == std::errc();
  }
  // The text between two quotes, escapes as they are.
  bool String(std::string_view& string) {
    if (!Take('"')) return false;
    const size_t begin = at_;
    at_ = FindClosingQuote(text_, begin);
    if (at_ == text_.size()) return false;
    string = text_.substr(begin, at_ - begin);
    ++at_;
    return true;
  }
  // "[item, item]", each read by `item`.
  template <class Item>
  bool List(const Item& item) {
    if (!Take('[')) return false;
    if (Take(']')) return true;
    do {
      if (!item()) return false;
    } while (Take(','));
    return Take(']');
  }
  bool Numbers(std::vector<int64_t>& numbers) {
    return List([&] { return Number(numbers.emplace_back()); });
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

// "[2, 3]" or "[[4, 5], [6]]".
bool ReadEntry(Cursor& cursor, NumberLists& entry) {
  if (!cursor.Take('[')) return false;
  entry.is_nested = cursor.Sees('[');
  if (!entry.is_nested) {
    std::vector<int64_t>& numbers = entry.lists.emplace_back();
    if (cursor.Take(']')) return true;
    do {
      if (!cursor.Number(numbers.emplace_back())) return false;
    } while (cursor.Take(','));
    return cursor.Take(']');
  }
  do {
    if (!cursor.Numbers(entry.lists.emplace_back())) return false;
  } while (cursor.Take(','));
  return cursor.Take(']');
}

bool ReadEntries(std::string_view text, std::vector<NumberLists>& entries) {
  Cursor cursor(text);
  return cursor.List([&] { return ReadEntry(cursor, entries.emplace_back()); }) && cursor.AtEnd();
}

// The entries are empty if the text is not a list of strings.
std::vector<std::string_view> ReadStrings(std::string_view text) {
  Cursor cursor(text);
  std::vector<std::string_view> strings;
  if (!cursor.List([&] { return cursor.String(strings.emplace_back()); })) {
    strings.clear();
  }
  return strings;
}

ArgKind KindOf(std::string_view type, const NumberLists& dims) {
  if (type == "TensorList" || dims.is_nested) return ArgKind::kTensorList;
  if (type == "Scalar" || type == "ScalarList") return ArgKind::kValue;
  const bool has_dims = !dims.lists.front().empty();
  return has_dims || ParseScalarType(type) != ScalarType::kUnknown ? ArgKind::kTensor
                                                                   : ArgKind::kAbsent;
}

// False if a dimension is negative.
bool AddTensors(ScalarType type, NumberLists& dims, NumberLists* strides, CallArg& arg) {
  arg.tensors.reserve(dims.lists.size());
  for (size_t i = 0; i < dims.lists.size(); ++i) {
    OpTensor& tensor = arg.tensors.emplace_back();
    tensor.type = type;
    tensor.dims = std::move(dims.lists[i]);
    if (strides != nullptr && i < strides->lists.size() &&
        strides->lists[i].size() == tensor.dims.size()) {
      tensor.strides = std::move(strides->lists[i]);
    }
    for (const int64_t dim : tensor.dims) {
      if (dim < 0) return false;
    }
  }
  return true;
}

std::string_view EntryOf(const std::vector<std::string_view>& entries, size_t index) {
  return index < entries.size() ? entries[index] : std::string_view();
}

}  // namespace

CallArgs CallArgs::Parse(const CallArgTexts& texts) {
  CallArgs parsed;
  parsed.is_recorded_ = !texts.dims.empty();
  std::vector<NumberLists> dims;
  std::vector<NumberLists> strides;
  if (parsed.is_recorded_ && !ReadEntries(texts.dims, dims)) {
    parsed.is_bad_ = true;
    return parsed;
  }
  if (!ReadEntries(texts.strides, strides)) {
    strides.clear();
  }
  const std::vector<std::string_view> types = ReadStrings(texts.types);
  const std::vector<std::string_view> values = ReadStrings(texts.values);
  parsed.args_.reserve(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    CallArg& arg = parsed.args_.emplace_back();
    const std::string_view type = EntryOf(types, i);
    arg.kind = KindOf(type, dims[i]);
    arg.value = EntryOf(values, i);
    const bool has_shapes = arg.kind == ArgKind::kTensor || dims[i].is_nested;
    if (has_shapes && !AddTensors(ParseScalarType(type), dims[i],
                                  i < strides.size() ? &strides[i] : nullptr, arg)) {
      parsed.is_bad_ = true;
    }
  }
  return parsed;
}

const OpTensor* CallArgs::Tensor(size_t index) const {
  const bool is_tensor = index < args_.size() && args_[index].kind == ArgKind::kTensor;
  return is_tensor ? &args_[index].tensors.front() : nullptr;
}

std::string_view CallArgs::Value(size_t index) const {
  return index < args_.size() ? args_[index].value : std::string_view();
}

std::optional<int64_t> CallArgs::Integer(size_t index) const {
  Cursor cursor(Value(index));
  int64_t number = 0;
  if (!cursor.Number(number) || !cursor.AtEnd()) return std::nullopt;
  return number;
}

std::optional<bool> CallArgs::Bool(size_t index) const {
  const std::string_view value = Value(index);
  if (value == "True" || value == "true" || value == "1") return true;
  if (value == "False" || value == "false" || value == "0") return false;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> CallArgs::Integers(size_t index) const {
  constexpr size_t kMostNumbers = 16;
  if (const auto number = Integer(index)) return std::vector<int64_t>{*number};
  Cursor cursor(Value(index));
  std::vector<int64_t> numbers;
  if (!cursor.Numbers(numbers) || !cursor.AtEnd() || numbers.size() > kMostNumbers) {
    return std::nullopt;
  }
  return numbers;
}

namespace {

using enum ScalarType;

// The text after `mark`; empty if it does not contain `mark`.
std::string_view Behind(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

std::string_view FirstArgument(std::string_view arguments) {
  std::string_view first = arguments.substr(0, arguments.find_first_of(",<>()"));
  while (first.ends_with(' ')) {
    first.remove_suffix(1);
  }
  return first;
}

// "OpaqueType<4u>", "OpaqueType<(unsigned int)4>": elements of so many bytes.
ScalarType OpaqueOf(std::string_view arguments) {
  constexpr std::string_view kCast = "(unsigned int)";
  if (arguments.starts_with(kCast)) {
    arguments.remove_prefix(kCast.size());
  }
  int bytes = 0;
  std::from_chars(arguments.data(), arguments.data() + arguments.size(), bytes);
  constexpr std::pair<int, ScalarType> kSizes[] = {
      {1, kOpaque8}, {2, kOpaque16}, {4, kOpaque32}, {8, kOpaque64}, {16, kOpaque128}};
  const auto* found = std::ranges::find(kSizes, bytes, &std::pair<int, ScalarType>::first);
  return found == std::end(kSizes) ? kUnknown : found->second;
}

// For "CatArrayBatchedCopy_vectorized<at::native::OpaqueType<2u>, unsigned int, 4, 64, 64>".
ScalarType OfConcatenation(std::string_view kernel) {
  const std::string_view name = Behind(kernel, "CatArrayBatchedCopy");
  const std::string_view arguments = Behind(name, "<");
  const size_t end = arguments.find(',');
  const std::string_view opaque = Behind(arguments.substr(0, end), "OpaqueType<");
  return opaque.empty() ? ParseScalarType(FirstArgument(arguments)) : OpaqueOf(opaque);
}

// For "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float, 2, ...>". A
// copy has two types, of the target and of the source.
ScalarType OfListKernel(std::string_view kernel) {
  const std::string_view list = Behind(kernel, "multi_tensor_apply_kernel<");
  const std::string_view arguments = Behind(list, "Functor<");
  const ScalarType type = ParseScalarType(FirstArgument(arguments));
  const size_t copy = list.find("CopyFunctor<");
  if (copy == std::string_view::npos) return type;
  std::string_view second = Behind(arguments, ",");
  second.remove_prefix(std::min(second.find_first_not_of(' '), second.size()));
  return ParseScalarType(FirstArgument(second)) == type ? type : kUnknown;
}

// For "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)".
ScalarType OfReduction(std::string_view kernel) {
  constexpr std::pair<std::string_view, ScalarType> kTokens[] = {
      {"f16", kFloat16},  {"bf16", kBFloat16},     {"f32", kFloat32},       {"f64", kFloat64},
      {"i8", kInt8},      {"u8", kUInt8},          {"i32", kInt32},         {"u32", kUInt32},
      {"i64", kInt64},    {"u64", kUInt64},        {"f8e4m3", kFloat8E4M3}, {"f8e5m2", kFloat8E5M2},
      {"half", kFloat16}, {"bfloat16", kBFloat16}, {"float", kFloat32},     {"double", kFloat64}};
  std::string_view name = kernel.substr(0, kernel.find('('));
  while (!name.empty()) {
    const size_t end = std::min(name.find('_'), name.size());
    const auto* found = std::ranges::find(kTokens, name.substr(0, end),
                                          &std::pair<std::string_view, ScalarType>::first);
    if (found != std::end(kTokens)) return found->second;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return kUnknown;
}

}  // namespace

ScalarType ListTypeOfKernel(std::string_view kernel) {
  if (kernel.find("CatArrayBatchedCopy") != std::string_view::npos) return OfConcatenation(kernel);
  if (kernel.find("multi_tensor_apply_kernel<") != std::string_view::npos) {
    return OfListKernel(kernel);
  }
  const bool is_collective =
      kernel.starts_with("ncclKernel_") || kernel.starts_with("ncclDevKernel_");
  return is_collective ? OfReduction(kernel) : kUnknown;
}

}  // namespace borescope::internal
