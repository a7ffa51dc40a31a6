// RunOptions: what a run is asked, typed: its files, what of them is selected, and with which
// resources. A question (question/question.h) sets what its parameters say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/base/parallel.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/output/writer.h"
#include "borescope/progress.h"

namespace borescope::internal {

using borescope::Progress;

class TraceCache;

// The second run of a comparison: what differs from the first.
struct TestRun {
  std::vector<InputFile> files;
  TraceCache* cache = nullptr;  // of its own; as RunOptions::cache
  NumberRanges ranks;
  NumberRanges steps;
  StopToken stop = {};  // as RunOptions::stop, which is asked as well
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
  StopToken stop = {};          // ends with kCancelled once it is requested
  // For display, applied last: the column every table that has it is sorted by, and the number of
  // rows kept.
  std::string sort;
  std::optional<size_t> top;
  std::string timeline = "window";  // of the report (QuestionOfReport)
  bool for_picture = false;         // ask as the report does, AskForViews()
  ProgressCallback progress;
  // Has the last word on the answer before the files of --overlay and --save appear: with an error,
  // none does, and that is the answer. May be empty.
  std::function<Result<void>(const Document&)> accept;
};

}  // namespace borescope::internal
