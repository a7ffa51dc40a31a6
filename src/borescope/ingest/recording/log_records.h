// The records of a chunk, one after the other, each checked for its length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "borescope/recording/log_format.h"

namespace borescope::internal {

// A number of two halves.
inline uint32_t LowHalf(uint64_t word) { return static_cast<uint32_t>(word); }
inline uint32_t HighHalf(uint64_t word) { return static_cast<uint32_t>(word >> 32U); }

struct LogRecord {
  recording::RecordHead head;
  std::span<const uint64_t> body;  // the words after the first

  recording::RecordType type() const { return static_cast<recording::RecordType>(head.type); }

  // The text that begins at a word of the body.
  std::string_view Text(size_t word) const {
    const auto rest = body.subspan(std::min(word, body.size()));
    const size_t padding = head.flags & recording::kPaddingMask;
    return {reinterpret_cast<const char*>(rest.data()),  // NOLINT: bytes of words
            rest.size_bytes() - std::min(padding, rest.size_bytes())};
  }

  // A structure that begins at a word. REQUIRES: the body holds all of it.
  template <class T>
  T As(size_t word = 0) const {
    T value;
    std::memcpy(&value, body.data() + word, sizeof(T));
    return value;
  }
};

// How many words the body of a record of this type has at least; kUnknownRecord for other types.
inline constexpr size_t kUnknownRecord = ~size_t{0};
size_t LeastWords(const recording::RecordHead& head);

class LogRecords {
 public:
  explicit LogRecords(std::span<const uint64_t> words) : rest_(words) {}

  // The next record; false after the last one that is complete.
  bool Next(LogRecord& record) {
    if (rest_.empty() || rest_.front() == 0) {
      return false;
    }
    record.head = recording::UnpackHead(rest_.front());
    if (record.head.type == 0 || record.head.words == 0 || record.head.words > rest_.size()) {
      is_torn_ = true;
      return false;
    }
    record.body = rest_.subspan(1, record.head.words - 1U);
    rest_ = rest_.subspan(record.head.words);
    return true;
  }

  // Whether the records ended with one that cannot be.
  bool is_torn() const { return is_torn_; }

 private:
  std::span<const uint64_t> rest_;
  bool is_torn_ = false;
};

}  // namespace borescope::internal
