// A log that the launcher's side adds to a run: what was sampled, and marks that were set from
// outside of the programs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

// Records of a log, made in memory before they are written.

class LogWords {
 public:
  // A record with these words and a text, of which no more than 4096 bytes are kept.
  void Add(recording::RecordType type, uint32_t a, std::initializer_list<uint64_t> body,
           std::string_view text = {});

  std::span<const uint64_t> words() const { return words_; }
  bool empty() const { return words_.empty(); }
  void Clear() { words_.clear(); }

 private:
  std::vector<uint64_t> words_;
};

// One thread at a time; several processes may add to one log.
class RunLog {
 public:
  // The log `name` of a run; it is made, with a header that says it is the launcher's, if it does
  // not exist. kIo if it can neither be made nor opened.
  static Result<RunLog> Open(const std::string& folder, std::string_view name);

  RunLog(RunLog&& other) noexcept;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  RunLog& operator=(RunLog&&) = delete;
  ~RunLog();

  // Adds whole records, in a chunk of this log that is of no other process. They are complete for
  // readers once this returns. kIo if the disk is full.
  Result<void> Append(std::span<const uint64_t> records);

  // Of chunks; a small one for logs that get few records. To be set before the first record.
  void set_chunk_bytes(uint32_t bytes) { chunk_bytes_ = bytes; }

 private:
  RunLog(int file, std::string path);
  Result<recording::LogHeader> ReadHeader() const;
  Result<void> BeginChunk(size_t least_bytes);
  Result<void> Write(const void* bytes, size_t count, uint64_t offset) const;

  int file_;
  std::string path_;
  uint32_t chunk_bytes_ = 64 * 1024;
  uint64_t alignment_;  // of chunks
  uint64_t at_ = 0;     // where the next record goes
  uint64_t end_ = 0;    // of the chunk
};

// "<host>.marks.bsl", and "<host>.<pid>.<start time>.0.bsl" of this process.
std::string MarksLogName();
std::string OwnLogName();

// How a program of the run ended, and when, in its own log: nobody else knows where it was killed.
// A status below 0 is that of a signal. kIo if the log cannot be changed.
Result<void> NoteEnd(const std::string& folder, std::string_view log, uint64_t ended_ns,
                     int status);

// A moment of all processes of the run, set from outside of them. kInvalidArgument if `folder` is
// no run.
Result<void> MarkRun(const std::string& folder, std::string_view text);

}  // namespace borescope::internal
