// The recordings of `borescope record`: logs of processes, those of one rank a trace together.
// docs/formats/recording.md describes the format and how it is read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/load.h"
#include "borescope/ingest/recording/log_chunks.h"

namespace borescope::internal {

// The trace of these logs, which are named in the order of their start. Those that are damaged as a
// whole are counted (unreadable-file), unless none is left: then the first one's error comes back.
// A log of a process that still runs is read as far as it went at the beginning.
Result<Trace> LoadRecording(std::span<const std::string> paths, const LoadOptions& options);

// The same for one log in memory. `stored_bytes`: its size as stored.
Result<Trace> LoadRecordingLog(std::string_view bytes, const std::string& name,
                               uint64_t stored_bytes, const LoadOptions& options);

// Some chunks of a log, to be read without the rest of it.
struct RecordedLog {
  std::string name;
  LogSource source;
  recording::LogHeader header;
  std::vector<LogChunk> chunks = {};     // in the order of FindChunks
  std::span<const uint64_t> names = {};  // records of names that other chunks hold

  // Without any chunk so far. Errors as those of ReadLogHeader.
  static Result<RecordedLog> Open(const std::string& path);
};

struct LoadedParts {
  Trace trace;
  std::vector<int64_t> open_begins;  // of ranges that have not ended in them, in no order
};

// The trace of parts of logs, which are in the order of their start. kIo where one cannot be read.
Result<LoadedParts> LoadRecordingParts(std::span<const RecordedLog> parts, const std::string& name,
                                       const LoadOptions& options);

// The header of the log at `path`; nothing if there is no readable log.
Result<std::optional<recording::LogHeader>> RecordingHeaderOf(const std::string& path);

std::string_view RecordingRemedy(MissingData lack);

}  // namespace borescope::internal
