// Writes a copy of a trace with an overlay drawn into it: the recorded text byte for byte, and the
// counters and events of the overlay behind its last event. Valid JSON as far as the source is,
// openable in Perfetto and chrome://tracing.
#pragma once

#include <string>

#include "borescope/base/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/trace/overlay.h"
#include "borescope/trace/trace.h"

namespace borescope {

// `source` yields the inflated text that `trace` was loaded from; it is read once, in pieces. The
// file `path` is compressed if its name ends in .gz, and appears complete or not at all. Errors are
// of kind kIo, or kMissingData where the format of the trace has no place for an overlay.
Result<void> WriteOverlayFile(ByteSource& source, const Trace& trace, const Overlay& overlay,
                              const std::string& path);

}  // namespace borescope
