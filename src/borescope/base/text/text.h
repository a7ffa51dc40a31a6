// Simple text functions, the same in every locale: letters and digits are those of ASCII. Pure
// functions, safe from any thread.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace borescope::internal {

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
