// The questions of a check about one run, whoever answers: its recordings (recorded_run.h), or the
// parts that were mapped of them (parts_of_runs.h). Answers are the same, to the last bit.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/loading/recorded_window.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

// One question: verbs that are asked together.
struct CheckQuestion {
  std::vector<const AnalysisSpec*> verbs;
  std::vector<std::string> by = {};
  bool of_whole = false;  // whatever was selected
};

// Not thread-safe.
class RunQuestions {
 public:
  virtual ~RunQuestions() = default;

  // Errors as those of RunAnalyses; of parts kInvalidArgument for what they do not hold.
  virtual Result<AnswerData> Ask(const CheckQuestion& question) = 0;
  // Of the first rank that is selected.
  virtual Result<RecordedWindow> Window() = 0;
  // The recordings, for statements; of parts, which have none, kInvalidArgument.
  virtual Result<RunOptions> Recordings() = 0;
};

}  // namespace borescope::internal
