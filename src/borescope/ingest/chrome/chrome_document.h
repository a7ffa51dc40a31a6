// The document around the events of a Chrome trace of another profiler than PyTorch's.
#pragma once

#include <functional>
#include <string>

#include "borescope/base/result.h"
#include "borescope/ingest/chrome/chrome_rows.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Reads all events into `rows`, then lets `understand` add what they mean to rows.part() and to the
// metadata.
Result<Trace> LoadChromeDocument(TextReader& reader, const std::string& name,
                                 const LoadOptions& options, ChromeRows& rows,
                                 const std::function<void(Meta& meta)>& understand);

}  // namespace borescope::internal
