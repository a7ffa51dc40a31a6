// The questions of a check to the recordings of a run, which are loaded once where they fit.
#pragma once

#include "borescope/engine/loading/trace_cache.h"
#include "borescope/verbs/check/run_questions.h"

namespace borescope::internal {

// Of what is loaded so much is kept between questions, and the limit of memory leaves as much
// again for loading. `memory_limit` as RunOptions::memory_limit.
uint64_t BytesKeptOf(uint64_t memory_limit);

class RecordedRun final : public RunQuestions {
 public:
  // `options` are complete with the files of the run. What the first question loads is shown as
  // progress; further ones find it loaded.
  explicit RecordedRun(RunOptions options);

  Result<AnswerData> Ask(const CheckQuestion& question) override;
  Result<RecordedWindow> Window() override;
  Result<RunOptions> Recordings() override { return options_; }

 private:
  TraceCache cache_;
  RunOptions options_;
};

}  // namespace borescope::internal
