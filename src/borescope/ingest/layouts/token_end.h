// Where the value of a member ends, found without the index of structural characters. Each function
// accepts less than JSON allows, and what it accepts has exactly the end that the structural parser
// finds; null means that this parser has to look. Pure functions, safe from any thread.
#pragma once

#include <bit>

#include "borescope/ingest/layouts/byte_block.h"

namespace borescope::internal {

// All functions look at text from `at` to `end`, after which kTextPadding bytes are readable.

// After the last byte of the number or word that starts at `at`; `at` itself if neither does.
const char* RareScalarEnd(const char* at, const char* end);

inline const char* ScalarEnd(const char* at, const char* end) {
  const uint32_t others = ByteBlock(at).EndsNumber();
  const char* stop = at + std::countr_zero(others);
  const bool is_number =
      others != 0 && stop != at && (*stop == ',' || *stop == '\n' || *stop == '}');
  return is_number ? stop : RareScalarEnd(at, end);
}

// On the closing quotation mark of a string whose text starts at `at`. `first`: where something but
// plain text was found first.
const char* RareStringEnd(const char* at, const char* first, const char* end);

inline const char* StringEnd(const char* at, const char* end) {
  for (const char* block = at; block < end; block += ByteBlock::kBytes) {
    if (const uint32_t others = ByteBlock(block).EndsPlainText(); others != 0) {
      const char* stop = block + std::countr_zero(others);
      return *stop == '"' && stop < end ? stop : RareStringEnd(at, stop, end);
    }
  }
  return nullptr;
}

// After the closing bracket or brace of the list or object that starts at `at`.
const char* ContainerEnd(const char* at, const char* end);

}  // namespace borescope::internal
