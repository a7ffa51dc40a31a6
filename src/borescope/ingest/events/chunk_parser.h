// ChunkParser: one chunk of the text, parsed by the quick parser and from damage on by the tolerant
// one. For one thread, which keeps what it learned of the layouts of events.
#pragma once

#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/events/fast_parser.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/events/tolerant_parser.h"
#include "borescope/ingest/kineto/kineto_events.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

struct ParsedChunk {
  TextChunk chunk;
  ParseOutcome outcome;
  TracePart part;
  KinetoFacts facts;
  double stored_share = 0;  // of the file, up to the end of the chunk
};

class ChunkParser {
 public:
  // With `force`, an event that does not end in the chunk counts as damaged.
  ParsedChunk Parse(TextChunk chunk, bool force);

 private:
  FastParser fast_;
  TolerantParser tolerant_;
  TracePart::RowCounts rows_{};  // of the last chunk: the next one is mostly like it
};

}  // namespace borescope::internal
