// LogSource: the bytes of a log, in a file or in memory, read at any offset. A file may still grow,
// or vanish: its size is that at the beginning, and bytes that are gone are not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

class LogSource {
 public:
  // kIo if the file cannot be opened.
  static Result<LogSource> OpenFile(const std::string& path);
  // Bytes that outlive the source.
  static LogSource OfMemory(std::string_view bytes);

  LogSource(LogSource&& other) noexcept;
  LogSource& operator=(LogSource&& other) noexcept;
  ~LogSource();

  uint64_t size() const { return size_; }
  // The bytes from `offset` on; returns how many there were, fewer than wanted only at the end, and
  // where reading failed, which failure() says from then on.
  size_t Read(uint64_t offset, void* out, size_t bytes) const;
  // Why bytes are missing that the file has: kIo, with the place and what to do. To be asked when
  // all is read, as what failed looks like a torn log.
  Result<void> failure() const { return failure_; }

 private:
  LogSource() = default;

  int file_ = -1;
  std::string_view memory_;
  uint64_t size_ = 0;
  mutable Result<void> failure_;
};

}  // namespace borescope::internal
