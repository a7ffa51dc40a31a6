// Writes a scrubbed copy of one recording in its own format (docs/use/scrub.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/scrub/scrubber.h"

namespace borescope::internal {

enum class RecordingKind : uint8_t {
  kText,
  kDatabase,
  kPickle,     // a dump of PyTorch's flight recorder, or a memory snapshot
  kPlainJson,  // the same as JSON
};

struct ScrubbedFile {
  RecordingKind kind = RecordingKind::kText;
  uint64_t records = 0;  // written: events or nodes; of a database, rows
  uint64_t dropped = 0;  // members or tables that were removed completely
  bool was_cut = false;  // the text ended early
};

// The kind of the file at `path`, by its first bytes, which may be compressed. "-" is not accepted
// here.
Result<RecordingKind> KindOfRecording(const std::string& path);

// Writes the recording at `input` to `output`, which appears complete or not at all; text is
// compressed if the name ends in .gz. Errors are those of reading and writing, and kCorrupt for
// text that is not JSON.
Result<ScrubbedFile> ScrubFile(const std::string& input, const std::string& output,
                               Scrubber& scrubber,
                               const std::function<void(uint64_t, uint64_t)>& progress = {});

// Writes the new names and their originals as JSON, one pair in each line.
Result<void> WriteNameMap(const Scrubber& scrubber, const std::string& path);

}  // namespace borescope::internal
