// Runs that were mapped (map_check.h), in the place of their recordings.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

// Whether two recordings are copies of one, also where only one of them is here.
struct ContentDigest {
  uint64_t bytes = 0;
  uint64_t digest = 0;  // FNV-1a of 64 bits: the same on every machine

  bool operator==(const ContentDigest&) const = default;
};

// Of the bytes of all files of one recording, one file after the other. kIo if one of them cannot
// be read.
Result<ContentDigest> DigestOfFiles(std::span<const std::string> paths);

// The questions of a check about one run, whoever answers: its recordings (RecordedRun), or the
// parts that were mapped of them (PartsOfRuns). Answers are the same, to the last bit.

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
  // The window of the first rank that is selected.
  virtual Result<RecordedWindow> Window() = 0;
  // The recordings, for statements; of parts, which have none, kInvalidArgument.
  virtual Result<RunOptions> Recordings() = 0;
};

// Some parts, joined. Immutable; safe to read from any thread.
class PartsOfRuns {
 public:
  // kInvalidArgument for parts that are of no check, that answer different questions, or without
  // others of their division: some ranks say nothing of a run. `name` represents all of them in
  // messages. REQUIRES: there is at least one.
  static Result<PartsOfRuns> Join(std::vector<PartialData> parts, const std::string& name);

  // The number of runs in the parts, which are in the order in which they were named to `map`.
  size_t size() const { return runs_.size(); }
  // As it was named to `map`.
  const std::string& NameOf(size_t run) const { return runs_[run].name; }

  // Recordings of a run that could be read.
  struct Recording {
    std::string path;
    ContentDigest content;
  };
  std::vector<Recording> RecordingsOf(size_t run) const;

  // `options` have the selection, which must be that of the map, and the stop. The result keeps the
  // parts alive.
  std::unique_ptr<RunQuestions> QuestionsTo(size_t run, const RunOptions& options) const;

 private:
  struct RunFiles {
    std::string name;
    std::vector<size_t> files;  // places in the parts, ascending
  };

  void FindRuns();

  std::string name_;
  std::shared_ptr<const PartialData> parts_;
  std::vector<RunFiles> runs_;
};

// The questions of a check to the recordings of a run, which are loaded once where they fit.

// How many bytes of loaded traces are kept between questions: half of the limit, which leaves as
// much again for loading. `memory_limit` as RunOptions::memory_limit.
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
