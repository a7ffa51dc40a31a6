// What a path leads to, with the system's refusals as errors: where a disk fails or memory runs
// out, the answer of the standard library is "there is nothing". Any thread.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

// Descriptor: a file descriptor that is closed with the scope; one below 0, which open() gives for
// an error, is not. One owner, any thread.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  int number() const { return number_; }

 private:
  int number_;
};

// stat(2) of what a path leads to; st_mode is 0 where nothing is there, or permissions hide it:
// opening it says why. kIo if the system cannot tell.
Result<struct stat> StatusOf(const std::string& path);

enum class FileKind : uint8_t { kNothing, kFile, kFolder, kOther };

// The same of the path itself, where that is a symbolic link.
Result<struct stat> StatusOfLink(const std::string& path);

// The one path without links and dots of what a path leads to; the path as it is where nothing is
// there, or permissions hide it. Errors as of StatusOf.
Result<std::string> PathWithoutLinks(const std::string& path);

// What is at a path, links followed. Errors as of StatusOf, and kIo where permissions or a loop of
// links hide what may be there: who left it out would answer about less than was asked.
Result<FileKind> KindOf(const std::string& path);

// Whether two paths lead to one file that is there. Errors as of StatusOf.
Result<bool> IsSameFile(const std::string& a, const std::string& b);

// Bytes of an ordinary file; 0 of anything else. Errors as of StatusOf.
Result<uint64_t> SizeOfFile(const std::string& path);

// Up to `count` bytes at the beginning of an ordinary file; none of anything else, or where it may
// not be read, which opening it says. kIo if reading fails.
Result<std::string> BeginOfFile(const std::string& path, size_t count);

// Whether this user may open the file to read it.
bool MayBeRead(const std::string& path);

// The names in a folder, but for . and .., in the order of their bytes. kIo if there is no such
// folder, or it cannot be read.
Result<std::vector<std::string>> NamesIn(const std::string& folder);

// The same; none where there is no such folder.
Result<std::vector<std::string>> NamesIfAny(const std::string& folder);

// The paths that match a pattern of the shell, sorted by their bytes. kIo if the system cannot
// tell, and where a folder that the pattern leads through cannot be listed: the shell takes it for
// empty.
Result<std::vector<std::string>> PathsMatching(const std::string& pattern);

// What to do about a file that is not there. Nothing is read from a network.
std::string RemedyOfAbsent(std::string_view path);

}  // namespace borescope::internal
