// What verbs that are no analyses do. Each runs one command and returns the exit status, or an
// error that is still to be said.
#pragma once

#include "borescope/cli/options/arguments.h"
#include "borescope/error.h"

namespace borescope::cli {

Result<int> RunBenchVerb(const Command& command);
// The first word says what to do. kCheckFailed where `chakra check` found something that a
// simulator cannot work with.
Result<int> RunChakraVerb(const Command& command);
// kCheckFailed where a budget is broken or a run slower, kCannotTell under --strict.
Result<int> RunCheckVerb(const Command& command);
Result<int> RunCompletionVerb(const Command& command);
Result<int> RunConvertVerb(const Command& command);
// For Command::task, slurm or k8s.
Result<int> RunLaunchVerb(const Command& command);
Result<int> RunLinkVerb(const Command& command);
Result<int> RunListVerb(const Command& command);
// REQUIRES: Command::analyses are the verbs that it maps.
Result<int> RunMapVerb(const Command& command);
Result<int> RunOpenVerb(const Command& command);
// kCheckFailed where --fail-on says so.
Result<int> RunPostmortemVerb(const Command& command);
// Statements come from the command line, or from standard input.
Result<int> RunQueryVerb(const Command& command);
// Its status is that of the program that it records.
Result<int> RunRecordVerb(const Command& command);
Result<int> RunReduceVerb(const Command& command);
Result<int> RunReportVerb(const Command& command);

}  // namespace borescope::cli
