#include "borescope/check/statistics/detectable.h"

#include <algorithm>
#include <cmath>

namespace borescope::internal {
namespace {

double NormalTailAbove(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double DeviationOfShift(const PlannedTest& test) {
  return test.spread.deviation * std::sqrt(1 / test.base_runs + 1 / test.test_runs);
}

}  // namespace

// Integrates over what a deviation with so many degrees of freedom is estimated as: its density,
// up to a factor, at `ratio` times the true one.
double PowerOf(const PlannedTest& test, double shift) {
  const auto df = static_cast<double>(test.spread.df);
  const double error = DeviationOfShift(test);
  if (error <= 0) {
    return shift >= test.least ? 1 : 0;
  }
  const double limit = StudentLimit(test.alpha, df);
  constexpr int kSteps = 400;
  constexpr double kLargest = 4;
  double weights = 0;
  double power = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double ratio = (i + 0.5) * kLargest / kSteps;
    const double weight = std::exp((df - 1) * std::log(ratio) - df * (ratio * ratio - 1) / 2);
    const double needed = std::max(test.least, limit * ratio * error);
    weights += weight;
    power += weight * NormalTailAbove((needed - shift) / error);
  }
  return power / weights;
}

double DetectableShift(const PlannedTest& test, double power) {
  double low = 0;
  double high = test.least + 1e-6;
  while (PowerOf(test, high) < power && high < 100) {
    high *= 2;
  }
  for (int i = 0; i < 60 && high - low > 1e-7; ++i) {
    const double middle = (low + high) / 2;
    (PowerOf(test, middle) < power ? low : high) = middle;
  }
  return high;
}

}  // namespace borescope::internal
