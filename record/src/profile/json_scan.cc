#include "profile/json_scan.h"

#include "core/text.h"

namespace borescope::inject {

namespace {

bool IsBlank(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

// A number below 2^16 of four hexadecimal digits; false where they are none.
bool ReadHex(const char* digits, uint32_t* value) {
  *value = 0;
  for (int i = 0; i < 4; ++i) {
    const char digit = digits[i];
    uint32_t part = 16;
    if (IsDigit(digit)) part = static_cast<uint32_t>(digit - '0');
    if (digit >= 'a' && digit <= 'f') part = static_cast<uint32_t>(digit - 'a') + 10;
    if (digit >= 'A' && digit <= 'F') part = static_cast<uint32_t>(digit - 'A') + 10;
    if (part > 15) return false;
    *value = *value * 16 + part;
  }
  return true;
}

// The character of "\u...." and of a pair of those; U+FFFD for half of a pair. `at` is after the u.
wchar_t ReadUnicode(const char** at, const char* end) {
  constexpr uint32_t kUnknown = 0xfffd;
  uint32_t first = 0;
  if (end - *at < 4 || !ReadHex(*at, &first)) return static_cast<wchar_t>(kUnknown);
  *at += 4;
  if (first < 0xd800 || first > 0xdfff) return static_cast<wchar_t>(first);
  uint32_t second = 0;
  const bool has_second = end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' &&
                          ReadHex(*at + 2, &second) && second >= 0xdc00 && second <= 0xdfff;
  if (first > 0xdbff || !has_second) return static_cast<wchar_t>(kUnknown);
  *at += 6;
  return static_cast<wchar_t>(0x10000 + ((first - 0xd800) << 10U) + (second - 0xdc00));
}

char Unescaped(char letter) {
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

}  // namespace

void JsonScan::SkipBlanks() {
  while (at_ < end_ && IsBlank(*at_)) ++at_;
}

bool JsonScan::Take(char wanted) {
  SkipBlanks();
  if (at_ == end_ || *at_ != wanted) return false;
  ++at_;
  return true;
}

bool JsonScan::Enter(char bracket) { return Take(bracket); }

// What is between the quotes, escaped as it is.
bool JsonScan::TakeString(JsonPart* inner) {
  if (!Take('"')) return false;
  const char* begin = at_;
  while (at_ < end_ && *at_ != '"') at_ += *at_ == '\\' && end_ - at_ > 1 ? 2 : 1;
  if (at_ == end_) return false;
  *inner = {begin, static_cast<size_t>(at_ - begin)};
  ++at_;
  return true;
}

// Brackets are counted, so depth costs nothing.
bool JsonScan::TakeValue(JsonPart* value) {
  SkipBlanks();
  const char* begin = at_;
  size_t depth = 0;
  JsonPart ignored;
  while (at_ < end_) {
    const char byte = *at_;
    if (byte == '"') {
      if (!TakeString(&ignored)) return false;
    } else if (byte == '[' || byte == '{') {
      ++depth;
      ++at_;
    } else if (byte == ']' || byte == '}') {
      if (depth == 0) break;
      --depth;
      ++at_;
    } else if (byte == ',' && depth == 0) {
      break;
    } else {
      ++at_;
    }
  }
  const char* end = at_;
  while (end > begin && IsBlank(end[-1])) --end;
  *value = {begin, static_cast<size_t>(end - begin)};
  return depth == 0 && end > begin;
}

bool JsonScan::NextMember(JsonPart* key, JsonPart* value) {
  Take(',');
  return TakeString(key) && Take(':') && TakeValue(value);
}

bool JsonScan::NextElement(JsonPart* value) {
  Take(',');
  return TakeValue(value);
}

size_t JsonText(const JsonPart& value, char* text, size_t capacity) {
  constexpr size_t kMostCharacter = 4;
  size_t length = 0;
  text[0] = '\0';
  if (value.length < 2 || value.begin[0] != '"') return 0;
  const char* at = value.begin + 1;
  const char* end = value.begin + value.length - 1;
  while (at < end && length + kMostCharacter < capacity) {
    if (*at != '\\') {
      text[length++] = *at++;
      continue;
    }
    if (++at == end) break;
    if (*at == 'u') {
      const wchar_t wide[] = {ReadUnicode(&++at, end), 0};
      length += FromWide(wide, text + length, kMostCharacter);
    } else {
      text[length++] = Unescaped(*at++);
    }
  }
  text[length] = '\0';
  // A zero in the text would end it for those who read it.
  for (size_t i = 0; i < length; ++i) {
    if (text[i] == '\0') text[i] = ' ';
  }
  return length;
}

int64_t JsonNumber(const JsonPart& value, int64_t none) {
  constexpr size_t kMostDigits = 19;
  const size_t sign = value.length > 0 && value.begin[0] == '-' ? 1 : 0;
  if (value.length == sign || value.length - sign > kMostDigits) return none;
  uint64_t number = 0;
  for (size_t i = sign; i < value.length; ++i) {
    if (!IsDigit(value.begin[i])) return none;
    number = number * 10 + static_cast<uint64_t>(value.begin[i] - '0');
  }
  if (number > uint64_t{INT64_MAX}) return none;
  return sign == 0 ? static_cast<int64_t>(number) : -static_cast<int64_t>(number);
}

bool JsonNanoseconds(const JsonPart& value, int64_t* ns) {
  constexpr size_t kMostDigits = 15;
  const bool is_negative = value.length > 0 && value.begin[0] == '-';
  size_t at = is_negative ? 1 : 0;
  const size_t begin = at;
  int64_t number = 0;
  while (at < value.length && IsDigit(value.begin[at])) {
    number = number * 10 + (value.begin[at++] - '0');
  }
  if (at == begin || at - begin > kMostDigits) return false;
  int64_t scale = 1000;
  number *= scale;
  bool rounds_up = false;
  if (at < value.length && value.begin[at] == '.') {
    for (++at; at < value.length && IsDigit(value.begin[at]); ++at) {
      const int64_t digit = value.begin[at] - '0';
      if (scale == 1) rounds_up = digit >= 5;
      scale /= 10;
      number += digit * scale;
    }
  }
  if (at != value.length) return false;
  number += rounds_up ? 1 : 0;
  *ns = is_negative ? -number : number;
  return true;
}

}  // namespace borescope::inject
