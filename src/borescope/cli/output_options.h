// How an answer is written: what --format, --output and --color mean. Every error is about usage
// (kInvalidArgument) and one line. Looks what standard output is.
#pragma once

#include <string>

#include "borescope/base/result.h"
#include "borescope/cli/options.h"

namespace borescope::cli {

struct OutputOptions {
  const TableWriter* writer = nullptr;
  std::string path;     // empty: standard output
  bool colour = false;  // of text, there
};

// Whether `when`, the value of --color, is one; every verb takes the option, also those that write
// no table.
Result<void> CheckColour(const std::string& when);

// Without --format, the ending of --output says it: "kernels.csv". `specs` are the analyses whose
// answer it is; without any, formats that draw are refused.
// REQUIRES: the value of --color is one, as Parse has checked.
Result<OutputOptions> UnderstandOutput(const RawOptions& raw, Specs specs = {});

// The same for verbs whose --output names something else: the answer goes to standard output.
Result<OutputOptions> UnderstandStandardOutput(RawOptions raw);

}  // namespace borescope::cli
