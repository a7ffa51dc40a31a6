// `link`: adds the times and the device work in a trace of PyTorch's profiler to an execution
// trace, which becomes a linked trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/base/result.h"
#include "borescope/output/writer.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/packs/chakra/link/link.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

struct LinkOptions {
  std::string host;             // execution trace, a file
  std::string device;           // trace of the profiler, a file
  std::string output;           // linked trace, a file; ".gz" compresses
  std::optional<int64_t> rank;  // of the device trace, if it records one
  bool as_chakra = false;       // the rules of Chakra's trace_link, and its bytes
  int threads = DefaultThreads();
  // Bytes of the device trace that were read so far, and in total, as stored. May be empty.
  std::function<void(uint64_t done, uint64_t total)> progress;
};

struct LinkedPair {
  std::unique_ptr<const Trace> trace;  // of the profiler, whose names the plan shows; or null
  chakra::HostTrace host;
  chakra::LinkPlan plan;
  std::vector<Diagnostic> diagnostics;
};

// Reads both traces and links them. Errors name the file: errors of reading; kMissingData if
// nothing is in both; kInvalidArgument for a device trace of another rank.
Result<LinkedPair> LinkTraces(const LinkOptions& options);

// LinkTraces, and writes the linked trace, completely or not at all. The answer is the tables of
// coverage.
Result<Document> RunLink(const LinkOptions& options);

}  // namespace borescope::internal
