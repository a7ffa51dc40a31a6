#include "borescope/packs/chakra/json/python_json.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "borescope/base/text/utf8.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal::chakra {
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

// The letter behind the backslash of a short escape, or 0.
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

// Takes one character of UTF-8 off the front; U+FFFD for a byte that begins none.
uint32_t TakeUtf8(std::string_view& text) {
  const CodePoint point = DecodeUtf8(text);
  text.remove_prefix(point.bytes);
  return point.value;
}

// Takes an escape off the front. REQUIRES: it begins with a backslash.
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

// Writes one value after the other, each container on the level of its depth.
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

  // To the next member or element of the innermost container, or out of it.
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
  bool is_empty_ = false;  // nothing stands in the innermost yet
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

}  // namespace borescope::internal::chakra
