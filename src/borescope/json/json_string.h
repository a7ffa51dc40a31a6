// JSON string text: where it ends, what it says, UTF-8 repaired. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace borescope::internal {

// What had to be repaired in one string.
struct StringRepairs {
  bool invalid_utf8 = false;  // bytes that are not UTF-8, or lone surrogates
  bool control = false;       // raw control characters
  bool bad_escape = false;    // a backslash that does not start an escape; kept as a backslash
};

// The text between the quotes of a JSON string, escapes resolved, always valid UTF-8. `scratch` is
// used only if something has to change; the result views `raw` or `scratch`.
std::string_view DecodeString(std::string_view raw, std::string& scratch, StringRepairs& repairs);

// Position of the first quotation mark at or after `at` that no backslash precedes: the one
// that ends a string whose text begins at `at`. The size of the text if there is none.
constexpr size_t FindClosingQuote(std::string_view text, size_t at) {
  while (at < text.size() && text[at] != '"') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return at < text.size() ? at : text.size();
}

// Of the text of one JSON value: whether it is a string, and what is between its quotation
// marks as written, which is nothing in any other value.
constexpr bool IsString(std::string_view value) {
  return value.size() >= 2 && value.front() == '"';
}
constexpr std::string_view StringContent(std::string_view value) {
  return IsString(value) ? value.substr(1, value.size() - 2) : std::string_view();
}

// What a string says: its content, escapes resolved, lone surrogates as U+FFFD.
std::string StringText(std::string_view value);
// The same of the text between the quotation marks, as a member's key.
std::string DecodedText(std::string_view raw);

// Whether the text of a value has a backslash: if it is a string, one that may be written in more
// than one way, and has to be decoded before it is compared.
constexpr bool HasEscapes(std::string_view value) {
  return value.find('\\') != std::string_view::npos;
}

// Whether the value is a string that says `text`, with whatever escapes it is written: they make it
// longer.
inline bool Says(std::string_view value, std::string_view text) {
  constexpr size_t kQuotes = 2;
  return value.size() > text.size() + kQuotes
             ? HasEscapes(value) && IsString(value) && StringText(value) == text
             : IsString(value) && StringContent(value) == text;
}

}  // namespace borescope::internal
