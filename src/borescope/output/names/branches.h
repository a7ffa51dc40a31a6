// Where texts of one set part. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace borescope::internal {

using Branches = std::vector<uint32_t>;  // bytes of one text, rising

// For each text the bytes at which others that begin like it go on differently: the places of a
// tree of all texts where its path forks. Of many the first and the last ones. Time and memory grow
// with the bytes of all texts. REQUIRES: `texts` are sorted and none is there twice.
std::vector<Branches> FindBranches(std::span<const std::string_view> texts);

}  // namespace borescope::internal
