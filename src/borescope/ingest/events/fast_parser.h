// FastParser: events of known layouts by the LayoutReader, all others by the StructuralParser,
// which indexes the text only from the first such event on. The result is that of the
// StructuralParser alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/events/event_sink.h"
#include "borescope/ingest/events/structural_parser.h"
#include "borescope/ingest/layouts/layout_reader.h"

namespace borescope::internal {

// Not thread-safe; reuse one per thread.
class FastParser {
 public:
  // As StructuralParser::Parse, but text that is not well-formed is damaged from the first event on
  // that the LayoutReader does not read, even if its damage is further on.
  ParseOutcome Parse(std::string_view text, uint64_t byte, EventSink& sink);

 private:
  std::optional<ParseOutcome> ReadNext(EventSink& sink);
  std::optional<ParseOutcome> ReadOther(EventSink& sink);
  bool Follows(size_t after, size_t& next) const;
  bool SeekStructure();
  std::optional<ParseOutcome> GoOn(std::optional<ParseOutcome> outcome);

  LayoutReader layouts_;
  StructuralParser structural_;
  RawEvent event_;
  std::string_view text_;
  uint64_t byte_ = 0;
  size_t at_ = 0;
  size_t events_end_ = 0;          // after the last event read
  std::optional<size_t> indexed_;  // where the index of the StructuralParser begins
};

}  // namespace borescope::internal
