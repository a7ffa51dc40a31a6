// Runs another program and reads what it writes, or starts one and soon leaves it to itself.
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
// standard input; no shell is involved. What it started goes with it: a limit ends its whole group
// of processes. Errors, which name the program:
//   kIo           it cannot be started, it ran too long, or it wrote too much
// REQUIRES: !words.empty(). Thread-safe.
Result<ChildOutput> RunChild(const std::vector<std::string>& words, const ChildLimits& limits);

// Starts it likewise, with no stream of ours, and watches it for so long: its status if it ended
// meanwhile, or nothing. Then it is left to itself: it may outlive us, and leaves no zombie if it
// does not. kIo, naming the program, when it cannot be started. REQUIRES: !words.empty().
// Thread-safe.
Result<std::optional<int>> StartChild(const std::vector<std::string>& words,
                                      std::chrono::milliseconds watched);

}  // namespace borescope::internal
