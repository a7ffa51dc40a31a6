// The Kineto adapter: PyTorch profiler traces in Chrome's JSON, of every writer and era, plain or
// rewritten by other tools. docs/formats/kineto.md describes the format as found.
#pragma once

#include <string>

#include "borescope/base/result.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Reads the whole text. `name` is the name of the file in messages.
Result<Trace> LoadKinetoJson(TextReader& reader, const std::string& name,
                             const LoadOptions& options);

}  // namespace borescope::internal
