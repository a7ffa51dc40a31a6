// Names in less room than they take, so that those that differ look different. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace borescope::internal {

using Names = std::vector<std::string>;

// Each as ShortenName cuts it.
Names CutEach(const Names& names, size_t width);

// Whether all that differ in `names` do so in `shown`.
bool AreApart(const Names& names, const Names& shown);

// As CutEach, where that tells names apart. What would look like another name is whole where it
// takes up to three lines of that width; of what is longer there are the beginning and, in as many
// lines, what stands around the places where it differs. Where all that is not enough, it is whole.
Names CutApart(const Names& names, size_t width);

}  // namespace borescope::internal
