// `bench-kernel`: runs the benchmark that TorchInductor put into the file of a kernel it generated,
// and shows its times beside those of a recording.
#pragma once

#include <chrono>
#include <string>

#include "borescope/base/result.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

struct BenchOptions {
  std::string file;                // the generated file, k.py
  std::string python = "python3";  // a program with torch; found along PATH
  std::string trace;               // file or folder; empty: no comparison
  std::chrono::seconds timeout{300};
};

// Tables: `bench`, a row per config as the harness printed them, the fastest first; with a trace
// `traced`, the kernel of that name in it. The file's code runs, in a process of its own.
// Errors:
//   kIo           the file cannot be read, Python cannot be run, was too slow or failed; what it
//                 said last is told (no torch, no GPU)
//   kMissingData  the file printed no time, or the trace cannot be used
Result<Document> BenchKernel(const BenchOptions& options);

}  // namespace borescope::internal
