#include "borescope/convert/json_value.h"

#include <cstddef>

namespace borescope {
namespace {

constexpr int kDeepest = 64;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Each function moves behind what its name says, or returns false.
class Checker {
 public:
  explicit Checker(std::string_view text) : rest_(text) {}

  bool Value(int depth) {
    SkipBlanks();
    if (rest_.empty() || depth == kDeepest) {
      return false;
    }
    switch (rest_.front()) {
      case '"':
        return String();
      case '[':
        return Items(']', depth);
      case '{':
        return Items('}', depth);
      default:
        return Number() || Word("true") || Word("false") || Word("null");
    }
  }

  bool AtEnd() {
    SkipBlanks();
    return rest_.empty();
  }

 private:
  void SkipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  bool TakeAfterBlanks(char c) {
    SkipBlanks();
    return Take(c);
  }

  bool Word(std::string_view word) {
    if (!rest_.starts_with(word)) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }

  bool Digits() {
    size_t count = 0;
    while (count < rest_.size() && IsDigit(rest_[count])) {
      ++count;
    }
    rest_.remove_prefix(count);
    return count != 0;
  }

  bool Number() {
    const std::string_view before = rest_;
    Take('-');
    if (!Take('0') && !Digits()) {
      rest_ = before;
      return false;
    }
    if (Take('.') && !Digits()) {
      return false;
    }
    if (Take('e') || Take('E')) {
      if (!Take('-')) {
        Take('+');
      }
      return Digits();
    }
    return true;
  }

  bool Escape() {
    constexpr std::string_view kSimple = "\"\\/bfnrt";
    if (rest_.empty()) {
      return false;
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c != 'u') {
      return kSimple.find(c) != std::string_view::npos;
    }
    for (int i = 0; i < 4; ++i) {
      if (rest_.empty() || !IsHexDigit(rest_.front())) {
        return false;
      }
      rest_.remove_prefix(1);
    }
    return true;
  }

  bool String() {
    if (!Take('"')) {
      return false;
    }
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') {
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20 || (c == '\\' && !Escape())) {
        return false;
      }
    }
    return false;
  }

  // The values of an array, or the members of an object, with their brackets.
  bool Items(char close, int depth) {
    rest_.remove_prefix(1);
    if (TakeAfterBlanks(close)) {
      return true;
    }
    do {
      SkipBlanks();
      if ((close == '}' && !(String() && TakeAfterBlanks(':'))) || !Value(depth + 1)) {
        return false;
      }
    } while (TakeAfterBlanks(','));
    return Take(close);
  }

  std::string_view rest_;
};

}  // namespace

bool IsJsonValue(std::string_view text) {
  Checker checker(text);
  return checker.Value(0) && checker.AtEnd();
}

}  // namespace borescope
