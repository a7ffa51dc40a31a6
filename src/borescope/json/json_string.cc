#include "borescope/json/json_string.h"

#include <algorithm>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none.
size_t SequenceLength(std::string_view text) {
  const CodePoint point = DecodeUtf8(text);
  return point.valid ? point.bytes : 0;
}

// Four hex digits at `text`; false if they are not.
bool ReadHex(std::string_view text, uint32_t& code) {
  if (text.size() < 4) {
    return false;
  }
  code = 0;
  for (size_t i = 0; i < 4; ++i) {
    const char c = text[i];
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      code = code * 16 + static_cast<uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      code = code * 16 + static_cast<uint32_t>(lower - 'a' + 10);
    } else {
      return false;
    }
  }
  return true;
}

// Decodes \uXXXX, a surrogate pair as one. `rest` starts after "\u". Returns the characters used
// after it, 0 if it is not an escape.
size_t DecodeUnicode(std::string_view rest, std::string& out, StringRepairs& repairs) {
  uint32_t code = 0;
  if (!ReadHex(rest, code)) {
    return 0;
  }
  if (code < 0xd800 || code > 0xdfff) {
    AppendUtf8(out, code);
    return 4;
  }
  uint32_t low = 0;
  if (code < 0xdc00 && rest.substr(4, 2) == "\\u" && ReadHex(rest.substr(6), low) &&
      low >= 0xdc00 && low <= 0xdfff) {
    AppendUtf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
    return 10;
  }
  repairs.invalid_utf8 = true;
  out += kReplacementUtf8;
  return 4;
}

// Decodes the escape at the start of `text` (a backslash); returns the characters used.
size_t DecodeEscape(std::string_view text, std::string& out, StringRepairs& repairs) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (text.size() > 1) {
    if (const size_t which = kNames.find(text[1]); which != std::string_view::npos) {
      out += kValues[which];
      return 2;
    }
    if (text[1] == 'u') {
      if (const size_t used = DecodeUnicode(text.substr(2), out, repairs); used != 0) {
        return used + 2;
      }
    }
  }
  repairs.bad_escape = true;
  out += '\\';
  return 1;
}

bool NeedsNoEscape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '\\';
}

}  // namespace

std::string_view DecodeString(std::string_view raw, std::string& scratch, StringRepairs& repairs) {
  size_t i = 0;
  while (i < raw.size() && NeedsNoEscape(raw[i])) {
    ++i;
  }
  if (i == raw.size()) {
    return raw;
  }
  scratch.assign(raw.substr(0, i));
  while (i < raw.size()) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    if (raw[i] == '\\') {
      i += DecodeEscape(raw.substr(i), scratch, repairs);
    } else if (const size_t length = SequenceLength(raw.substr(i)); length != 0) {
      repairs.control = repairs.control || byte < 0x20;
      scratch.append(raw.substr(i, length));
      i += length;
    } else {
      repairs.invalid_utf8 = true;
      scratch += kReplacementUtf8;
      ++i;
    }
  }
  return scratch;
}

std::string DecodedText(std::string_view raw) {
  std::string scratch;
  StringRepairs repairs;
  return std::string(DecodeString(raw, scratch, repairs));
}

std::string StringText(std::string_view value) { return DecodedText(StringContent(value)); }

}  // namespace borescope::internal
