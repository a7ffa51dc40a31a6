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

size_t FromWide(const wchar_t* wide, char* text, size_t capacity) {
  size_t length = 0;
  for (; *wide != L'\0'; ++wide) {
    char bytes[4];
    const size_t count = Encode(static_cast<uint32_t>(*wide), bytes);
    if (length + count > capacity) break;
    memcpy(text + length, bytes, count);
    length += count;
  }
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

}  // namespace borescope::inject
