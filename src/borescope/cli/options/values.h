// Values of options that are the command line's own. Every error but those of TypeOfPath is about
// usage; all are one line.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/options.h"
#include "borescope/cli/usage_error.h"
#include "borescope/partial.h"

namespace borescope::cli {

// A number from `smallest` to `largest`, the value of `option`.
Result<int64_t> ParseWithin(std::string_view option, std::string_view text, int64_t smallest,
                            int64_t largest);
Result<int> ParseCount(std::string_view option, std::string_view text, int largest,
                       int smallest = 1);
// The value of --top: a number of rows, or all.
Result<int> ParseTop(const std::string& text);
// The value of --threads; 0, one per processor, for an empty text.
Result<int> ParseThreads(const std::string& text);
// The seconds of --time-limit.
Result<double> ParseSeconds(const std::string& text);
// "100ms", "2s", "1.5min", the value of `option`: a time of more than nothing. The unit is ns, us,
// ms, s, min or h.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view option, std::string_view text);
// "8G", "1.5GB", "512MiB", "1000000", the value of `option`: bytes. K, M, G, T are powers of 1000,
// Ki, Mi, Gi, Ti of 1024.
Result<uint64_t> ParseSize(std::string_view option, std::string_view text);

// "3%" or "0.03", the value of `option`: a part of the whole, from 0 to 1.
Result<double> ParseShare(std::string_view option, std::string_view text);

// The value of --shard, "3/64".
Result<Shard> ParseShard(std::string_view text);

// What is at a path that somebody typed, links followed; not_found also where permissions hide it.
// kIo if the system cannot tell: then it is not known that nothing is there.
Result<std::filesystem::file_type> TypeOfPath(const std::string& path);
Result<bool> Exists(const std::string& path);
// What hides what may be at a path: permissions, or a loop of links; 0 where it is not hidden.
std::error_code WhatHides(const std::string& path);

// How an answer is written: what --format, --output and --color mean. Every error is about usage
// (kInvalidArgument) and one line. Looks what standard output is.

// The format that a file is called after: csv of "out.csv"; text of any other name.
std::string_view FormatOf(const std::string& path);

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

// kInvalidArgument where standard output is a file that one of these words names, as in `kernels a
// >> a`: an answer would be written into what it is about. What lies in a folder may be it, as the
// log of a job that looks at its own folder.
Result<void> CheckStandardOutput(std::span<const std::string> words);
// The same of all that a command reads, `verbs` its analyses.
Result<void> CheckStandardOutput(const RawOptions& raw, Verbs verbs);

// Refuses an --output that is one of `inputs`, and keeps them for CheckFiles; without one, standard
// output.
Result<void> ProtectInputs(std::span<const std::string> inputs, OutputOptions& output);

// kInvalidArgument where a file that `answer` is written to is one of these inputs: what those of
// its tables are called becomes clear only with the answer.
Result<void> CheckFiles(const OutputOptions& output, const Answer& answer);

// The same as UnderstandOutput for verbs whose --output names something else: the answer goes to
// standard output.
Result<OutputOptions> UnderstandStandardOutput(RawOptions raw);

}  // namespace borescope::cli
