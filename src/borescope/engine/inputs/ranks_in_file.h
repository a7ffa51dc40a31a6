// Files that hold the recordings of several ranks, each of which becomes an input of the run:
// Kineto traces that were merged into one, and exports of Nsight Systems of a job whose processes
// are its ranks.
#pragma once

#include <vector>

#include "borescope/engine/inputs/input_files.h"

namespace borescope::internal {

// The inputs, in their order, with one for each rank in place of a file with several. Of an
// ordinary file its begin is read; of a database a table with a row for each context of the device.
// A file whose ranks cannot be distinguished, or read, has RankInFile::refusal. Streams and
// contents in memory stay as they are.
std::vector<InputFile> SplitRanks(std::vector<InputFile> files);

}  // namespace borescope::internal
