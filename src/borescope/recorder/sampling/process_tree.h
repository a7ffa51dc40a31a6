// The processes that a program consists of: itself, and all that they started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace borescope::internal {

// One thread at a time.
class ProcessTree {
 public:
  explicit ProcessTree(pid_t root);

  // The processes that run now, by number. One whose parent has ended stays a member if it was seen
  // before.
  std::vector<pid_t> Members();

 private:
  std::map<pid_t, uint64_t> members_;  // with the time of their start: numbers are used again
};

}  // namespace borescope::internal
