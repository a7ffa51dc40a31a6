#include "borescope/chakra/py_repr.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "borescope/chakra/json_elements.h"

namespace borescope {
namespace {

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

void AppendUtf8(uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// The code point at `text[place]`, and steps over it. REQUIRES: place < text.size().
uint32_t NextCode(std::string_view text, size_t& place) {
  const auto first = static_cast<unsigned char>(text[place++]);
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  uint32_t code = more == 0 ? first : first & (0x3fU >> more);
  for (int i = 0; i < more && place < text.size(); ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[place++]) & 0x3fU);
  }
  return code;
}

// The four hexadecimal digits at `place`; U+FFFD where there are none.
uint32_t HexCode(std::string_view text, size_t place) {
  uint32_t code = 0;
  const std::string_view digits = text.substr(std::min(place, text.size()), 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  return error == std::errc() && end == digits.data() + 4 ? code : 0xfffd;
}

// The code point of the escape \uXXXX whose digits start at `place`, and steps over it and over the
// second half of a pair.
uint32_t NextEscapedCode(std::string_view text, size_t& place) {
  const uint32_t code = HexCode(text, place);
  place += 4;
  const bool is_high = code >= 0xd800 && code < 0xdc00;
  if (is_high && text.substr(std::min(place, text.size())).starts_with("\\u")) {
    const uint32_t low = HexCode(text, place + 2);
    if (low >= 0xdc00 && low < 0xe000) {
      place += 6;
      return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
  }
  return code >= 0xd800 && code < 0xe000 ? 0xfffd : code;
}

char ShortEscape(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    default:
      return letter;
  }
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
    const size_t begin = place;
    const uint32_t code = NextCode(text, place);
    if (code == static_cast<unsigned char>(quote) || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (IsPrintable(code)) {
      out.append(text, begin, place - begin);
    } else {
      AppendEscaped(code, out);
    }
  }
  out += quote;
}

// Whether repr() of the text is the text in single quotation marks.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7f && c != '\\' && c != '\''; });
}

void AppendString(std::string_view token, std::string& out) {
  const std::string_view inside = token.substr(1, token.size() - std::min<size_t>(token.size(), 2));
  if (IsPlain(inside)) {
    out += '\'';
    out += inside;
    out += '\'';
  } else {
    AppendQuoted(UnescapeJson(token), out);
  }
}

void AppendNumber(std::string_view token, std::string& out) {
  if (token.find_first_of(".eE") == std::string_view::npos) {
    out += token == "-0" ? std::string_view("0") : token;
    return;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Beyond the range: infinite, or nothing.
    value = token.find("e-") == std::string_view::npos && token.find("E-") == std::string_view::npos
                ? HUGE_VAL
                : 0.0;
    value = token.starts_with('-') ? -value : value;
  }
  AppendPythonFloat(value, out);
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

void AppendUtf16Escapes(uint32_t code, std::string& out) {
  const auto put = std::back_inserter(out);
  if (code < 0x10000) {
    fmt::format_to(put, "\\u{:04x}", code);
  } else {
    fmt::format_to(put, "\\u{:04x}\\u{:04x}", 0xd800 + ((code - 0x10000) >> 10),
                   0xdc00 + ((code - 0x10000) & 0x3ff));
  }
}

// The letter that follows the backslash in JSON; 0 for characters without one.
char ShortEscapeOf(uint32_t code) {
  switch (code) {
    case '"':
    case '\\':
      return static_cast<char>(code);
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    default:
      return 0;
  }
}

}  // namespace

void AppendAsciiJson(std::string_view text, std::string& out) {
  for (size_t place = 0; place < text.size();) {
    const uint32_t code = NextCode(text, place);
    if (const char letter = ShortEscapeOf(code); letter != 0) {
      out += '\\';
      out += letter;
    } else if (code >= 0x20 && code < 0x7f) {
      out += static_cast<char>(code);
    } else {
      AppendUtf16Escapes(code, out);
    }
  }
}

void AppendPythonFloat(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    return;
  }
  const double size = std::abs(value);
  const bool is_fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[400];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, value,
                    is_fixed ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view written(text, static_cast<size_t>(end - text));
  out += written;
  if (is_fixed && written.find('.') == std::string_view::npos) {
    out += ".0";
  }
}

std::string UnescapeJson(std::string_view token) {
  const std::string_view text = token.substr(1, token.size() - std::min<size_t>(token.size(), 2));
  std::string out;
  out.reserve(text.size());
  for (size_t place = 0; place < text.size();) {
    const char c = text[place++];
    if (c != '\\' || place == text.size()) {
      out += c;
    } else if (text[place] == 'u') {
      place += 1;
      AppendUtf8(NextEscapedCode(text, place), out);
    } else {
      out += ShortEscape(text[place++]);
    }
  }
  return out;
}

void AppendPythonStr(std::string_view json, std::string& out) {
  JsonTokens tokens(json);
  std::string_view token = tokens.Next();
  if (token.starts_with('"')) {
    out += UnescapeJson(token);
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

}  // namespace borescope
