// Names of events and unknown tables in the databases of NVIDIA's profilers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/text_table.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Names of events: strings of the database as displayed, each translated once.
class EventNames {
 public:
  using Translate = std::string (*)(std::string_view recorded);

  EventNames(TextTable& strings, TracePart& part, Translate translate)
      : strings_(strings), part_(part), translate_(translate) {}

  // Empty, and counted, if the number is missing or no string has it.
  StringId Get(int64_t number);

 private:
  TextTable& strings_;
  TracePart& part_;
  Translate translate_;
  std::vector<StringId> names_;  // by the recorded one
};

// Counts the rows of every table of events (one with times) that is not among `known`, so that
// nothing recorded is dropped silently.
Result<void> CountOtherTables(const DatabaseInput& input, std::span<const std::string_view> known,
                              TracePart& part);

}  // namespace borescope::internal
