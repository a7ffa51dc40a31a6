// Which parts of a run that was divided are not here. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "borescope/base/result.h"
#include "borescope/engine/partial/partial_data.h"

namespace borescope::internal {

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
