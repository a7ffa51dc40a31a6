#include "borescope/scrub/json/json_values.h"

#include <algorithm>
#include <iterator>

#include "borescope/json/json_cursor.h"
#include "borescope/json/json_space.h"
#include "borescope/json/json_string.h"
#include "borescope/output/json_writer.h"

namespace borescope::internal {
namespace {

bool IsNumber(std::string_view value) {
  constexpr size_t kLongest = 64;
  return !value.empty() && value.size() <= kLongest &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return (c >= '0' && c <= '9') ||
                  std::string_view("+-.eE").find(c) != std::string_view::npos;
         });
}

bool IsWord(std::string_view value) {
  constexpr std::string_view kWords[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
  return std::find(std::begin(kWords), std::end(kWords), value) != std::end(kWords);
}

std::string CleanElement(std::string_view value, TextUse use, Scrubber& scrubber) {
  if (IsString(value)) {
    return JsonString(scrubber.Clean(StringText(value), use));
  }
  return value.starts_with('{') ? "{}" : std::string(NumberOrNull(value));
}

// Nesting without recursion: brackets and commas are copied, what is between them is cleaned.
std::string CleanArray(std::string_view value, TextUse use, Scrubber& scrubber) {
  std::string clean;
  size_t depth = 0;
  for (size_t at = 0; at < value.size();) {
    const char c = value[at];
    if (c == '[' || c == ']' || c == ',') {
      depth += c == '[' ? 1 : 0;
      depth -= c == ']' && depth > 0 ? 1 : 0;
      clean += c;
      ++at;
    } else if (IsSpace(c)) {
      clean += c;
      ++at;
    } else {
      JsonCursor element(value, at);
      const std::string_view text = element.Value();
      if (text.empty()) {
        return "[]";
      }
      clean += CleanElement(text, use, scrubber);
      at = element.offset();
    }
  }
  return depth == 0 ? clean : "[]";
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string quoted;
  AppendJsonString(quoted, text);
  return quoted;
}

std::string_view NumberOrNull(std::string_view value) {
  return IsNumber(value) || IsWord(value) ? value : "null";
}

std::string CleanJson(std::string_view value, TextUse use, Scrubber& scrubber) {
  return value.starts_with('[') ? CleanArray(value, use, scrubber)
                                : CleanElement(value, use, scrubber);
}

std::string_view NumberField(std::string_view value) {
  if (!IsString(value)) {
    return NumberOrNull(value);
  }
  std::string_view text = StringContent(value);
  text.remove_prefix(text.starts_with("0x") ? 2 : 0);
  const bool is_hex =
      text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      });
  return is_hex || IsNumber(text) ? value : "null";
}

}  // namespace borescope::internal
