// Writes a copy of a trace with an overlay drawn into it: the recorded text byte for byte but for
// marks and what the overlay leaves out, and its counters, events and arrows behind the last event.
// Valid JSON as far as the source is, openable in Perfetto and chrome://tracing.
#pragma once

#include <memory>
#include <string>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/trace/overlay.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// `source` yields the inflated text that `trace` was loaded from; it is read once, in pieces. The
// file `path` is compressed if its name ends in .gz. It is complete and closed, and appears under
// its name when the caller commits it: whether it is wanted may become clear only later. Errors are
// of kind kIo, or kMissingData where the format of the trace has no place for an overlay.
Result<std::unique_ptr<FileSink>> DraftOverlayFile(ByteSource& source, const Trace& trace,
                                                   const Overlay& overlay, const std::string& path);

}  // namespace borescope::internal
