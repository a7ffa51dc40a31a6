// Reports of Nsight Compute made by hand, for unit tests: just what protocol buffers need.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::internal::ncu_test {

// A message, field by field.
class Message {
 public:
  Message& Varint(uint32_t number, uint64_t value) {
    Key(number, 0);
    Raw(value);
    return *this;
  }
  Message& Bytes(uint32_t number, std::string_view bytes) {
    Key(number, 2);
    Raw(bytes.size());
    text_ += bytes;
    return *this;
  }
  Message& Bytes(uint32_t number, const Message& message) { return Bytes(number, message.text_); }
  Message& Double(uint32_t number, double value) {
    Key(number, 1);
    return Fixed(std::bit_cast<uint64_t>(value), 8);
  }
  Message& Float(uint32_t number, float value) {
    Key(number, 5);
    return Fixed(std::bit_cast<uint32_t>(value), 4);
  }
  // A key of any type, which may be one that does not exist.
  Message& Key(uint32_t number, uint32_t type) {
    Raw(uint64_t{number} << 3 | type);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void Raw(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      text_ += static_cast<char>(value | 0x80);
    }
    text_ += static_cast<char>(value);
  }
  Message& Fixed(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) {
      text_ += static_cast<char>(value >> (8 * i));
    }
    return *this;
  }

  std::string text_;
};

inline std::string Sized(const std::string& entry) {
  std::string sized;
  for (int i = 0; i < 4; ++i) {
    sized += static_cast<char>(entry.size() >> (8 * i));
  }
  return sized + entry;
}

// A block with its header, in which `header` may set other fields.
inline std::string Block(const std::vector<std::string>& results, Message header = {},
                         const std::vector<std::string>& sources = {}) {
  std::string payload;
  for (const std::string& source : sources) {
    payload += Sized(source);
  }
  for (const std::string& result : results) {
    payload += Sized(result);
  }
  header.Varint(1, sources.size()).Varint(2, results.size()).Varint(5, payload.size());
  return Sized(header.text()) + payload;
}

inline std::string File(std::string_view blocks, uint64_t version = 7) {
  return std::string("NVR\0", 4) + Sized(Message().Varint(1, version).text()) + std::string(blocks);
}

inline Message Names(const std::vector<std::string>& names) {
  Message table;
  for (const std::string& name : names) {
    table.Bytes(1, name);
  }
  return Message().Bytes(4, table);
}

inline Message Metric(uint64_t name, const Message& value) {
  return Message().Varint(1, name).Bytes(2, value);
}

// A kernel of one block of 32 threads.
inline Message Kernel(std::string_view mangled, uint64_t pid = 1) {
  const Message grid = Message().Varint(1, 1).Varint(2, 1).Varint(3, 1);
  const Message block = Message().Varint(1, 32).Varint(2, 1).Varint(3, 1);
  return Message().Varint(1, pid).Bytes(5, mangled).Bytes(10, grid).Bytes(11, block);
}

}  // namespace borescope::internal::ncu_test
