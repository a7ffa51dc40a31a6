// EventSink: what takes the events that the parsers of event text read.
#pragma once

#include "borescope/base/diagnostics.h"
#include "borescope/ingest/kineto/kineto_fields.h"

namespace borescope::internal {

class EventSink {
 public:
  virtual ~EventSink() = default;

  // Adds one event. The tokens need not outlive the call.
  virtual void Add(const RawEvent& event) = 0;
  // Where repairs of the text are counted.
  virtual Diagnostics& diagnostics() = 0;
};

}  // namespace borescope::internal
