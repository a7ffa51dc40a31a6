// A run in short, for a pull request.
#pragma once

#include "borescope/base/result.h"
#include "borescope/output/digest/digest.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

// GitHub-flavoured Markdown of at most some sixty lines, in which no name of a recording can link,
// mention or end a cell. Errors are those of the sink.
Result<void> WriteDigestMarkdown(const ReportDigest& digest, Sink& sink);

}  // namespace borescope::internal
