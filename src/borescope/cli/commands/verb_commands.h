// What verbs that are no analyses do. Each runs one command and returns the exit status.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

int RunBenchVerb(const Command& command);
// The first word says what to do. kCheckFailed where `chakra check` found something that a
// simulator cannot work with.
int RunChakraVerb(const Command& command);
// kCheckFailed where a budget is broken or a run slower, kCannotTell under --strict.
int RunCheckVerb(const Command& command);
int RunCompletionVerb(const Command& command);
int RunConvertVerb(const Command& command);
// For Command::task, slurm or k8s.
int RunLaunchVerb(const Command& command);
int RunLinkVerb(const Command& command);
int RunListVerb(const Command& command);
// REQUIRES: Command::analyses are the verbs that it maps.
int RunMapVerb(const Command& command);
int RunOpenVerb(const Command& command);
// kCheckFailed where --fail-on says so.
int RunPostmortemVerb(const Command& command);
// Statements come from the command line, or from standard input.
int RunQueryVerb(const Command& command);
// Its status is that of the program that it records.
int RunRecordVerb(const Command& command);
int RunReduceVerb(const Command& command);
int RunReportVerb(const Command& command);

}  // namespace borescope::cli
