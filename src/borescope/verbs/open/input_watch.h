// Which files of a folder are complete, and when that changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/error.h"

namespace borescope::internal {

struct InputFile;

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
  std::optional<Error> failure;           // why no file could be found
};

// Whether the text of a JSON file, plain or compressed, is all there: whether what it opens is
// closed at its end. True for files that are no JSON, and for those that cannot be read: readers
// say what is wrong with them. Reads all of the file.
bool IsWholeJson(const std::string& path);

// Looks at names, sizes and times of the files that inputs lead to. A file has settled once it has
// stayed the same for a while, is not empty, its name is not one of a file that is written and then
// renamed (.tmp, .part, ...), and it is whole: JSON that ends in the middle counts as being written
// for a minute after its last change, since its writer may wait for a disk. A recording that still
// runs settles whenever it rests, up to a size at which it waits for its end. Not thread-safe.
class FileWatch {
 public:
  using Clock = std::chrono::steady_clock;

  FileWatch(std::vector<std::string> inputs, std::chrono::milliseconds quiet)
      : inputs_(std::move(inputs)), quiet_(quiet) {}

  // What has settled by now. Inputs that lead to no file (any more) have none, and a failure. Where
  // the system cannot tell which files there are (kIo), it is what the look before saw.
  SettledFiles Look(Clock::time_point now);

 private:
  struct Known {
    FileLook look;
    Clock::time_point since;
    bool is_whole = false;
    std::optional<bool> is_json_whole = {};  // of this content; nothing: it was not read yet
  };
  bool IsWhole(const InputFile& file, Known& known) const;

  const std::vector<std::string> inputs_;
  const std::chrono::milliseconds quiet_;
  std::map<std::string, Known> known_;
  SettledFiles last_;  // of the last look that could list the inputs
  bool has_looked_ = false;
};

}  // namespace borescope::internal
