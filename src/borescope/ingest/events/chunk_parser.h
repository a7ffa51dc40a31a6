// ChunkParser: one chunk of the text, parsed by the quick parser and from damage on by the tolerant
// one. For one thread, which keeps what it learned of the layouts of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/events/structural_parser.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/events/tolerant_parser.h"
#include "borescope/ingest/kineto/kineto_events.h"
#include "borescope/ingest/layouts/layout_reader.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// FastParser: events of known layouts by the LayoutReader, all others by the StructuralParser,
// which indexes the text only from the first such event on. The result is that of the
// StructuralParser alone.

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
