// Of JSON: values and members are exchanged, repeated, left out, nested, and given other types,
// numbers, keys and encodings.

#include <algorithm>
#include <cctype>
#include <vector>

#include "mutator.h"

namespace fuzz {
namespace {

enum class Type : unsigned char { kNumber, kString, kWord, kList, kObject };

struct Value {
  Type type;
  size_t begin;
  size_t end;
};

constexpr std::string_view kNumbers[] = {"0",
                                         "-1",
                                         "1",
                                         "0.1",
                                         "-0.0",
                                         "1e-7",
                                         "1e308",
                                         "-1e999",
                                         "4294967295",
                                         "4294967296",
                                         "2147483648",
                                         "9007199254740993",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551616",
                                         "9223372036854.775807",
                                         "00012",
                                         "1.",
                                         "NaN"};
constexpr std::string_view kOthers[] = {"null", "true", "\"\"", "[]", "{}", "-3", "\"7\"", "[[1]]"};
constexpr std::string_view kTexts[] = {
    "\\u0000", "\\ud800",  "\\udc00\\ud800", "\xff",         "\xc0\x80", "\xed\xa0\x80", "\\",
    "\n",      "\x1b[31m", "\\\"",           "\xe2\x80\xae", ";",        "::",           "%s%n"};

// The values of what may be JSON, outer ones after those inside them. Whatever does not fit is
// passed over.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Value> Scan() {
    while (at_ < text_.size()) {
      Step();
    }
    return std::move(values_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      open_.push_back(at_++);
    } else if (c == '}' || c == ']') {
      ++at_;
      Close(c == '}' ? Type::kObject : Type::kList);
    } else if (c == '"') {
      SkipString();
    } else if (c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0) {
      SkipWord(std::isalpha(static_cast<unsigned char>(c)) != 0 ? Type::kWord : Type::kNumber);
    } else {
      ++at_;
    }
  }

  void Close(Type type) {
    if (!open_.empty()) {
      values_.push_back({type, open_.back(), at_});
      open_.pop_back();
    }
  }

  void SkipString() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + 1, text_.size());
    values_.push_back({Type::kString, begin, at_});
  }

  void SkipWord(Type type) {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '+')) {
      ++at_;
    }
    values_.push_back({type, begin, at_});
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<size_t> open_;
  std::vector<Value> values_;
};

class JsonMutation {
 public:
  JsonMutation(std::string_view text, Random& random)
      : text_(text), random_(random), values_(Scanner(text).Scan()) {}

  std::string Make() {
    if (values_.empty()) {
      return std::string(random_.Pick(kOthers));
    }
    const Value value = random_.Pick(values_);
    switch (random_.Below(8)) {
      case 0:
        return Replaced(value, random_.Pick(kOthers));
      case 1:
        return Replaced(OneOf(Type::kNumber), random_.Pick(kNumbers));
      case 2:  // another value of the same type, or any
        return Replaced(value,
                        TextOf(random_.Below(2) == 0 ? OneOf(value.type) : random_.Pick(values_)));
      case 3:
        return Repeated(value);
      case 4:
        return LeftOut(value);
      case 5:
        return Nested(value);
      case 6:
        return WithText(OneOf(Type::kString));
      default:
        return Replaced(OneOf(Type::kNumber), Near(OneOf(Type::kNumber)));
    }
  }

 private:
  std::string_view TextOf(const Value& value) const {
    return text_.substr(value.begin, value.end - value.begin);
  }

  // Any value if there is none of that type.
  Value OneOf(Type type) {
    const size_t start = random_.Below(values_.size());
    for (size_t i = 0; i < values_.size(); ++i) {
      const Value& value = values_[(start + i) % values_.size()];
      if (value.type == type) {
        return value;
      }
    }
    return values_[start];
  }

  std::string Replaced(const Value& value, std::string_view by) const {
    std::string text(text_.substr(0, value.begin));
    return text.append(by).append(text_.substr(value.end));
  }

  // Once more or, seldom, many times: a member with its key, where it is one.
  std::string Repeated(const Value& value) {
    const Value member = WithKey(value);
    const size_t times = random_.Below(8) == 0 ? 40 : 1;
    std::string text(text_.substr(0, member.end));
    for (size_t i = 0; i < times; ++i) {
      text.append(",").append(TextOf(member));
    }
    return text.append(text_.substr(member.end));
  }

  std::string LeftOut(const Value& value) const {
    const Value member = WithKey(value);
    const bool has_comma = member.end < text_.size() && text_[member.end] == ',';
    return Replaced({member.type, member.begin, member.end + (has_comma ? 1 : 0)}, "");
  }

  std::string Nested(const Value& value) {
    const size_t depth = random_.Below(8) == 0 ? 300 : 1 + random_.Below(4);
    const bool is_list = random_.Below(2) == 0;
    std::string text;
    for (size_t i = 0; i < depth; ++i) {
      text += is_list ? "[" : "{\"a\":";
    }
    text += TextOf(value);
    return Replaced(value, text.append(depth, is_list ? ']' : '}'));
  }

  std::string WithText(const Value& value) {
    const size_t at = value.begin + random_.Below(value.end - value.begin);
    return Replaced({value.type, at, at}, random_.Pick(kTexts));
  }

  // A number with one more or one less in one digit: times that touch, sizes that do not fit.
  std::string Near(const Value& value) {
    std::string text(TextOf(value));
    char& digit = text[random_.Below(text.size())];
    digit = digit >= '0' && digit <= '8' ? static_cast<char>(digit + 1)
            : digit == '9'               ? '0'
                                         : digit;
    return text;
  }

  // From the begin of the key before the value, if it is a member.
  Value WithKey(Value value) const {
    if (value.begin == 0 || text_[value.begin - 1] != ':') {
      return value;
    }
    const size_t key_end = text_.find_last_of('"', value.begin);
    const size_t key = key_end == std::string_view::npos || key_end == 0
                           ? std::string_view::npos
                           : text_.find_last_of('"', key_end - 1);
    value.begin = key == std::string_view::npos ? value.begin : key;
    return value;
  }

  std::string_view text_;
  Random& random_;
  std::vector<Value> values_;
};

}  // namespace

std::string MutateJson(std::string_view input, Random& random) {
  std::string text(input);
  for (size_t changes = 1 + random.Below(3); changes > 0; --changes) {
    text = JsonMutation(text, random).Make();
  }
  return text;
}

}  // namespace fuzz
