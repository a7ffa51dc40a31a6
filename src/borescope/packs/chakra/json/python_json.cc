#include "borescope/packs/chakra/json/python_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {

namespace {

constexpr int kBlanksPerLevel = 4;
constexpr uint32_t kReplacement = 0xFFFD;

// ---- Strings ----

constexpr std::array<bool, 256> kIsPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = ' '; c <= '~'; ++c) {
    plain[c] = c != '\\' && c != '"';
  }
  return plain;
}();

constexpr bool IsPlain(char c) { return kIsPlain[static_cast<unsigned char>(c)]; }

void AppendUnit(std::string& out, uint32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::array<char, 6> text = {'\\',
                                    'u',
                                    kDigits[unit >> 12U & 15U],
                                    kDigits[unit >> 8U & 15U],
                                    kDigits[unit >> 4U & 15U],
                                    kDigits[unit & 15U]};
  out.append(text.data(), text.size());
}

// The letter after the backslash of a short escape, or 0.
char ShortEscape(uint32_t unit) {
  switch (unit) {
    case '"':
    case '\\':
      return static_cast<char>(unit);
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

void AppendCodePoint(std::string& out, uint32_t code) {
  if (const char letter = ShortEscape(code); letter != 0) {
    out += '\\';
    out += letter;
  } else if (code >= ' ' && code <= '~') {
    out += static_cast<char>(code);
  } else if (code < 0x10000) {
    AppendUnit(out, code);
  } else {
    AppendUnit(out, 0xD800U + ((code - 0x10000U) >> 10U));
    AppendUnit(out, 0xDC00U + ((code - 0x10000U) & 0x3FFU));
  }
}

// Removes one character of UTF-8 from the begin; U+FFFD for a byte that cannot begin one.
uint32_t TakeUtf8(std::string_view& text) {
  const CodePoint point = DecodeUtf8(text);
  text.remove_prefix(point.bytes);
  return point.value;
}

// Removes an escape from the begin. REQUIRES: the text begins with a backslash.
uint32_t TakeEscape(std::string_view& text) {
  const char letter = text.size() > 1 ? text[1] : '\\';
  text.remove_prefix(std::min<size_t>(2, text.size()));
  switch (letter) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'u':
      break;
    default:
      return static_cast<unsigned char>(letter) < 0x80 ? static_cast<uint32_t>(letter)
                                                       : kReplacement;
  }
  uint32_t unit = 0;
  const char* const begin = text.data();
  const char* const end = begin + std::min<size_t>(4, text.size());
  const auto [rest, error] = std::from_chars(begin, end, unit, 16);
  const bool is_good = error == std::errc() && rest == begin + 4;
  text.remove_prefix(static_cast<size_t>(rest - begin));
  return is_good ? unit : kReplacement;
}

// ---- Numbers ----

bool AppendIfInteger(std::string& out, std::string_view token) {
  const std::string_view digits = token.substr(token[0] == '-' ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return false;
  }
  out += digits == "0" ? digits : token;  // -0 is the integer 0
  return true;
}

bool AppendNumber(std::string& out, std::string_view token) {
  if (AppendIfInteger(out, token)) {
    return true;
  }
  const char first = token[token[0] == '-' && token.size() > 1 ? 1 : 0];
  if (first < '0' || first > '9') {
    return false;
  }
  const std::optional<double> value = ReadPythonDouble(token);
  if (value.has_value()) {
    AppendPythonDouble(out, *value);
  }
  return value.has_value();
}

bool AppendScalar(std::string& out, std::string_view token) {
  if (IsString(token)) {
    AppendStringToken(out, StringContent(token));
    return true;
  }
  for (const std::string_view word : {"null", "true", "false", "NaN", "Infinity", "-Infinity"}) {
    if (token == word) {
      out += word;
      return true;
    }
  }
  return AppendNumber(out, token);
}

// ---- Values ----

// Writes one value after the other, each container indented by its depth.
class ValueWriter {
 public:
  ValueWriter(std::string& out, std::string_view json, JsonForm form, int level)
      : out_(out), cursor_(json), form_(form), level_(level) {}

  size_t Write() {
    bool is_good = WriteOne();
    while (is_good && !closing_.empty()) {
      is_good = Step();
    }
    return is_good && !cursor_.failed() && cursor_.AtEnd() ? std::string_view::npos
                                                           : cursor_.offset();
  }

 private:
  // Writes a scalar, or what opens a container.
  bool WriteOne() {
    if (cursor_.EnterObject()) {
      return Open('{', '}');
    }
    if (cursor_.EnterArray()) {
      return Open('[', ']');
    }
    const std::string_view token = cursor_.Value();
    return !cursor_.failed() && AppendScalar(out_, token);
  }

  bool Open(char opening, char closing) {
    out_ += opening;
    closing_.push_back(closing);
    is_empty_ = true;
    return closing_.size() <= kDeepestJson;
  }

  // Goes to the next member or element of the innermost container, or leaves it.
  bool Step() {
    std::string_view key;
    const bool is_object = closing_.back() == '}';
    if (!(is_object ? cursor_.NextMember(key) : cursor_.NextElement())) {
      return !cursor_.failed() && Close();
    }
    if (!is_empty_) {
      out_ += ',';
    }
    Break();
    if (is_object) {
      AppendStringToken(out_, key);
      out_ += form_ == JsonForm::kIndented ? ": " : ":";
    }
    is_empty_ = false;
    return WriteOne();
  }

  bool Close() {
    const char closing = closing_.back();
    closing_.pop_back();
    if (!is_empty_) {
      Break();
    }
    out_ += closing;
    is_empty_ = false;
    return true;
  }

  void Break() { AppendBreak(out_, form_, level_ + static_cast<int>(closing_.size())); }

  std::string& out_;
  JsonCursor cursor_;
  const JsonForm form_;
  const int level_;
  std::string closing_;    // of the containers that are open
  bool is_empty_ = false;  // the innermost one has no content yet
};

}  // namespace

