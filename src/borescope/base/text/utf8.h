// Code points and their bytes in UTF-8. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace borescope::internal {

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

}  // namespace borescope::internal
