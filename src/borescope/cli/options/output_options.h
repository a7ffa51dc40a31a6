// How an answer is written: what --format, --output and --color mean. Every error is about usage
// (kInvalidArgument) and one line. Looks what standard output is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/options.h"
#include "borescope/cli/usage_error.h"

namespace borescope::cli {

// As the name of a file that is written.
inline constexpr std::string_view kStandardOutput = "-";

struct OutputOptions {
  const FormatInfo* writer = nullptr;
  std::string path;                      // empty: standard output
  bool colour = false;                   // of text, there
  bool csv_safe = false;                 // no text is a formula for a spreadsheet
  std::vector<std::string> inputs = {};  // files, folders, globs: no file of the answer may be one
};

// Whether `when`, the value of --color, is one; every verb takes the option, also those that write
// no table.
Result<void> CheckColour(const std::string& when);

// Without --format, the ending of --output says it: "kernels.csv". `verbs` are the analyses whose
// answer it is; without any, formats that draw are refused.
// REQUIRES: the value of --color is one, as Parse has checked.
// `draws`: there is something to draw though no verb says so.
Result<OutputOptions> UnderstandOutput(const RawOptions& raw, Verbs verbs = {}, bool draws = false);

// Refuses an --output that is one of `inputs`, and keeps them for CheckFiles.
Result<void> ProtectInputs(std::span<const std::string> inputs, OutputOptions& output);

// kInvalidArgument where a file that `answer` is written to is one of these inputs: what those of
// its tables are called becomes clear only with the answer.
Result<void> CheckFiles(const OutputOptions& output, const Answer& answer);

// The same as UnderstandOutput for verbs whose --output names something else: the answer goes to
// standard output.
Result<OutputOptions> UnderstandStandardOutput(RawOptions raw);

}  // namespace borescope::cli
