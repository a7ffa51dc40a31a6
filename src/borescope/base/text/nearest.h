// For "did you mean": the name nearest to one that does not exist. Pure.
#pragma once

#include <span>
#include <string_view>

namespace borescope::internal {

// The candidate nearest to `word` in letters changed, added, left out or swapped with the next, or
// one that begins with it; empty if none is near. Near means a distance of at most a third of the
// letters of `word`, and one for any word: a word that shares half its letters by chance is not a
// typing error. O(candidates x length^2).
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace borescope::internal
