// The last part of a recording whose processes still write it, read again and again: each time what
// has come since is looked at once, and only the newest records become a trace. So the work of a
// reading follows what was written since the last one, and never the size of the logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/ingest/load.h"
#include "borescope/ingest/recording/log_chunks.h"
#include "borescope/ingest/recording/log_names.h"

namespace borescope::internal {

// What one reading does at most, for each log. What it does not come to is done by the next ones.
struct TailLimits {
  uint64_t window_bytes = uint64_t{32} << 20U;  // of chunks that become the trace
  uint64_t scan_bytes = uint64_t{64} << 20U;    // of records that are looked at for the first time
  uint64_t name_bytes = uint64_t{64} << 20U;    // of texts and names that are kept, of all readings
  size_t headers = size_t{1} << 16U;            // of chunks that are looked for
};

// How a process ended, as its log says.
struct LogEnd {
  uint32_t pid = 0;
  recording::EndKind kind = recording::EndKind::kExit;
  int64_t status = 0;  // of a signal its number below 0
};

struct Tail {
  Trace trace = Trace(TraceData());
  // From this moment on the trace has all that is in the logs; earlier it may lack anything.
  int64_t complete_from_ns = 0;
  std::vector<int64_t> open_begins;  // of ranges that have not ended, in no order
  std::vector<LogEnd> ends;          // of processes that have ended, as far as their logs say it
  int64_t last_ns = 0;               // the last moment that any record speaks of
  uint64_t new_bytes = 0;            // of records that were looked at for the first time
  uint64_t log_bytes = 0;            // of all logs
  // Of chunks whose names are not known yet: what they name has no name in the trace.
  uint64_t unread_bytes = 0;
  bool are_names_left_out = false;  // there are more names than limits let be kept
  std::vector<Error> unreadable;    // of logs that could not be opened, where others could
};

// What is known of one log.
class LogTail {
 public:
  // The chunks that hold anything from `from_ns` on, the newest where they are too many, in the
  // order in which they are read. Raises `tail.complete_from_ns` above all that is left out.
  std::vector<LogChunk> Update(const LogSource& source, const recording::LogHeader& header,
                               const TailLimits& limits, uint64_t from_ns, Tail& tail);

  // Records of texts, names and devices of all chunks that were looked at, as they are in them.
  std::span<const uint64_t> names() const { return names_; }
  // Of its process; nothing while it has none.
  const std::optional<LogEnd>& end() const { return end_; }

 private:
  struct Known {
    LogChunk chunk;
    uint64_t scanned_words = 0;  // of its records
    uint64_t last_ns = 0;        // the last moment that these speak of
    uint64_t next_ns = 0;        // begin of the next chunk of its writer; 0: it is the last one
    bool is_done = false;        // looked at, and no more comes
  };
  // The records of one writer are in the chunks of its thread and kind, one after the other.
  using Writer = std::pair<uint32_t, recording::ChunkKind>;

  void FindMore(const LogSource& source, uint64_t begin, uint64_t alignment, bool is_ring,
                const TailLimits& limits);
  void Add(LogChunk chunk);
  uint64_t ScanNew(const LogSource& source, const TailLimits& limits, Tail& tail);
  void Scan(const LogSource& source, Known& known, const TailLimits& limits, Tail& tail);
  void Keep(const LogRecord& record, const TailLimits& limits, Tail& tail);

  std::map<uint64_t, Known> chunks_;    // by their place
  std::map<Writer, uint64_t> last_of_;  // the place of its last chunk
  uint64_t next_ = 0;                   // where more chunks are looked for
  std::vector<uint64_t> names_;
  std::optional<LogEnd> end_;
  std::vector<uint64_t> words_;
};

// The logs of one rank. Not thread-safe.
class RecordingTail {
 public:
  explicit RecordingTail(TailLimits limits = {}) : limits_(limits) {}

  // What these logs hold from `from_ns` on (nanoseconds of the recording's clock), as far as limits
  // let it be read. Further logs may join those of earlier readings. Where nothing has come since
  // the last reading from the same moment on, the trace is empty. Errors as those of LoadRecording,
  // where no log can be opened or one cannot be read on. REQUIRES: one path at least, each once.
  Result<Tail> Read(std::span<const std::string> paths, int64_t from_ns,
                    const LoadOptions& options);

 private:
  TailLimits limits_;
  std::map<std::string, LogTail> logs_;  // by path
  int64_t before_ns_ = -1;               // from which the last trace was made
};

}  // namespace borescope::internal
