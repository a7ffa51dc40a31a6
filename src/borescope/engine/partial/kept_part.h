// Whether a part of a run has to be mapped again.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/partial/partial_data.h"

namespace borescope::internal {

// What the file at `path` holds, if it is a partial of this version that answers these questions,
// the first and PartialData::further, for exactly these files, each of which is as large as it was
// and was last written before the partial was. A partial with a file that could not be opened is
// not kept, as the file may be there by now. What else a trace names, such as its generated
// kernels, is not looked at. That partial, or nothing.
std::optional<PartialData> FindKept(const std::string& path,
                                    std::span<const MappedQuestion> questions,
                                    std::span<const InputFile> files,
                                    const std::optional<ShardMark>& shard);

}  // namespace borescope::internal
