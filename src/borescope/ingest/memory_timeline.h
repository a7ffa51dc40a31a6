// The adapter for raw memory timelines: the files *.raw.json.gz that PyTorch's
// export_memory_timeline writes. docs/formats/memory-timeline.md describes the format as found.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Whether a file that starts with `text`, after its byte-order mark, is a JSON list of lists.
bool MayBeMemoryTimeline(std::string_view text);

// Reads the whole text, entry by entry. An entry that cannot be read is an error that names its
// byte, because all later totals would be wrong; a truncated text gives the entries before its end.
// `name` is the name of the file in messages.
Result<Trace> LoadMemoryTimeline(TextReader& reader, const std::string& name,
                                 const LoadOptions& options);

}  // namespace borescope::internal
