// How large a piece of device work was asked to be, as far as it was recorded: blocks of the grid
// and threads of a block of a kernel, elements and their type that a collective was given, bytes of
// a copy. Calls of one kernel on problems of different size are not the same work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Members that AppendWorkSize adds to a key.
inline constexpr size_t kWorkSizeKeys = 5;

// Appends the size of device work to the key of a Grouper. Work of a rank has equal members only if
// its WorkSizeText is equal.
void AppendWorkSize(const RankView& view, DeviceId id, std::vector<int64_t>& key);

// "2049000 Float, 6,1,1 x 512,1,1": the size whose members AppendWorkSize added, for people and to
// merge ranks by; empty where nothing of it was recorded.
std::string WorkSizeText(const Trace& trace, std::span<const int64_t> members);

}  // namespace borescope::internal
