// The header and the chunks of a log, whose bytes may be those of anything. What is damaged is
// passed over and counted (torn-chunk).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

// LogSource: the bytes of a log, in a file or in memory, read at any offset. A file may still grow,
// or vanish: its size is that at the beginning, and bytes that are gone are not read.

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

// Whether a file that begins so is a log.
bool IsRecordingLog(std::string_view begin);

// kIo where reading fails, kCorrupt for a log that is shorter than its header, kUnsupportedFormat
// for one of another version and for what is no log. `name` is the log in messages.
Result<recording::LogHeader> ReadLogHeader(const LogSource& source, const std::string& name);

struct LogChunk {
  uint64_t offset;
  uint32_t bytes;  // that the log has of it, with its header
  recording::ChunkHeader header;
};

// Where chunks may begin: at multiples of this.
uint64_t ChunkAlignmentOf(const recording::LogHeader& header);

// Whether a chunk begins with it, or, in a ring, will.
bool IsLogChunk(const recording::ChunkHeader& header);

// By the time of their first record, so that those of a thread are in its order.
void SortChunks(std::vector<LogChunk>& chunks);

// All chunks of a log. By the time of their first record, so that those of a thread are in its
// order.
std::vector<LogChunk> FindChunks(const LogSource& source, const recording::LogHeader& header,
                                 Diagnostics& diagnostics);

// Reads one chunk after the other into the same memory.
class ChunkBuffer {
 public:
  // The words of the records of `chunk`; valid until the next call. Those of a ring are none if its
  // program has overwritten the chunk since its header was read.
  std::span<const uint64_t> Read(const LogSource& source, const LogChunk& chunk, bool is_ring);

 private:
  std::vector<uint64_t> words_;
};

}  // namespace borescope::internal
