// Execution traces of PyTorch, linked with the device trace of the same run (docs/use/chakra.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/progress.h"

namespace borescope {

struct LinkOptions {
  std::optional<int64_t> rank = {};  // that the device trace must be of, where it names one
  bool as_chakra = false;            // by the rules of Chakra's trace_link, and its bytes
  int threads = 0;                   // 0: one per processor
  ProgressCallback progress = {};
  StopToken stop = {};  // ends with kCancelled, and without an output, once it is requested
};

// Writes the execution trace `host` with the times and kernels of `device`, the trace of the
// profiler, into the file `output` (".gz" compresses), which appears complete or not at all. The
// answer says how much was linked. kMissingData where nothing is in both; kInvalidArgument for a
// device trace of another rank. Thread-safe.
BORESCOPE_EXPORT Result<Answer> Link(const std::string& host, const std::string& device,
                                     const std::string& output, const LinkOptions& options = {});

}  // namespace borescope
