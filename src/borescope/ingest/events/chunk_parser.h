// ChunkParser: one chunk of the text, parsed by the quick parser and from damage on by the tolerant
// one. For one thread, which keeps what it learned of the layouts of events.
#pragma once

#include <string>
#include <utility>

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

// The events of one chunk, read quickly and from damage on carefully. With `force`, an event that
// does not end in the chunk counts as damaged.
template <class QuickParser>
ParseOutcome ParseEvents(QuickParser& quick, TolerantParser& tolerant, const TextChunk& chunk,
                         bool force, EventSink& sink);

class ChunkParser {
 public:
  // Of events whose process has another label than `rank_label` only the number is counted; empty:
  // all are read.
  explicit ChunkParser(std::string rank_label) : rank_label_(std::move(rank_label)) {}

  // With `force`, an event that does not end in the chunk counts as damaged.
  ParsedChunk Parse(TextChunk chunk, bool force);

 private:
  std::string rank_label_;
  FastParser fast_;
  TolerantParser tolerant_;
  TracePart::RowCounts rows_{};  // of the last chunk: the next one is mostly like it
};

}  // namespace borescope::internal
