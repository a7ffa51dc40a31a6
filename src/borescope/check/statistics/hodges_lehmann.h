// The Hodges-Lehmann estimate of how far one sample lies above another: the median of all
// differences between a value of the one and a value of the other (Hodges and Lehmann 1963). One
// odd run moves it little. Pure.
#pragma once

#include <span>
#include <vector>

namespace borescope::internal {

// Every test[j] - base[i], in ascending order. O(n m log(n m)).
std::vector<double> SortedDifferences(std::span<const double> base, std::span<const double> test);

// The median of SortedDifferences. REQUIRES: neither is empty.
double ShiftBetween(std::span<const double> base, std::span<const double> test);

}  // namespace borescope::internal
