// p values of several metrics that are judged together. Pure.
#pragma once

#include <span>
#include <vector>

namespace borescope::internal {

// Benjamini and Hochberg (1995): of the rows whose result is at most q, at most a part of q is
// expected to be false. In the order of `p`.
std::vector<double> FalseDiscoveryRates(std::span<const double> p);

// Holm (1979): rows whose result is at most alpha hold one that is false with a probability of at
// most alpha. In the order of `p`.
std::vector<double> HolmAdjusted(std::span<const double> p);

}  // namespace borescope::internal
