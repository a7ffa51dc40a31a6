// Runs another program and reads its output, or starts one and detaches from it soon after.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

struct ChildLimits {
  std::chrono::milliseconds time{std::chrono::minutes(1)};
  size_t output_bytes = size_t{1} << 20;  // of either stream
};

struct ChildOutput {
  int status = 0;  // exit status; 128 + N of a program that signal N ended
  std::string out;
  std::string err;
};

// Runs `words[0]`, found along PATH, with the other words as its arguments, our environment, and no
// standard input; no shell is involved. At a limit its whole process group is ended. Errors, which
// name the program:
//   kIo           it cannot be started, it ran too long, it wrote too much, or the system does not
//                 say how it ended: this process ignores SIGCHLD, or waits for all its children
//                 elsewhere
// REQUIRES: !words.empty(). Thread-safe.
Result<ChildOutput> RunChild(const std::vector<std::string>& words, const ChildLimits& limits);

// Starts it in the same way, without any of our streams, and watches it for the given time: returns
// its status if it ended meanwhile, else nothing. Afterwards it is detached: it may outlive us, and
// leaves no zombie if it does not. kIo, naming the program, if it cannot be started, or if it ended
// and the system does not say how. REQUIRES: !words.empty(). Thread-safe.
Result<std::optional<int>> StartChild(const std::vector<std::string>& words,
                                      std::chrono::milliseconds watched);

}  // namespace borescope::internal
