// The header and the chunks of a log, whose bytes may be those of anything. What is damaged is
// passed over and counted (torn-chunk).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/ingest/recording/log_source.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

// Whether a file that begins so is a log.
bool IsRecordingLog(std::string_view begin);

// kCorrupt for a log that is shorter than its header, kUnsupportedFormat for one of another version
// and for what is no log. `name` is the log in messages.
Result<recording::LogHeader> ReadLogHeader(const LogSource& source, const std::string& name);

struct LogChunk {
  uint64_t offset;
  uint32_t bytes;  // that the log has of it, with its header
  recording::ChunkHeader header;
};

// By the time of their first record, so that those of a thread are in its order.
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
