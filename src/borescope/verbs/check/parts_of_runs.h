// Runs that were mapped (map_check.h), in the place of their recordings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/verbs/check/content_digest.h"
#include "borescope/verbs/check/run_questions.h"

namespace borescope::internal {

// Some parts, joined. Immutable; safe to read from any thread.
class PartsOfRuns {
 public:
  // kInvalidArgument for parts that are of no check, that answer different questions, or without
  // others of their division: some ranks say nothing of a run. `name` represents all of them in
  // messages. REQUIRES: there is at least one.
  static Result<PartsOfRuns> Join(std::vector<PartialData> parts, const std::string& name);

  // Of the runs that are in them, in the order in which they were named to `map`.
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

}  // namespace borescope::internal
