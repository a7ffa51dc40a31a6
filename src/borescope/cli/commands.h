// Runs one command line: data to standard output, talk to standard error.
#pragma once

#include <span>
#include <string>

namespace borescope::cli {

// The exit status of the program is part of the contract.
inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;  // done, and `check` or `chakra check` found a fault
inline constexpr int kFailed = 2;       // usage, input or output
inline constexpr int kCannotTell = 3;   // `check --strict`: too few runs to say anything

// `words` is the command line without the program name. Returns the exit status. REQUIRES: SIGPIPE
// is ignored. Exceptions of third parties (memory) pass through.
int RunCommandLine(std::span<const std::string> words);

// One error line on standard error; returns kFailed.
int Fail(const std::string& message);

}  // namespace borescope::cli
