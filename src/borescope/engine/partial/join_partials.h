// From the partials of several processes to one run. Pure.
//
// Files are in the natural order of their paths, numbers in names by value, as those of a folder
// do: so that the order in which partials arrive, and the tree in which they are merged, never
// show. Which rank each file is follows only here, as it does where one process maps all files.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/map_run.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/partial/table_fold.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
