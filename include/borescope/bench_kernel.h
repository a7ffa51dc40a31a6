// The benchmark that TorchInductor wrote into the file of a kernel that it generated.
#pragma once

#include <chrono>
#include <string>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"

namespace borescope {

struct BenchKernelOptions {
  std::string python = "python3";  // a program with torch; found along PATH
  std::string trace = {};          // also the times in this recording; empty: no comparison
  std::chrono::seconds timeout{300};
};

// Runs the generated file, code and all, in a process of its own. Tables: `bench`, a row per
// configuration, the fastest first; with a trace `traced`, the kernel of that name in it. kIo where
// the file cannot be read or Python cannot be run, is too slow or fails; kMissingData where it
// printed no time, or the trace cannot be used.
BORESCOPE_EXPORT Result<Answer> BenchKernel(const std::string& file,
                                            const BenchKernelOptions& options = {});

}  // namespace borescope
