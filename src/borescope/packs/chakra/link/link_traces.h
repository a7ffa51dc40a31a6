// `link`: adds the times and the device work in a trace of PyTorch's profiler to an execution
// trace, which becomes a linked trace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/link.h"
#include "borescope/output/writer.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/packs/chakra/link/link.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What borescope::Link is asked.
struct LinkRequest : LinkOptions {
  std::string host = {};    // execution trace, a file
  std::string device = {};  // trace of the profiler, a file
  std::string output = {};  // linked trace, a file; ".gz" compresses
};

struct LinkedPair {
  std::unique_ptr<const Trace> trace;  // of the profiler, whose names the plan shows; or null
  chakra::HostTrace host;
  chakra::LinkPlan plan;
  std::vector<Diagnostic> diagnostics;
};

// Reads both traces and links them. Errors name the file: errors of reading; kMissingData if
// nothing is in both; kInvalidArgument for a device trace of another rank.
Result<LinkedPair> LinkTraces(const LinkRequest& options);

// LinkTraces, and writes the linked trace, completely or not at all. The answer is the tables of
// coverage.
Result<Document> RunLink(const LinkRequest& options);

}  // namespace borescope::internal
