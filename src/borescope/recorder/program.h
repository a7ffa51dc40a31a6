// The program that is recorded: started in our process group, with our streams.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/recorder/program_environment.h"

namespace borescope::internal {

// How a program ended.
struct ProgramEnd {
  int status = 0;  // exit status; 0 where a signal ended it
  int signal = 0;  // that ended it; 0: none
};

// Starts `words[0]`, found along PATH, with the other words as its arguments. Signals are handled
// in it as they were in us when we started, but for SIGPIPE and SIGXFSZ, which have their default.
// kIo, naming the program, if it cannot be started. REQUIRES: !words.empty().
Result<pid_t> StartProgram(const std::vector<std::string>& words, const Environment& environment);

// Waits for its end.
ProgramEnd WaitForProgram(pid_t program);

}  // namespace borescope::internal
