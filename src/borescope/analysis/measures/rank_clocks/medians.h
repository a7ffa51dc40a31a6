// Medians of integers, and how far values lie from theirs. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace borescope::internal {

// Of an even number of values the middle between the two, rounded down: values that are all larger
// by k have a median that is larger by k. Changes the order of `values`. REQUIRES: not empty;
// values differ by less than 2^63. O(n).
int64_t MedianOf(std::vector<int64_t>& values);

// The standard deviation of values of which most lie as those of a normal distribution, whatever
// the others do: 1.4826 times the median distance from the median. 0 of none. O(n).
double RobustSigma(std::vector<int64_t> values);

}  // namespace borescope::internal
