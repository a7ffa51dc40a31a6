// Profiles of processes of PyTorch that already run, by its own profiler: `record --attach`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

struct AttachRequest {
  std::vector<int32_t> pids;  // processes, and all that descend from them
  std::string folder;         // of the files; made. Empty: the first of attached, attached-2, …
  std::chrono::milliseconds duration{2000};
  uint32_t iterations = 0;  // steps of optimizers instead of a time; 0: not so
  // Called once all of that was found possible, before the wait; may be empty.
  std::function<void()> waits = {};
};

struct AttachedProcess {
  int32_t pid = 0;
  std::string file;     // what it wrote, or was to write
  std::string trouble;  // why there is no whole file; empty: there is
};

struct AttachOutcome {
  std::string folder;
  std::vector<AttachedProcess> processes;  // that were asked, by number
  std::vector<int32_t> silent;             // given processes of which none came to be asked
};

// Waits for the processes to ask, which they do every five seconds if they were started with
// KINETO_USE_DAEMON=1, and for their files. kInvalidArgument if a process does not exist or the
// folder does, kIo if the socket is taken.
Result<AttachOutcome> AttachTo(const AttachRequest& request);

}  // namespace borescope::internal
