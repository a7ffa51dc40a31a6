// The one place where everything meets: files become traces, traces become indexes, an analysis is
// mapped over the ranks and reduced, and the answer becomes a document for any writer. The command
// line is a skin over these functions and over their like for other verbs (verbs/); what it
// needs of modules below, such as how numbers are written, comes with this header.
//
// Thread-safe: calls share nothing. Nothing here prints. Exceptions of third parties (memory) pass
// through to the caller, from worker threads too; that of a stop ends here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/parallel.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/loading/store_report.h"
#include "borescope/ingest/load.h"
#include "borescope/output/units/units.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

class TraceCache;

struct Progress {
  uint64_t done_bytes = 0;   // of all files, as stored
  uint64_t total_bytes = 0;  // 0 when unknown
  size_t done_files = 0;
  size_t total_files = 0;
};

// The second run of a comparison: what differs from the first.
struct TestRun {
  std::vector<InputFile> files;
  TraceCache* cache = nullptr;  // of its own; as RunOptions::cache
  NumberRanges ranks;
  NumberRanges steps;
  std::stop_token stop = {};  // as RunOptions::stop, which is asked as well
};

struct RunOptions {
  std::vector<InputFile> files;  // from ExpandInputs
  NumberRanges ranks;            // empty = all
  Params params;
  TestRun test;         // where AnalysisSpec::takes_two
  std::string overlay;  // file, or folder, as it must be for several inputs; empty = none
  std::string save;     // likewise: what SavedForm::save keeps; empty = none
  bool load = false;    // the files are such, not traces
  int threads = DefaultThreads();
  uint64_t memory_limit = 0;    // bytes; 0 = none
  TraceCache* cache = nullptr;  // keeps what is loaded; outlives the run. nullptr: each trace is
                                // freed once it is mapped
  std::stop_token stop = {};    // ends with kCancelled once it is requested
  // For display, applied last: the column every table that has it is sorted by, and the number of
  // rows kept.
  std::string sort;
  std::optional<size_t> top;
  std::string timeline = "window";  // of the report (QuestionOfReport)
  bool for_picture = false;         // ask as the report does, AskForViews()
  // Called from any thread, never from two at once. May be empty.
  std::function<void(const Progress&)> progress;
  // Has the last word on the answer before the files of --overlay and --save appear: with an error,
  // none does, and that is the answer. May be empty.
  std::function<Result<void>(const Document&)> accept;
};

// A copy of the trace that --overlay wrote.
struct OverlayReport {
  std::string path;
  size_t counters = 0;
  size_t tracks = 0;
  size_t arrows = 0;
  size_t marked = 0;          // recorded events
  bool keeps_damage = false;  // what was repaired while reading the source is as it was in the copy
};

// What became of one file.
struct FileReport {
  std::string path;
  std::string error;     // why it could not be loaded; empty if it was
  bool skipped = false;  // of a directory, and no trace at all
  int64_t rank = 0;
  uint64_t file_bytes = 0;
  uint64_t text_bytes = 0;  // inflated
  uint64_t events = 0;
  int64_t begin_ns = 0;  // of the recording, on its clock
  int64_t load_ns = 0;
  int64_t index_ns = 0;
  int64_t analysis_ns = 0;
  std::optional<OverlayReport> overlay;
  std::string saved;  // file that --save wrote; empty = none
  StoreReport store = {};
};

struct Answer {
  Document document;
  std::vector<FileReport> files;  // in the order of RunOptions::files
};

// Runs analyses over a run. Errors:
//   kInvalidArgument  an option the analysis does not have, an unknown column or rank
//   kMissingData      no rank holds what the analysis needs; names the profiler option to turn on
//   else              no file could be loaded
// A file that fails while others do not is counted in the document's diagnostics.
//
// Ranks run in parallel, and each trace is freed once mapped, so that memory follows the ranks in
// flight. `memory_limit` lowers their number, by an estimate and by what is seen (memory_limit.h),
// and is an error only where a single rank exceeds it. Selecting ranks comes after loading: which
// rank a file is stands in the file.
//
// Several analyses share one load of every file; those whose data is missing are left out and told
// while any has an answer. Overlays appear last, of the ranks that were selected, and none when
// anything failed.
Result<Answer> RunAnalyses(std::span<const AnalysisSpec* const> specs, const RunOptions& options);
Result<Answer> RunAnalysis(const AnalysisSpec& spec, const RunOptions& options);

struct MappedRun;

// Both halves of it, for those who map here and reduce elsewhere. The first makes the options
// complete and checks them; the second answers from what was mapped, by whatever process, of which
// `options` say the params, the files and how the answer is shown.
Result<void> Prepare(std::span<const AnalysisSpec* const> specs, RunOptions& options);
Result<Answer> AnswerOf(std::span<const AnalysisSpec* const> specs, const RunOptions& options,
                        MappedRun& run);

// kInvalidArgument for a table of one name twice, which would be one file written twice.
Result<void> CheckDistinct(const Tables& tables);

// Whether any table of the analysis can be drawn, by a format that draws.
bool HasPicture(const AnalysisSpec& spec);

}  // namespace borescope::internal
