#include "borescope/verbs/check/recorded_run.h"

#include <algorithm>
#include <utility>

#include "borescope/engine/loading/load_run.h"

namespace borescope::internal {

uint64_t BytesKeptOf(uint64_t memory_limit) {
  constexpr uint64_t kMost = uint64_t{4} << 30;
  return memory_limit == 0 ? kMost : std::min(kMost, memory_limit / 2);
}

RecordedRun::RecordedRun(RunOptions options)
    : cache_(BytesKeptOf(options.memory_limit)), options_(std::move(options)) {
  options_.cache = &cache_;
}

Result<AnswerData> RecordedRun::Ask(const CheckQuestion& question) {
  RunOptions asked = options_;
  options_.progress = {};
  asked.params.by = question.by;
  if (question.of_whole) {
    asked.params.selection = {};
  }
  return RunAnalyses(question.verbs, asked);
}

Result<RecordedWindow> RecordedRun::Window() {
  BS_ASSIGN(const LoadedRun loaded, LoadRun(options_));
  return WindowOf(loaded.ranks.front().loaded->trace);
}

}  // namespace borescope::internal
