// A run divided among processes: which of its files each maps. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"

namespace borescope::internal {

// A run is divided into so many parts at most.
inline constexpr uint32_t kMostShards = 1'000'000;

// Part number `index`, from 0, of the `count` parts into which the files of a run are divided.
struct ShardMark {
  uint32_t index = 0;
  uint32_t count = 1;
  // The files that were divided: parts belong together only if these are equal.
  uint64_t files = 0;
  uint64_t digest = 0;  // of their paths below the folder that they have in common

  auto operator<=>(const ShardMark&) const = default;
};

// Leaves those files whose place in the natural order of all paths has the remainder `index` when
// divided by `count`: in that order, possibly none. Each file is in exactly one part, and the parts
// are equally many files, but for one. The complete mark; kInvalidArgument for a part that there is
// not.
Result<ShardMark> TakeShard(uint32_t index, uint32_t count, std::vector<InputFile>& files);

// "00003-of-00064.part"
std::string PartFileName(const ShardMark& shard);

}  // namespace borescope::internal
