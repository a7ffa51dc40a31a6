// Conversion of recordings into other formats (docs/use/convert.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/progress.h"
#include "borescope/scrub.h"

namespace borescope {

struct ConvertOptions {
  std::vector<std::string> inputs = {};  // files, folders, globs, or "-" for standard input
  std::string output = {};               // a file
  std::string to = {};     // a format of Describe().targets; empty: by the ending of the output
  std::string begin = {};  // of the window, as the parameter `begin` of a verb; empty: open
  std::string end = {};
  std::string steps = {};  // of steps, as the parameter `step` of a verb; empty: all
  // Whether a part takes along what surrounds it, so that verbs answer about it as of the whole
  // recording (docs/use/convert.md); else it has only what starts in it. Formats that are not read
  // back never have it.
  bool keeps_context = true;
  // Draws what these verbs find (critical-path, bandwidth, queue, sequences) into a copy of the one
  // input, a Chrome JSON. Excludes all of the above, `align` and `scrub`.
  std::vector<std::string> overlays = {};
  // Of several inputs: "collectives" puts the clocks of ranks in line by what they did together
  // (the verb `waits`); empty: by the clocks that are recorded.
  std::string align = {};
  // Leaves out what may say who, where and with which secrets (docs/use/scrub.md). A single
  // recording that goes to a file of its own kind keeps all that is read of it.
  std::optional<ScrubOptions> scrub = {};
  int threads = 0;  // 0: one per processor
  ProgressCallback progress = {};
  StopToken stop = {};  // ends with kCancelled, and without an output, once it is requested
};

// How the times of one of several files were moved.
struct AlignedFile {
  std::string file;
  int64_t shift_ns = 0;  // added to its times
  int64_t error_ns = 0;  // by which that may be wrong; see docs/how-it-works/definitions.md, waits
  std::string verdict;   // of the table `clocks`
};

struct ConvertReport {
  uint64_t written = 0;   // events in the output
  uint64_t outside = 0;   // left out because they start outside the window
  uint64_t unplaced = 0;  // left out because the format has no place for them
  std::string format;     // of the output
  bool scrubbed = false;  // in the format of the input; `written` counts records
  size_t files = 0;       // that were written
  size_t skipped = 0;     // files of a folder that are no traces
  size_t clocks = 0;      // of these, those whose times could not be put on the clock of the first
  std::vector<AlignedFile> aligned = {};  // with ConvertOptions::align, all but the first
  std::vector<Diagnostic> diagnostics;
};

// Writes the recordings that the inputs lead to into the output, which appears complete or not at
// all. Everything that can be known to fail fails before an input is read. Of several inputs one is
// in memory at a time; the window is that of each, and absolute times are those of the clock of the
// first. Files of a folder that are no traces are passed over and counted. Errors: kInvalidArgument
// for options; kMissingData where nothing was recorded in the window; those of reading and writing.
// Thread-safe.
BORESCOPE_EXPORT Result<ConvertReport> Convert(const ConvertOptions& options);

}  // namespace borescope
