// DictionaryTexts: the distinct texts of a column, one behind the other in one block, as Arrow
// wants them. A plain value, but the views of it move with it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "borescope/table/string_values.h"

namespace borescope::internal {

// Whether the distinct texts of `values`, made valid UTF-8, have more than `utf8_bytes` bytes and
// hence need offsets of 64 bits.
bool NeedsLargeOffsets(const StringValues& values, uint64_t utf8_bytes);

class DictionaryTexts {
 public:
  // Copies the distinct texts of `values`. REQUIRES: large_offsets where NeedsLargeOffsets.
  DictionaryTexts(const StringValues& values, bool large_offsets);

  int64_t size() const { return size_; }
  const void* offsets() const;  // size() + 1 of int32_t or int64_t
  const void* bytes() const { return bytes_.data(); }

 private:
  int64_t size_ = 0;
  std::variant<std::vector<int32_t>, std::vector<int64_t>> offsets_;
  std::string bytes_;
};

}  // namespace borescope::internal
