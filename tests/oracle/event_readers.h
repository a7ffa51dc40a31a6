// The ways to read the text of events, each with everything it found as text: by known layouts, by
// the index of structural characters alone, and byte by byte. They are one function.
#pragma once

#include <string>
#include <string_view>

#include "borescope/ingest/events/chunk_parser.h"
#include "borescope/ingest/events/tolerant_parser.h"

namespace borescope::internal::testkit {

struct EventsRead {
  ParseOutcome outcome;
  std::string found;          // rows, facts and repairs
  bool was_repaired = false;  // part of the text went to the TolerantParser
};

// What loading does with a chunk. `parser` keeps the layouts that it learns.
EventsRead ReadByLayouts(FastParser& parser, std::string_view text, ChunkEnd end);
// The same without layouts.
EventsRead ReadByStructure(std::string_view text, ChunkEnd end);
// All of it by the TolerantParser.
EventsRead ReadCarefully(std::string_view text, ChunkEnd end);

// Empty, or the first difference between two ways.
std::string FirstDifference(const EventsRead& a, const EventsRead& b);

}  // namespace borescope::internal::testkit
