// Simple text functions, the same in every locale: letters and digits are those of ASCII. Pure
// functions, safe from any thread.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace borescope::internal {

// Code points and their bytes in UTF-8. Pure functions.

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 1;    // its length in the text
  bool valid = false;  // false: `value` is U+FFFD in place of one byte that is not UTF-8
};

inline constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";  // U+FFFD

// The first code point of `text`. REQUIRES: !text.empty().
CodePoint DecodeUtf8(std::string_view text);

// True if every byte is part of well-formed UTF-8 (no overlong forms, no surrogates).
bool IsValidUtf8(std::string_view text);

// `text` with every byte that is not UTF-8 replaced by U+FFFD.
std::string ToValidUtf8(std::string_view text);

// REQUIRES: value <= 0x10FFFF and not a surrogate; else the bytes are not UTF-8.
void AppendUtf8(std::string& out, char32_t value);

// Bytes as text.

// RFC 4648, with padding.
std::string Base64(std::string_view bytes);

// For "did you mean": the name nearest to one that does not exist. Pure.

// The candidate nearest to `word` in letters changed, added, left out or swapped with the next, or
// one that begins with it; empty if none is near. Near means a distance of at most a third of the
// letters of `word`, and one for any word: a word that shares half its letters by chance is not a
// typing error. O(candidates x length^2).
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What JSON calls white space.
constexpr bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

constexpr bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The text without trailing white space.
constexpr std::string_view WithoutSpaceBehind(std::string_view text) {
  while (!text.empty() && IsSpace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// The text without surrounding white space.
constexpr std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
  }
  return WithoutSpaceBehind(text);
}

inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

// The decimal number that `text` consists of, as std::from_chars accepts it: no blanks, no plus.
// Nothing for other text and for numbers that `Number` cannot hold.
template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace borescope::internal
