// What two sequences of names have in common, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace borescope::internal {

// An index into the first sequence and one into the second.
using NamePair = std::pair<uint32_t, uint32_t>;

// A longest common subsequence, ascending, by the greedy method of Myers (An O(ND) difference
// algorithm, 1986): O((a + b) * most_edits) time, O(most_edits^2) memory. Nothing if more than
// `most_edits` names have to be left out of `a` and `b` together.
std::optional<std::vector<NamePair>> AlignNames(std::span<const uint32_t> a,
                                                std::span<const uint32_t> b, size_t most_edits);

}  // namespace borescope::internal
