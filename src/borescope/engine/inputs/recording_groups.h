// The logs of a recording of borescope record, one a process, become one input for each rank.
#pragma once

#include <vector>

#include "borescope/engine/inputs/input_files.h"

namespace borescope::internal {

// `files` with those that are logs of one folder, host and rank made one, at the place of the first
// of them: its `logs` are all of them in the order of their start, each once. The launcher's log
// belongs to the processes without a rank, or to the first rank of its host. Other files of a
// folder with logs are left out, unless the user named them; its page of control always. Reads the
// first bytes of every file; kIo if the system cannot tell.
Result<std::vector<InputFile>> GroupRecordings(std::vector<InputFile> files);

}  // namespace borescope::internal
