#include "borescope/ingest/events/chunk_parser.h"

#include <string_view>
#include <utility>

namespace borescope::internal {
namespace {

// The last character of `text` that is not white space, or 0.
char LastCharacter(std::string_view text) {
  const size_t last = text.find_last_not_of(" \n\t\r");
  return last == std::string_view::npos ? '\0' : text[last];
}

}  // namespace

ParsedChunk ChunkParser::Parse(TextChunk chunk, bool force) {
  KinetoEvents events(rows_);
  ParsedChunk parsed;
  parsed.outcome = fast_.Parse(chunk.text(), chunk.byte, events);
  const ChunkEnd end = chunk.is_last ? ChunkEnd::kEndOfText
                       : force       ? ChunkEnd::kTooLong
                                     : ChunkEnd::kMoreText;
  const ParseStop stop = parsed.outcome.stop;
  if (stop == ParseStop::kDamaged ||
      (stop == ParseStop::kIncomplete && end != ChunkEnd::kMoreText)) {
    const size_t from = parsed.outcome.position;
    const size_t events_end = parsed.outcome.events_end;
    const bool after_event = LastCharacter(chunk.text().substr(0, from)) == '}';
    parsed.outcome =
        tolerant_.Parse(chunk.text().substr(from), chunk.byte + from, after_event, end, events);
    parsed.outcome.position += from;
    parsed.outcome.events_end =
        parsed.outcome.events_end == 0 ? events_end : from + parsed.outcome.events_end;
  }
  parsed.facts = events.facts();
  parsed.part = events.TakePart();
  rows_ = parsed.part.row_counts();
  parsed.chunk = std::move(chunk);
  return parsed;
}

}  // namespace borescope::internal
