#include "borescope/ingest/ncu/message_fields.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace borescope::internal {

bool MessageFields::TakeVarint(uint64_t& value) {
  value = 0;
  constexpr unsigned kMostBytes = 10;
  for (unsigned i = 0; i < kMostBytes && i < rest_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    value |= uint64_t{byte & 0x7fU} << (7 * i);  // bits beyond 64 are dropped
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

// Little endian, whatever the machine is.
bool MessageFields::TakeFixed(size_t count) {
  if (rest_.size() < count) {
    return false;
  }
  value_ = 0;
  for (size_t i = 0; i < count; ++i) {
    value_ |= uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  }
  rest_.remove_prefix(count);
  return true;
}

bool MessageFields::Next() {
  if (rest_.empty() || is_damaged_) {
    return false;
  }
  uint64_t key = 0;
  constexpr uint64_t kLargestNumber = (uint64_t{1} << 29) - 1;
  if (!TakeVarint(key) || (key >> 3) == 0 || (key >> 3) > kLargestNumber) {
    return End();
  }
  number_ = static_cast<uint32_t>(key >> 3);
  type_ = static_cast<Type>(key & 7);
  switch (type_) {
    case Type::kVarint:
      return TakeVarint(value_) || End();
    case Type::kFixed64:
      return TakeFixed(8) || End();
    case Type::kFixed32:
      return TakeFixed(4) || End();
    case Type::kBytes: {
      uint64_t count = 0;
      if (!TakeVarint(count) || count > rest_.size()) {
        return End();
      }
      bytes_ = rest_.substr(0, count);
      rest_.remove_prefix(count);
      return true;
    }
    default:  // groups, and types that do not exist
      return End();
  }
}

std::optional<uint64_t> MessageFields::Integer() const {
  return type_ == Type::kVarint ? std::optional(value_) : std::nullopt;
}

std::optional<int64_t> MessageFields::Count() const {
  constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();
  return type_ == Type::kVarint ? std::optional(static_cast<int64_t>(std::min(value_, kLargest)))
                                : std::nullopt;
}

std::optional<double> MessageFields::Float() const {
  return type_ == Type::kFixed32
             ? std::optional<double>(std::bit_cast<float>(static_cast<uint32_t>(value_)))
             : std::nullopt;
}

std::optional<double> MessageFields::Double() const {
  return type_ == Type::kFixed64 ? std::optional(std::bit_cast<double>(value_)) : std::nullopt;
}

std::optional<std::string_view> MessageFields::Bytes() const {
  return type_ == Type::kBytes ? std::optional(bytes_) : std::nullopt;
}

}  // namespace borescope::internal
