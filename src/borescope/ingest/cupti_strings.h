// Strings, names and unknown tables in the databases of NVIDIA's profilers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/ingest/database_rows.h"
#include "borescope/trace/trace_builder.h"

namespace borescope {

// The table of strings of a database, addressed by number.
class DatabaseStrings {
 public:
  static Result<DatabaseStrings> Read(const DatabaseInput& input, std::string_view table,
                                      std::string_view id_column, Diagnostics& diagnostics);

  // Invalid when no string has this number.
  StringId Find(int64_t number) const;
  std::string_view Get(StringId id) const { return pool_.Get(id); }
  size_t size() const { return pool_.size(); }

 private:
  void Add(int64_t number, StringId id);

  StringPool pool_;
  std::vector<StringId> dense_;                   // by number, for small ones
  std::unordered_map<int64_t, StringId> sparse_;  // the others
};

// Names of events: strings of the database as they are to be shown, each translated and interned
// into a part once.
class EventNames {
 public:
  using Translate = std::string (*)(std::string_view recorded);

  EventNames(const DatabaseStrings& strings, TracePart& part, Translate translate)
      : strings_(strings), part_(part), translate_(translate) {}

  // Empty, and counted, when the number is missing or no string has it.
  StringId Get(int64_t number);

 private:
  const DatabaseStrings& strings_;
  TracePart& part_;
  Translate translate_;
  std::vector<StringId> names_;  // by id in `strings_`
};

// Counts the rows of every table of events (one with times) that is not among `known`, so that
// nothing recorded is left out in silence.
Result<void> CountOtherTables(const DatabaseInput& input, std::span<const std::string_view> known,
                              TracePart& part);

}  // namespace borescope
