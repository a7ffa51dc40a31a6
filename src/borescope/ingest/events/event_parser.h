// Shared by both parsers of event text: the outcome of parsing a piece of the "traceEvents" array.
#pragma once

#include <cstddef>
#include <cstdint>

#include "borescope/base/diagnostics.h"
#include "borescope/ingest/kineto/kineto_fields.h"

namespace borescope::internal {

// EventSink: what takes the events that the parsers of event text read.

class EventSink {
 public:
  virtual ~EventSink() = default;

  // Adds one event. The tokens need not outlive the call.
  virtual void Add(const RawEvent& event) = 0;
  // Where repairs of the text are counted.
  virtual Diagnostics& diagnostics() = 0;
};

// Bytes that must be readable after the parsed text.
inline constexpr size_t kTextPadding = 64;

enum class ParseStop : uint8_t {
  kEnd,         // all text was used; it ended between two events
  kArrayEnd,    // the bracket that closes the array is at `position`
  kIncomplete,  // the event that starts at `position` does not end in this text
  kDamaged,     // the text from `position` on is not well-formed (structural parser only)
};

struct ParseOutcome {
  ParseStop stop = ParseStop::kEnd;
  size_t position = 0;    // offset in the given text
  size_t events_end = 0;  // offset after the last event read; 0 if none was
};

}  // namespace borescope::internal
