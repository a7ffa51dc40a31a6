#include "borescope/packs/chakra/json/py_repr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "borescope/base/text/text.h"
#include "borescope/base/text/utf8.h"
#include "borescope/json/json_string.h"
#include "borescope/packs/chakra/json/python_json.h"

namespace borescope::internal {
namespace {

// ---- Tokens ----

bool EndsWord(char c) {
  return IsSpace(c) || c == ',' || c == ']' || c == '}' || c == '[' || c == '{' || c == ':' ||
         c == '"';
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

// Brackets, commas, colons, strings with their quotation marks, and words (numbers, true, null).
class JsonTokens {
 public:
  explicit JsonTokens(std::string_view text) : text_(text) {}

  // The next token; empty at the end.
  std::string_view Next() {
    text_.remove_prefix(SpaceSize(text_));
    if (text_.empty()) {
      return {};
    }
    constexpr std::string_view kMarks = "[]{},:";
    const char first = text_.front();
    if (first == '"') {
      return Take(FindClosingQuote(text_, 1) + 1);
    }
    return Take(kMarks.find(first) != std::string_view::npos ? 1 : WordSize(text_));
  }

 private:
  std::string_view Take(size_t size) {
    const std::string_view token = text_.substr(0, size);
    text_.remove_prefix(token.size());
    return token;
  }

  std::string_view text_;
};

// ---- Strings ----

struct CodeRange {
  uint32_t first;
  uint32_t last;
};

// Controls, formats, separators and private use beyond ASCII, which repr() escapes (Unicode 14).
// Code points that are not assigned are left as they are.
constexpr CodeRange kNotPrintable[] = {
    {0x80, 0xa0},       {0xad, 0xad},       {0x600, 0x605},      {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},      {0x8e2, 0x8e2},
    {0x1680, 0x1680},   {0x180e, 0x180e},   {0x2000, 0x200f},    {0x2028, 0x202f},
    {0x205f, 0x2064},   {0x2066, 0x206f},   {0x3000, 0x3000},    {0xd800, 0xf8ff},
    {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd},  {0x110cd, 0x110cd},
    {0x13430, 0x13438}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},  {0xe0001, 0xe0001},
    {0xe0020, 0xe007f}, {0xf0000, 0xffffd}, {0x100000, 0x10fffd}};

bool IsPrintable(uint32_t code) {
  if (code < 0x80) {
    return code >= 0x20 && code != 0x7f;
  }
  const auto* range =
      std::lower_bound(std::begin(kNotPrintable), std::end(kNotPrintable), code,
                       [](const CodeRange& row, uint32_t wanted) { return row.last < wanted; });
  return range == std::end(kNotPrintable) || code < range->first;
}

void AppendEscaped(uint32_t code, std::string& out) {
  const auto put = std::back_inserter(out);
  if (code == '\n') {
    out += "\\n";
  } else if (code == '\r') {
    out += "\\r";
  } else if (code == '\t') {
    out += "\\t";
  } else if (code < 0x100) {
    fmt::format_to(put, "\\x{:02x}", code);
  } else if (code < 0x10000) {
    fmt::format_to(put, "\\u{:04x}", code);
  } else {
    fmt::format_to(put, "\\U{:08x}", code);
  }
}

// repr() of a text.
void AppendQuoted(std::string_view text, std::string& out) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  out += quote;
  for (size_t place = 0; place < text.size();) {
    const CodePoint point = DecodeUtf8(text.substr(place));
    if (point.value == static_cast<unsigned char>(quote) || point.value == '\\') {
      out += '\\';
      out += static_cast<char>(point.value);
    } else if (IsPrintable(point.value)) {
      AppendUtf8(out, point.value);
    } else {
      AppendEscaped(point.value, out);
    }
    place += point.bytes;
  }
  out += quote;
}

// Whether repr() of the text is the text in single quotation marks.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7f && c != '\\' && c != '\''; });
}

void AppendString(std::string_view token, std::string& out) {
  const std::string_view inside = StringContent(token);
  if (IsPlain(inside)) {
    out += '\'';
    out += inside;
    out += '\'';
  } else {
    AppendQuoted(StringText(token), out);
  }
}

// ---- Numbers and words ----

void AppendNumber(std::string_view token, std::string& out) {
  if (token.find_first_of(".eE") == std::string_view::npos) {
    out += token == "-0" ? std::string_view("0") : token;
    return;
  }
  AppendPythonFloat(chakra::ReadPythonDouble(token).value_or(0), out);
}

void AppendWord(std::string_view token, std::string& out) {
  struct Row {
    std::string_view json;
    std::string_view python;
  };
  constexpr Row kWords[] = {{"true", "True"}, {"false", "False"},  {"null", "None"},
                            {"NaN", "nan"},   {"Infinity", "inf"}, {"-Infinity", "-inf"}};
  for (const Row& row : kWords) {
    if (row.json == token) {
      out += row.python;
      return;
    }
  }
  AppendNumber(token, out);
}

}  // namespace

void AppendPythonFloat(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    return;
  }
  chakra::AppendPythonDouble(out, value);
}

void AppendPythonStr(std::string_view json, std::string& out) {
  JsonTokens tokens(json);
  std::string_view token = tokens.Next();
  if (token.starts_with('"')) {
    out += StringText(token);
    return;
  }
  for (; !token.empty(); token = tokens.Next()) {
    switch (token.front()) {
      case '[':
      case ']':
      case '{':
      case '}':
        out += token;
        break;
      case ',':
        out += ", ";
        break;
      case ':':
        out += ": ";
        break;
      case '"':
        AppendString(token, out);
        break;
      default:
        AppendWord(token, out);
    }
  }
}

}  // namespace borescope::internal
