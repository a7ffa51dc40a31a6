// Walks the fields of one protocol-buffer message
// (https://protobuf.dev/programming-guides/encoding) whose schema is known to the caller alone. No
// byte outside of the message is read, whatever it holds; a field of another type than expected is
// passed over like one that is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace borescope::internal {

// The fields in their order:
//   for (MessageFields fields(bytes); fields.Next();)
//     if (fields.number() == 5) name = fields.Bytes();
// The bytes must outlive it and the texts it returns. Not thread-safe.
class MessageFields {
 public:
  explicit MessageFields(std::string_view bytes) : rest_(bytes) {}

  // Moves to the next field; false at the end of the message, or at something that is no field of a
  // type that is in use (varint, 32 and 64 bits, bytes), where the message ends: is_damaged.
  bool Next();
  bool is_damaged() const { return is_damaged_; }

  uint32_t number() const { return number_; }
  // The value of the current field; nothing if it has another type.
  std::optional<uint64_t> Integer() const;
  // A varint as a number that is not negative and fits 63 bits; beyond, the largest.
  std::optional<int64_t> Count() const;
  std::optional<double> Float() const;   // 32 bits
  std::optional<double> Double() const;  // 64 bits
  // A text or a message.
  std::optional<std::string_view> Bytes() const;

 private:
  enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  bool End() {
    is_damaged_ = true;
    return false;
  }
  bool TakeVarint(uint64_t& value);
  bool TakeFixed(size_t count);

  std::string_view rest_;
  std::string_view bytes_;
  uint64_t value_ = 0;  // of a varint or of fixed bits
  uint32_t number_ = 0;
  Type type_ = Type::kVarint;
  bool is_damaged_ = false;
};

}  // namespace borescope::internal
