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
  // The bytes from `offset` on; returns how many there were, fewer than wanted only at the end.
  size_t Read(uint64_t offset, void* out, size_t bytes) const;

 private:
  LogSource() = default;

  int file_ = -1;
  std::string_view memory_;
  uint64_t size_ = 0;
};

}  // namespace borescope::internal
