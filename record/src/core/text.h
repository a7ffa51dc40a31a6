// Texts in buffers of a fixed size: nothing here allocates or fails; what does not fit is cut.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject {

// Collects a text in a buffer of the caller, which stays terminated by a zero byte.
class TextBuilder {
 public:
  TextBuilder(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {
    buffer_[0] = '\0';
  }

  TextBuilder& Add(const char* text);
  TextBuilder& Add(const char* text, size_t length);
  TextBuilder& Add(uint64_t number);
  // Between quotes, escaped for JSON. Bytes that are no UTF-8 become U+FFFD.
  TextBuilder& AddJson(const char* text, size_t length);

  // How many bytes AddJson adds for it.
  static size_t JsonBytes(const char* text, size_t length);

  const char* text() const { return buffer_; }
  size_t length() const { return length_; }
  size_t left() const { return capacity_ - 1 - length_; }
  bool is_cut() const { return is_cut_; }

 private:
  void AddJsonByte(unsigned char byte);

  char* buffer_;
  size_t capacity_;
  size_t length_ = 0;
  bool is_cut_ = false;
};

// The bytes of the UTF-8 sequence that begins here: 1 to 4, or 0 where none does.
size_t SequenceBytes(const char* text, size_t length);

// The most bytes, at most `most`, that do not end within a UTF-8 sequence.
size_t CutLength(const char* text, size_t most);

// UTF-8 of UTF-32, as wchar_t is on Linux; returns the bytes written. No zero byte is added.
// `is_whole`: whether all of the text is there.
size_t FromWide(const wchar_t* wide, char* text, size_t capacity, bool* is_whole = nullptr);

// A text in which "%3b" is the byte 0x3b. Returns the bytes written, at most one less than
// there is room for; a zero byte follows. What is no such number stays as it is.
size_t DecodePercent(const char* text, size_t length, char* decoded, size_t capacity);

// Whether a name is one of a pattern, in which * is any text, ? any byte, and [a-z] and [!a-z] one
// byte of a set. Both end in a zero byte.
bool MatchesPattern(const char* pattern, const char* name);

// The number at the beginning of a text; false where there is none.
bool ParseNumber(const char* text, uint64_t* number);

}  // namespace borescope::inject
