// Whether a part of a run has to be mapped again.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/partial/partial_data.h"

namespace borescope::internal {

// Whether the file at `path` is a partial of this version that answers the question for exactly
// these files, each of which is as large as it was and was last written before the partial was. One
// with a file that could not be opened is none: it may be there by now. What else a trace names,
// such as the folder of its generated kernels, is not looked at.
bool IsStillTheAnswer(const std::string& path, const Question& question,
                      std::span<const InputFile> files, const std::optional<ShardMark>& shard);

}  // namespace borescope::internal
