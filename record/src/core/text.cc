#include "core/text.h"

#include <cstring>

namespace borescope::inject {

namespace {

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

size_t BytesByLead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// Sequences that are too long for their number, surrogates, and numbers beyond Unicode.
bool IsForbidden(unsigned char lead, unsigned char second) {
  return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
         (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
}

size_t Encode(uint32_t code, char* bytes) {
  if (code >= 0xd800 && (code < 0xe000 || code > 0x10ffff)) code = 0xfffd;
  if (code < 0x80) {
    bytes[0] = static_cast<char>(code);
    return 1;
  }
  const size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = count - 1; i > 0; --i) {
    bytes[i] = static_cast<char>(0x80U | (code & 0x3fU));
    code >>= 6U;
  }
  const uint32_t mark = count == 2 ? 0xc0U : count == 3 ? 0xe0U : 0xf0U;
  bytes[0] = static_cast<char>(mark | code);
  return count;
}

}  // namespace

size_t SequenceBytes(const char* text, size_t length) {
  if (length == 0) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t count = BytesByLead(lead);
  if (count == 0 || count > length) return 0;
  for (size_t i = 1; i < count; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  return count > 1 && IsForbidden(lead, static_cast<unsigned char>(text[1])) ? 0 : count;
}

size_t CutLength(const char* text, size_t most) {
  size_t length = most;
  while (length > 0 && most - length < 3 && IsContinuation(text[length])) --length;
  return IsContinuation(text[length]) ? most : length;
}

size_t FromWide(const wchar_t* wide, char* text, size_t capacity, bool* is_whole) {
  size_t length = 0;
  for (; *wide != L'\0'; ++wide) {
    char bytes[4];
    const size_t count = Encode(static_cast<uint32_t>(*wide), bytes);
    if (length + count > capacity) break;
    memcpy(text + length, bytes, count);
    length += count;
  }
  if (is_whole != nullptr) *is_whole = *wide == L'\0';
  return length;
}

bool ParseNumber(const char* text, uint64_t* number) {
  if (*text < '0' || *text > '9') return false;
  uint64_t sum = 0;
  for (; *text >= '0' && *text <= '9'; ++text) sum = sum * 10 + static_cast<uint64_t>(*text - '0');
  *number = sum;
  return true;
}

TextBuilder& TextBuilder::Add(const char* text) { return Add(text, strlen(text)); }

TextBuilder& TextBuilder::Add(const char* text, size_t length) {
  if (length > left()) {
    is_cut_ = true;
    length = left();
  }
  memcpy(buffer_ + length_, text, length);
  length_ += length;
  buffer_[length_] = '\0';
  return *this;
}

TextBuilder& TextBuilder::Add(uint64_t number) {
  char digits[20];
  size_t begin = sizeof(digits);
  do {
    digits[--begin] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return Add(digits + begin, sizeof(digits) - begin);
}

void TextBuilder::AddJsonByte(unsigned char byte) {
  if (byte == '"' || byte == '\\') {
    const char escaped[] = {'\\', static_cast<char>(byte)};
    Add(escaped, 2);
  } else if (byte < 0x20) {
    const char* const digits = "0123456789abcdef";
    const char escaped[] = {'\\', 'u', '0', '0', digits[byte >> 4U], digits[byte & 15U]};
    Add(escaped, 6);
  } else {
    Add("\xef\xbf\xbd", 3);
  }
}

size_t TextBuilder::JsonBytes(const char* text, size_t length) {
  size_t bytes = 2;
  for (size_t i = 0; i < length;) {
    const size_t count = SequenceBytes(text + i, length - i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '"' || byte == '\\') {
      bytes += 2;
    } else if (byte < 0x20) {
      bytes += 6;
    } else {
      bytes += count == 0 ? 3 : count;
    }
    i += count == 0 ? 1 : count;
  }
  return bytes;
}

TextBuilder& TextBuilder::AddJson(const char* text, size_t length) {
  Add("\"", 1);
  for (size_t i = 0; i < length;) {
    const size_t count = SequenceBytes(text + i, length - i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (count == 0 || byte < 0x20 || byte == '"' || byte == '\\') {
      AddJsonByte(byte);
      ++i;
    } else {
      Add(text + i, count);
      i += count;
    }
  }
  return Add("\"", 1);
}

namespace {

// Of a hexadecimal digit; 16 for what is none.
unsigned HexValue(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A') + 10;
  return 16;
}

// Whether a byte is in the set that begins after "["; `*after` is where the set ends, or a null
// pointer where it does not end: then "[" is itself a byte.
bool IsInSet(const char* set, char byte, const char** after) {
  const bool is_negated = *set == '!';
  const char* at = set + (is_negated ? 1 : 0);
  bool is_found = false;
  *after = nullptr;
  for (const char* first = at; *at != '\0'; ++at) {
    if (*at == ']' && at != first) {
      *after = at + 1;
      return is_found != is_negated;
    }
    const bool is_span = at[1] == '-' && at[2] != '\0' && at[2] != ']';
    is_found |= is_span ? byte >= at[0] && byte <= at[2] : byte == at[0];
    at += is_span ? 2 : 0;
  }
  return false;
}

// One byte of a pattern, which is no "*". Returns where the pattern goes on; a null pointer where
// it does not fit.
const char* MatchOne(const char* pattern, char byte) {
  if (byte == '\0' || *pattern == '\0') return nullptr;
  if (*pattern == '?') return pattern + 1;
  if (*pattern == '[') {
    const char* after = nullptr;
    const bool is_in = IsInSet(pattern + 1, byte, &after);
    if (after != nullptr) return is_in ? after : nullptr;
  }
  return *pattern == byte ? pattern + 1 : nullptr;
}

}  // namespace

size_t DecodePercent(const char* text, size_t length, char* decoded, size_t capacity) {
  size_t count = 0;
  for (size_t i = 0; i < length && count + 1 < capacity; ++i) {
    const bool has_digits = text[i] == '%' && i + 2 < length;
    const unsigned high = has_digits ? HexValue(text[i + 1]) : 16;
    const unsigned low = has_digits ? HexValue(text[i + 2]) : 16;
    const bool is_coded = high < 16 && low < 16;
    decoded[count++] = is_coded ? static_cast<char>(high * 16 + low) : text[i];
    i += is_coded ? 2 : 0;
  }
  decoded[count] = '\0';
  return count;
}

// After a "*" that does not lead on, one byte more is its: only the last one is ever tried again.
bool MatchesPattern(const char* pattern, const char* name) {
  const char* star = nullptr;
  const char* star_name = nullptr;
  while (*name != '\0') {
    if (*pattern == '*') {
      star = ++pattern;
      star_name = name;
      continue;
    }
    if (const char* next = MatchOne(pattern, *name)) {
      pattern = next;
      ++name;
    } else if (star != nullptr) {
      pattern = star;
      name = ++star_name;
    } else {
      return false;
    }
  }
  while (*pattern == '*') ++pattern;
  return *pattern == '\0';
}

}  // namespace borescope::inject
