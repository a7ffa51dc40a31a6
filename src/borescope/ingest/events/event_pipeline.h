// EventPipeline: the body of the "traceEvents" array, read and parsed by several threads at once.
//
// Every thread in turn takes the next chunk from the reader (which inflates it) and parses it into
// a part; parts are joined in the order of the text. The chunks are cut at guessed places; when
// each of them is found to end exactly between two events, this proves that the next one was cut
// correctly. A chunk that ends otherwise stops the pipeline: the text from there on goes back to
// the reader and the pipeline starts again with a longer first chunk.
#pragma once

#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/kineto/kineto_events.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

struct EventsEnd {
  bool array_closed = false;  // the closing bracket was found and consumed; else the text ended
  // Offset in the inflated text after the last event; 0 if there was none.
  uint64_t last_event_end_byte = 0;
  KinetoFacts facts;
};

// Parses events until the array or the text ends. The reader is positioned after the opening
// bracket. The result does not depend on the number of threads.
EventsEnd ReadEvents(TextReader& reader, TraceBuilder& builder, const LoadOptions& options);

// The same by one thread and for any sink, which gets the events in their order; without facts.
EventsEnd ReadEventsInOrder(TextReader& reader, EventSink& sink);

}  // namespace borescope::internal
