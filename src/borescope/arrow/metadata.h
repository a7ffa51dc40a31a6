// Metadata of Arrow schemas: pairs of texts in one block of bytes. A plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/table/table.h"

namespace borescope::internal {

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
