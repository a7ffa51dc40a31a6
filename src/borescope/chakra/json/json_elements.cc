#include "borescope/chakra/json/json_elements.h"

#include <algorithm>
#include <cstring>

#include "borescope/base/text.h"

namespace borescope::internal {
namespace {

bool EndsWord(char c) {
  return IsSpace(c) || c == ',' || c == ']' || c == '}' || c == '[' || c == '{' || c == ':' ||
         c == '"';
}

bool IsOpening(std::string_view token) { return token == "[" || token == "{"; }
bool IsClosing(std::string_view token) { return token == "]" || token == "}"; }

// The size of the string token at the begin of `text`.
size_t StringSize(std::string_view text) {
  size_t place = 1;
  while (place < text.size() && text[place] != '"') {
    place += text[place] == '\\' ? 2 : 1;
  }
  return std::min(place + 1, text.size());
}

// The size of the white space at the begin of `text`: mostly the indentation of a line.
size_t SpaceSize(std::string_view text) {
  constexpr uint64_t kEightBlanks = 0x2020202020202020;
  size_t place = 0;
  while (place < text.size() && IsSpace(text[place])) {
    ++place;
    uint64_t next = 0;
    while (place + sizeof next <= text.size()) {
      std::memcpy(&next, text.data() + place, sizeof next);
      if (next != kEightBlanks) {
        break;
      }
      place += sizeof next;
    }
  }
  return place;
}

// The size of the word at the begin of `text`.
size_t WordSize(std::string_view text) {
  size_t place = 1;
  while (place < text.size() && !EndsWord(text[place])) {
    ++place;
  }
  return place;
}

std::string_view Between(std::string_view first, std::string_view last) {
  return {first.begin(), last.end()};
}

}  // namespace

std::string_view JsonTokens::Take(size_t size) {
  const std::string_view token = text_.substr(0, size);
  text_.remove_prefix(token.size());
  return token;
}

std::string_view JsonTokens::Next() {
  text_.remove_prefix(SpaceSize(text_));
  if (text_.empty()) {
    return {};
  }
  switch (text_.front()) {
    case '[':
    case ']':
    case '{':
    case '}':
    case ',':
    case ':':
      return Take(1);
    case '"':
      return Take(StringSize(text_));
    default:
      return Take(WordSize(text_));
  }
}

std::vector<std::string_view> ElementsOf(std::string_view array) {
  std::vector<std::string_view> elements;
  JsonTokens tokens(array);
  if (tokens.Next() != "[") {
    return elements;
  }
  int depth = 0;
  std::string_view first;
  for (std::string_view token = tokens.Next(); !token.empty(); token = tokens.Next()) {
    depth += IsOpening(token) ? 1 : IsClosing(token) ? -1 : 0;
    if (depth < 0) {
      break;
    }
    if (token == "," && depth == 0) {
      first = {};
      continue;
    }
    if (first.empty()) {
      first = token;
      elements.push_back(token);
    }
    elements.back() = Between(first, token);
  }
  return elements;
}

std::optional<int64_t> IntOf(std::string_view json) { return ParseNumber<int64_t>(json); }

std::optional<uint64_t> UintOf(std::string_view json) { return ParseNumber<uint64_t>(json); }

}  // namespace borescope::internal