void AppendBreak(std::string& out, JsonForm form, int level) {
  if (form == JsonForm::kIndented) {
    out += '\n';
    out.append(static_cast<size_t>(level) * kBlanksPerLevel, ' ');
  }
}

size_t AppendValue(std::string& out, std::string_view json, JsonForm form, int level) {
  return ValueWriter(out, json, form, level).Write();
}

void AppendStringToken(std::string& out, std::string_view content) {
  out += '"';
  while (!content.empty()) {
    size_t plain = 0;
    while (plain < content.size() && IsPlain(content[plain])) {
      ++plain;
    }
    out += content.substr(0, plain);
    content.remove_prefix(plain);
    if (!content.empty()) {
      AppendCodePoint(out, content[0] == '\\' ? TakeEscape(content) : TakeUtf8(content));
    }
  }
  out += '"';
}

void AppendAsciiJson(std::string& out, std::string_view text) {
  while (!text.empty()) {
    AppendCodePoint(out, TakeUtf8(text));
  }
}

std::optional<double> ReadPythonDouble(std::string_view token) {
  double value = 0;
  const auto [rest, error] = std::from_chars(token.begin(), token.end(), value);
  if (error == std::errc::invalid_argument || rest != token.end()) {
    return std::nullopt;
  }
  return error == std::errc::result_out_of_range ? std::strtod(std::string(token).c_str(), nullptr)
                                                 : value;
}

void AppendPythonDouble(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "NaN" : (value > 0 ? "Infinity" : "-Infinity");
    return;
  }
  constexpr double kLeastFixed = 1e-4;
  constexpr double kFirstScientific = 1e16;
  std::array<char, 32> text{};
  const double size = std::abs(value);
  const bool is_fixed = size == 0 || (size >= kLeastFixed && size < kFirstScientific);
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    is_fixed ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view digits(text.data(), static_cast<size_t>(end - text.data()));
  out += digits;
  if (is_fixed && digits.find('.') == std::string_view::npos) {
    out += ".0";
  }
}

namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SUCCESS;

}  // namespace

std::string_view KeyOf(simdjson::ondemand::field& field) {
  const char* const raw = field.key().raw();
  const char* end = raw;
  while (*end != '"') {
    end += *end == '\\' ? 2 : 1;
  }
  return {raw, static_cast<size_t>(end - raw)};
}

bool RawOf(simdjson::ondemand::value& value, std::string_view& json) {
  ondemand::json_type type{};
  if (value.type().get(type) != SUCCESS) {
    return false;
  }
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    return value.get_array().get(array) == SUCCESS && array.raw_json().get(json) == SUCCESS;
  }
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    return value.get_object().get(object) == SUCCESS && object.raw_json().get(json) == SUCCESS;
  }
  json = WithoutSpaceBehind(value.raw_json_token());
  return true;
}

namespace {

// ---- Tokens ----

bool EndsWord(char c) {
  return IsSpace(c) || c == ',' || c == ']' || c == '}' || c == '[' || c == '{' || c == ':' ||
         c == '"';
}

// The size of the white space at the begin of `text`, which is mostly the indentation of a line.
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
  AppendPythonFloat(ReadPythonDouble(token).value_or(0), out);
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
  AppendPythonDouble(out, value);
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
