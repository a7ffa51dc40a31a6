// Runs of the library, opened as the command line says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "borescope/cli/options/arguments.h"
#include "borescope/question.h"
#include "borescope/run.h"

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

}  // namespace borescope::cli
