#include "borescope/opmodel/values/op_args.h"

#include <charconv>
#include <utility>

#include "borescope/json/json_string.h"

namespace borescope::internal {
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

// A text that is no list of strings says nothing: the entries are empty then.
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

}  // namespace borescope::internal
