#include "borescope/check/toml/toml_text.h"

#include <cstdint>
#include <optional>

#include "borescope/base/text/utf8.h"

namespace borescope::internal {
namespace {

std::optional<uint32_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint32_t>(c - 'A' + 10);
  return std::nullopt;
}

// Of \u and \U: four or eight digits from `at` on.
bool ReadCode(std::string_view text, size_t digits, size_t& at, std::string& out) {
  uint32_t code = 0;
  for (size_t i = 0; i < digits; ++i, ++at) {
    const std::optional<uint32_t> digit = at < text.size() ? HexDigit(text[at]) : std::nullopt;
    if (!digit.has_value()) {
      return false;
    }
    code = code << 4 | *digit;
  }
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
    return false;
  }
  AppendUtf8(out, static_cast<char32_t>(code));
  return true;
}

// At the end of a line of a long text: leaves out all white space up to what follows.
bool SkipLineEnd(std::string_view text, size_t& at) {
  const size_t next = text.find_first_not_of(" \t\r\n", at);
  const size_t end = next == std::string_view::npos ? text.size() : next;
  if (text.substr(at, end - at).find('\n') == std::string_view::npos) {
    return false;
  }
  at = end;
  return true;
}

// What follows a backslash.
bool ReadEscape(std::string_view text, bool is_long, size_t& at, std::string& out) {
  constexpr std::string_view kLetters = "btnfr\"\\";
  constexpr std::string_view kMeant = "\b\t\n\f\r\"\\";
  if (at >= text.size()) {
    return false;
  }
  if (const size_t found = kLetters.find(text[at]); found != std::string_view::npos) {
    out += kMeant[found];
    ++at;
    return true;
  }
  if (text[at] == 'u' || text[at] == 'U') {
    const size_t digits = text[at] == 'u' ? 4 : 8;
    return ReadCode(text, digits, ++at, out);
  }
  return is_long && SkipLineEnd(text, at);
}

// A text between single marks stays on its line; a control character is nothing to write.
bool MayStand(char c, bool is_long) {
  const bool is_control = (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  return !is_control || (is_long && (c == '\n' || c == '\r'));
}

}  // namespace

Result<std::string> ReadTomlText(std::string_view text, size_t& at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool is_long = text.substr(at, 3) == three;
  const std::string_view end = is_long ? std::string_view(three) : text.substr(at, 1);
  at += end.size();
  if (is_long && text.substr(at, 1) == "\n") {
    ++at;
  } else if (is_long && text.substr(at, 2) == "\r\n") {
    at += 2;
  }
  std::string out;
  while (at < text.size() && text.substr(at, end.size()) != end) {
    if (!MayStand(text[at], is_long)) {
      return UsageError("a text does not end on its line, or holds a control character");
    }
    if (text[at] == '\\' && quote == '"') {
      if (!ReadEscape(text, is_long, ++at, out)) {
        return UsageError("a backslash in a text begins no escape", "'...' takes it as it is");
      }
    } else {
      out += text[at++];
    }
  }
  if (at >= text.size()) {
    return UsageError("a text does not end");
  }
  at += end.size();
  return out;
}

}  // namespace borescope::internal
