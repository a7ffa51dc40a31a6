// Runs of the library, opened as the command line says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/answer.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/cli/options/options.h"
#include "borescope/cli/usage_error.h"
#include "borescope/error.h"
#include "borescope/question.h"
#include "borescope/run.h"
#include "borescope/scrub.h"

namespace borescope::cli {

// Opens the recordings that `inputs` lead to. Of the options it takes threads, the memory limit and
// whether a progress bar may appear, which `progress` shows. Of loaded traces
// `keep_bytes` are kept; without, each is freed once it was read.
Result<Run> OpenRun(std::span<const std::string> inputs, const RawOptions& raw,
                    ProgressCallback progress, StopToken stop = {}, uint64_t keep_bytes = 0);

// The question of the command: its verbs, and what was typed of their parameters.
Question QuestionOf(const Command& command);
// The question of the task `verb`, "report" or "check", whose parameters are those of the summary.
Question QuestionOf(std::string_view verb, const RawOptions& raw);

// Asks the verbs of the command; what --output names is the destination. Errors are about usage and
// those of the library.
Result<Answer> AskQuestion(const Command& command, const OutputOptions& output);

// An error unless there is an INPUT, or --load in its place.
Result<void> CheckInputs(const RawOptions& raw);

// Where indexed traces are kept, as --cache and its environment say.

// The folder of --cache, else that of the environment variable BORESCOPE_CACHE; empty for
// none, which "off" says in both.
std::string CacheFolder(const RawOptions& raw);

// What --cache-size says; the default of the library without it. Errors are about usage.
Result<uint64_t> ParseCacheSize(const RawOptions& raw);

// What the cache had to do with the files, in lines for standard error: how many it had and got,
// and each reason why it failed.
std::vector<std::string> CacheLines(const std::vector<FileInfo>& files);

// The system's part in keeping --memory-limit.

// What --memory-limit says; 0 without it. From the first call on, the system refuses memory once
// the program has a sixteenth more beyond what it had then: the library ends loading at the limit,
// but looks only between pieces of its work, and not while results are made and written. kIo where
// the system does not say what the program has; other errors are about usage.
Result<uint64_t> KeepMemoryLimit(const RawOptions& raw);

// --scrub: what a command reads instead of its inputs.

// What the options ask for; nothing without --scrub. Errors are about usage.
Result<std::optional<ScrubOptions>> ParseScrub(const RawOptions& raw);

// With --scrub, copies of everything that the command reads, whose paths take the place of the
// inputs in `raw`; they must live as long as these are read.
Result<std::optional<ScrubbedCopies>> ScrubInputs(RawOptions& raw,
                                                  const ProgressCallback& progress);

}  // namespace borescope::cli
