// From the partials of several processes to one run. Pure.
//
// Files are in the natural order of their paths, numbers in names by value, as those of a folder
// do: so that the order in which partials arrive, and the tree in which they are merged, never
// show. Which rank each file is follows only here, as it does where one process maps all files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/partial_data.h"

namespace borescope::internal {

// Reduces the tables of many ranks as they come, so that memory follows the answer and not their
// number. A reduce may be done in any tree (Pipeline::reduce): here some tables become one, some of
// those become one, and so on, so that each row is copied once a level.
//
// Not thread-safe.

class TableFold {
 public:
  // How many tables are reduced to one at a time.
  static constexpr size_t kFanIn = 32;

  // REQUIRES: `pipeline` and `params` outlive it; `fan_in` is at least 2.
  TableFold(const Pipeline& pipeline, const Params& params, size_t fan_in = kFanIn)
      : pipeline_(&pipeline), params_(&params), fan_in_(fan_in) {}

  // The tables of one rank. After an error of the reduce, nothing more is kept.
  void Add(Tables tables);

  // What is to be reduced to the answer.
  FoldedTables Take();

 private:
  void AddTo(size_t level, Tables tables);

  const Pipeline* pipeline_;
  const Params* params_;
  size_t fan_in_;
  // Fewer than fan_in_ each; those of level n + 1 are of fan_in_ times as many ranks.
  std::vector<std::vector<Tables>> levels_;
  std::optional<Error> error_;
};

// One partial with the files of all. Its tables are not reduced, so that it is as large as they are
// together. A file that comes twice counts once where its answers are the same to the byte.
// kInvalidArgument for no partial, for partials of different questions (the message names the
// difference) or formats, and for a file that comes twice with different answers.
Result<PartialData> MergePartials(std::vector<PartialData> partials);

// A run ready to be concluded.
struct JoinedRun {
  MappedQuestion question;
  std::vector<InputFile> files;  // of the run's parts, in their order
  MappedRun run;
};

struct JoinOptions {
  // How many traces the run has, those that cannot be read included; nothing: not known.
  std::optional<uint64_t> files;
  size_t fan_in = TableFold::kFanIn;
};

// Joins the partials of a source, whose tables are reduced as they are read: of those only one
// partial's are in memory at a time, beside what is reduced. What the run lacks, by the parts that
// it was divided into or by the number of files, is counted among its diagnostics (kMissingParts).
// Errors as MergePartials, and as MapRun about ranks and files; kInvalidArgument for more files
// than there may be. Every table of the partials must be one that its verb maps, as ParsePartial
// sees to.
Result<JoinedRun> JoinPartials(PartSource& source, const JoinOptions& options = {});

// Which parts of a run that was divided are not here. Pure.

struct MissingParts {
  uint64_t count = 0;
  std::string words;  // "6 of 8 parts; without 3, 5"; empty where nothing is missing
};

// By the parts that the run was divided into: nothing is missing where all parts of one division
// are here, else it is what the division with the fewest gaps lacks. Beyond that, by how many files
// there must be, where that is known. kInvalidArgument for more files than that, and for parts of
// one number that are of different files. `shards` ascend.
Result<MissingParts> FindMissingParts(std::span<const ShardMark> shards, uint64_t files,
                                      std::optional<uint64_t> expected_files);

}  // namespace borescope::internal
