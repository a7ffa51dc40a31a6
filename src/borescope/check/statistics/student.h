// Student's t distribution, and the spread of runs that it is used with. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace borescope::internal {

// P(T > t) with `df` degrees of freedom, accurate to 1e-10. REQUIRES: df > 0.
double StudentTail(double t, double df);
// The t with StudentTail(t, df) = tail. REQUIRES: 0 < tail < 1, df > 0.
double StudentLimit(double tail, double df);

// How far values of runs of an unchanged program lie apart: a standard deviation, and how many
// degrees of freedom it is known with (0: not at all).
struct RunSpread {
  double deviation = 0;
  int64_t df = 0;
};

// Of groups of runs, each of one unchanged program: the deviations from the mean of the own group.
RunSpread PooledSpread(std::span<const std::vector<double>> groups);

}  // namespace borescope::internal
