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

// `specs` are the analyses whose answer it is; without any, formats that draw are refused.
Result<OutputOptions> UnderstandOutput(const RawOptions& raw, Specs specs = {});

}  // namespace borescope::cli
