// Which files of a folder are complete, and when that changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace borescope::internal {

// How a file looked: of a recording with a log per process, all logs together.
struct FileLook {
  uint64_t bytes = 0;
  // The time of its last change, by the clock of std::filesystem, whose zero lies in the future.
  int64_t changed_ns = std::numeric_limits<int64_t>::min();

  friend bool operator==(const FileLook&, const FileLook&) = default;
};

struct SettledFiles {
  std::map<std::string, FileLook> files;  // by path
  size_t growing = 0;                     // others, which are still being written

  friend bool operator==(const SettledFiles&, const SettledFiles&) = default;
};

// Looks at names, sizes and times of the files that inputs lead to, and reads none of them. A file
// has settled once it has stayed the same for a while, is not empty, and its name is not one of a
// file that is written and then renamed (.tmp, .part, ...). Not thread-safe.
class FileWatch {
 public:
  using Clock = std::chrono::steady_clock;

  FileWatch(std::vector<std::string> inputs, std::chrono::milliseconds quiet)
      : inputs_(std::move(inputs)), quiet_(quiet) {}

  // What has settled by now. Inputs that lead to no file (any more) have none.
  SettledFiles Look(Clock::time_point now);

 private:
  struct Known {
    FileLook look;
    Clock::time_point since;
  };

  const std::vector<std::string> inputs_;
  const std::chrono::milliseconds quiet_;
  std::map<std::string, Known> known_;
  bool has_looked_ = false;
};

}  // namespace borescope::internal
