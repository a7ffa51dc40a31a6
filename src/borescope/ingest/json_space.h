// White space between the tokens of JSON, and the mark some programs write in front of the text.
// Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace borescope {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Position of the first character at or after `at` that is not white space; the size of the text if
// there is none.
constexpr size_t FindNonSpace(std::string_view text, size_t at = 0) {
  while (at < text.size() && IsSpace(text[at])) {
    ++at;
  }
  return at;
}

// Without the white space at its end.
constexpr std::string_view WithoutSpaceBehind(std::string_view text) {
  while (!text.empty() && IsSpace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace borescope
