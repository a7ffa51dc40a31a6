// A table as an ArrowSchema, and the texts of its columns as Arrow wants them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "borescope/table/string_values.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// DictionaryTexts: the distinct texts of a column, one behind the other in one block, as Arrow
// wants them. A plain value, but the views of it move with it.

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

// Metadata of Arrow schemas: pairs of texts in one block of bytes. A plain value.

class Metadata {
 public:
  // Texts become valid UTF-8. A pair without a value is left out.
  void Add(std::string_view key, std::string_view value);

  // All pairs, as ArrowSchema::metadata wants them: their number, then the length and the bytes of
  // each key and each value. Numbers are int32 in the byte order of this machine. Empty without
  // pairs.
  std::string Encode() const;

 private:
  int32_t pairs_ = 0;
  std::string encoded_;  // all but the number of pairs
};

// What docs/formats/arrow.md says about the fields and of the schema.
std::string EncodeFieldMetadata(const Column& column);
std::string EncodeTableMetadata(const Table& table);

}  // namespace borescope::internal
