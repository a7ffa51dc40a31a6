// Whether a text is strict JSON (RFC 8259), as needed by readers that repair nothing. The text is
// given in pieces, cut anywhere; UTF-8 is not checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace borescope::internal {

// Used by one thread.
class JsonCheck {
 public:
  // The next piece; false as soon as the text cannot be JSON, or nests deeper than 1000.
  bool Take(std::string_view piece);
  // After the last piece: whether all of it was one value.
  bool Finish();

  // The largest number of nested lists and objects.
  size_t deepest() const { return deepest_; }

 private:
  enum class State : uint8_t {
    kValue,       // one must begin
    kFirstValue,  // or the list ends
    kFirstKey,    // or the object ends
    kKey,
    kColon,
    kAfterValue,  // a comma, or an end
    kString,
    kEscape,
    kHex,
    kLiteral,
    kMinus,  // of numbers, each named after the last character read
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigits,
    kBad,
  };

  size_t SkipUsual(std::string_view piece, size_t at) const;
  State Next(char c);
  State BeginValue(char c);
  State BeginLiteral(std::string_view rest);
  State InNumber(char c);
  State AfterValue(char c);
  State Close(char open);
  State InString(char c);

  State state_ = State::kValue;
  bool is_key_ = false;       // the string being read
  int hex_left_ = 0;          // digits of \u
  std::string_view literal_;  // the rest of it
  std::vector<char> open_;    // '{' and '['
  size_t deepest_ = 0;
};

}  // namespace borescope::internal
