// The questions of a check to some files of its runs, to be judged elsewhere: each run is mapped
// where its recordings are, and `check` reads the parts in their place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/check/budget.h"
#include "borescope/engine/inputs/shards.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/verbs/check/check_run.h"
#include "borescope/verbs/check/parts_of_runs.h"

namespace borescope::internal {

// Which files are mapped, and by which questions. A plain value.
class CheckMapping {
 public:
  // Uses the runs, the budget file, the captures, and the question to each run of `request`.
  // With a `shard` (its index and count) it is about that part of all files. Errors:
  // kInvalidArgument for options, for a budget with a statement, for a recording that is named
  // twice, and for inputs that are parts already; those of ExpandInputs.
  static Result<CheckMapping> Plan(const CheckRequest& request,
                                   const std::optional<ShardMark>& shard);

  // Paths of the files, those of captures included: no output may be one of them.
  std::vector<std::string> Paths() const;
  const std::optional<ShardMark>& mark() const { return mark_; }

  // The part. A file that cannot be loaded travels with the others. Errors as those of MapPartial.
  Result<PartialData> Map() const;

  // What the file at `path` holds, if it is what Map would give (FindMapped); nothing else.
  Result<std::optional<PartialData>> Find(const std::string& path) const;

 private:
  // The files of this part that are of one run.
  struct RunFiles {
    std::string name;
    std::vector<InputFile> files;
  };

  Result<std::vector<MappedQuestion>> UnderstandQuestions() const;
  Result<std::vector<PartialData>> MapRunFiles(uint32_t run) const;
  Result<PartialData> MapAllRuns() const;

  std::vector<RunFiles> runs_;
  std::vector<CheckQuestion> questions_;
  RunOptions options_;  // without files
  std::optional<ShardMark> mark_;
};

// All questions of a check about a run: what every comparison needs, and what the budgets of a file
// are about. Pure. The first is `info` of the whole recordings; each key of `by` has one. `verbs`
// are those of VerbsOfBudgets. The order of the budgets changes nothing.
std::vector<CheckQuestion> QuestionsOfCheck(const BudgetFile& file,
                                            std::span<const AnalysisSpec* const> verbs);

}  // namespace borescope::internal
