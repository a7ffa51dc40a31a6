#include "borescope/check/statistics/detectable.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace borescope::internal {
namespace {

// Of shifts that are found; what is printed has a tenth of a percent.
constexpr double kAccuracy = 1e-5;

double NormalTailAbove(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double DeviationOfShift(const PlannedTest& test) {
  return test.spread.deviation * std::sqrt(1 / test.base_runs + 1 / test.test_runs);
}

// Power by shift: what does not depend on the shift is computed once.
class PowerCurve {
 public:
  // Integrates over what a deviation with so many degrees of freedom is estimated as: its density,
  // up to a factor, at `ratio` times the true one.
  explicit PowerCurve(const PlannedTest& test)
      : error_(DeviationOfShift(test)), least_(test.least) {
    const auto df = static_cast<double>(test.spread.df);
    const double limit = StudentLimit(test.alpha, df);
    constexpr int kNodes = 100;
    constexpr double kLargest = 4;
    for (int i = 0; i < kNodes; ++i) {
      const double ratio = (i + 0.5) * kLargest / kNodes;
      const double weight = std::exp((df - 1) * std::log(ratio) - df * (ratio * ratio - 1) / 2);
      if (weight > 1e-12) {
        nodes_.push_back({weight, std::max(test.least, limit * ratio * error_)});
        weights_ += weight;
      }
    }
  }

  double At(double shift) const {
    if (error_ <= 0) {
      return shift >= least_ ? 1 : 0;
    }
    double power = 0;
    for (const Node& node : nodes_) {
      power += node.weight * NormalTailAbove((node.needed - shift) / error_);
    }
    return power / weights_;
  }

 private:
  struct Node {
    double weight;
    double needed;  // estimate, to be called real
  };
  double error_;
  double least_;
  std::vector<Node> nodes_;
  double weights_ = 0;
};

}  // namespace

double PowerOf(const PlannedTest& test, double shift) { return PowerCurve(test).At(shift); }

double DetectableShift(const PlannedTest& test, double power) {
  const PowerCurve curve(test);
  double low = 0;
  double high = test.least + 1e-6;
  while (curve.At(high) < power && high < 100) {
    low = high;
    high *= 2;
  }
  while (high - low > kAccuracy) {
    const double middle = (low + high) / 2;
    (curve.At(middle) < power ? low : high) = middle;
  }
  return high;
}

}  // namespace borescope::internal
