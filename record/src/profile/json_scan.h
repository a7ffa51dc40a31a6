// Steps through JSON in memory, as PyTorch's profiler writes it: no copy, no allocation, never
// beyond the end, whatever is there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject {

// Some bytes of the document.
struct JsonPart {
  const char* begin = nullptr;
  size_t length = 0;

  bool Is(const char* text) const {
    return __builtin_strlen(text) == length && __builtin_memcmp(text, begin, length) == 0;
  }
};

class JsonScan {
 public:
  JsonScan(const char* begin, size_t length) : at_(begin), end_(begin + length) {}
  explicit JsonScan(const JsonPart& part) : JsonScan(part.begin, part.length) {}

  // Whether an object or array begins here; what follows is then in it.
  bool Enter(char bracket);
  // The next member or element, with its value as it is written; false at the end, or where it is
  // broken. The key of a member is without its quotes.
  bool NextMember(JsonPart* key, JsonPart* value);
  bool NextElement(JsonPart* value);

 private:
  void SkipBlanks();
  bool Take(char wanted);
  bool TakeString(JsonPart* inner);
  bool TakeValue(JsonPart* value);

  const char* at_;
  const char* end_;
};

// The text of a string, unescaped and cut to what there is room for, with a zero byte at its end.
// Its length; a value that is no string is empty.
size_t JsonText(const JsonPart& value, char* text, size_t capacity);

// A whole number; `none` where there is no such.
int64_t JsonNumber(const JsonPart& value, int64_t none);

// A number of microseconds, with decimals, in nanoseconds. False where it is none.
bool JsonNanoseconds(const JsonPart& value, int64_t* ns);

}  // namespace borescope::inject
