// What may stay of the columns of each kind of database. A column without a rule holds numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "borescope/scrub/text/scrubber.h"
#include "borescope/trace/formats.h"

namespace borescope::internal {

enum class ColumnUse : uint8_t {
  kNumber,    // numbers, also as text
  kText,      // a text
  kTextId,    // the number of a text in `texts`
  kMessage,   // JSON, of which the member "message" stays
  kObjectId,  // bytes: process and thread
  kTag,       // a row stays only if the value is one of a few
};

struct ColumnRule {
  std::string_view table;  // empty: any that has no rule of its own
  std::string_view column;
  ColumnUse use = ColumnUse::kNumber;
  TextUse text = TextUse::kWord;
  std::string_view texts = {};  // of kTextId
};

// The rule of a column; `table` without the suffix of a rocpd database.
ColumnRule RuleOf(TraceFormat format, std::string_view table, std::string_view column);

// The table of texts that others refer to by number; none of them is copied before the others.
struct TextTableRule {
  std::string_view table;
  std::string_view id;
  std::string_view text;
};
// Nothing with an empty name for a table of another kind.
TextTableRule TextTableOf(TraceFormat format, std::string_view table);

// Whether a row with this value of a kTag column stays.
bool IsKeptTag(std::string_view tag);

// Tables that nobody reads, but whose rows are counted.
std::span<const std::string_view> CountedTables();

}  // namespace borescope::internal
