// EventPipeline: the body of the "traceEvents" array, read and parsed by several threads at once.
//
// Every thread in turn takes the next chunk from the reader (which inflates it) and parses it into
// a part; parts are joined in the order of the text. The chunks are cut at guessed places; that
// each of them turns out to end exactly between two events proves, one after another, that the next
// one was cut rightly. A chunk that does not end so stops the pipeline: the text from there on goes
// back to the reader and the pipeline starts again with a longer first chunk.
#pragma once

#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/kineto/kineto_events.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

struct EventsEnd {
  bool array_closed = false;  // the closing bracket was found and consumed; else the text ended
  // Offset in the inflated text behind the last event; 0 when there was none.
  uint64_t last_event_end_byte = 0;
  KinetoFacts facts;
};

// Parses events until the array or the text ends. The reader stands after the opening bracket. The
// result does not depend on `threads`.
EventsEnd ReadEvents(TextReader& reader, TraceBuilder& builder, int threads);

}  // namespace borescope::internal
