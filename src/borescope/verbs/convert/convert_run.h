// `convert`: one input file, or several, become one file of another format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/base/result.h"
#include "borescope/output/document.h"
#include "borescope/verbs/scrub/scrub_run.h"

namespace borescope::internal {

struct ConvertOptions {
  std::vector<std::string> inputs;  // files, folders, globs, or "-" for standard input
  std::string output;               // a file
  std::string to;                   // the name of a format; empty: by the ending of `output`
  std::string begin;                // of the window, as in index/time_window.h; empty: open
  std::string end;
  // Verbs whose overlays are drawn into a copy of the one input; empty: none.
  std::vector<std::string> overlays = {};
  std::string steps = {};  // numbers and ranges of steps, as of --step; empty: all
  // Whether a part takes along what surrounds it (kept_rows.h), where the format can say so.
  bool keeps_context = true;
  // Of several inputs: "" for the clocks that are recorded, "collectives" for those that put what
  // ranks did together in line.
  std::string align = {};
  std::optional<ScrubOptions> scrub = {};  // what may not stay goes (docs/use/scrub.md)
  int threads = DefaultThreads();
  std::stop_token stop = {};  // ends with kCancelled, and without an output, once it is requested
  // Bytes read so far and in total, of one file after the other. May be empty.
  std::function<void(uint64_t done, uint64_t total)> progress;
};

// How the times of one of several files were moved.
struct AlignedFile {
  std::string file;
  int64_t shift_ns = 0;  // added to its times
  // How wrong that may be anywhere in the file (docs/how-it-works/definitions.md, whole_error_ns).
  int64_t error_ns = 0;
  std::string verdict;  // of `clocks`
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
  std::vector<DiagnosticRow> diagnostics;
};

// The formats that can be written, for help and `borescope list`.
struct ConvertFormat {
  std::string_view name;
  std::string_view summary;
};
std::vector<ConvertFormat> ConvertFormats();

// Everything that can be known to fail fails before the input is read. Nothing of the output
// appears unless all of it was written. Of several inputs one is in memory at a time; the window is
// that of each, and absolute times are those of the clock of the first. Files of a folder that are
// no traces are passed over and counted. Errors are those of reading and writing; kMissingData for
// an input of which nothing was recorded in the window.
Result<ConvertReport> RunConvert(const ConvertOptions& options);

}  // namespace borescope::internal
