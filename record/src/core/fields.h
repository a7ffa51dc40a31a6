// Records of vendors' libraries, read by offset, and structures of our log, written as words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/writer.h"

namespace borescope::inject {

// Fields by offset; 0 beyond the end of a record, as of an older version.
class Fields {
 public:
  Fields(const uint8_t* record, size_t bytes) : record_(record), bytes_(bytes) {}

  size_t bytes() const { return bytes_; }
  bool Has(size_t bytes) const { return bytes_ >= bytes; }
  uint8_t U8(size_t offset) const { return Read<uint8_t>(offset); }
  uint16_t U16(size_t offset) const { return Read<uint16_t>(offset); }
  uint32_t U32(size_t offset) const { return Read<uint32_t>(offset); }
  uint64_t U64(size_t offset) const { return Read<uint64_t>(offset); }
  // A text that the library keeps, whose address is in the record.
  const char* Text(size_t offset) const {
    return reinterpret_cast<const char*>(U64(offset));  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  template <typename Value>
  Value Read(size_t offset) const {
    Value value = {};
    if (offset + sizeof(value) <= bytes_) memcpy(&value, record_ + offset, sizeof(value));
    return value;
  }

  const uint8_t* record_;
  size_t bytes_;
};

// A structure of the log as the words of a record.
template <typename Body>
void WriteBody(recording::RecordType type, uint32_t a, const Body& body) {
  uint64_t words[sizeof(Body) / 8];
  memcpy(words, &body, sizeof(body));
  Write(type, a, words);
}

}  // namespace borescope::inject
