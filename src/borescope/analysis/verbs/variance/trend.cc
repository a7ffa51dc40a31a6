#include "borescope/analysis/verbs/variance/trend.h"

#include <algorithm>
#include <cmath>

#include "borescope/analysis/measures/time/quantiles.h"
#include "borescope/analysis/verbs/variance/covariance.h"
#include "borescope/base/statistics/quantile.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostPoints = 512;
constexpr size_t kMostLag = 256;
constexpr double kLeastCorrelation = 0.5;
constexpr double kNinetyPercent = 1.6448536269514722;  // of a normal distribution, two-sided

struct Point {
  double number = 0;
  double length = 0;
};

// The step with the median length of each group of neighbours; its number is that of the middle.
std::vector<Point> PointsOf(const std::vector<MatrixStep>& steps) {
  const size_t groups = std::min(steps.size(), kMostPoints);
  std::vector<Point> points;
  for (size_t group = 0; group < groups; ++group) {
    const size_t begin = group * steps.size() / groups;
    const size_t end = (group + 1) * steps.size() / groups;
    std::vector<int64_t> lengths;
    for (size_t i = begin; i < end; ++i) {
      lengths.push_back(steps[i].length_ns);
    }
    const size_t middle = begin + (end - begin - 1) / 2;
    points.push_back(
        {static_cast<double>(steps[middle].number), static_cast<double>(LowerMedian(lengths))});
  }
  return points;
}

std::vector<double> SlopesOf(const std::vector<Point>& points) {
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (size_t i = 0; i < points.size(); ++i) {
    CheckStopAt(i);
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;
      if (run > 0) {  // not where numbers are so large that they are equal as such
        slopes.push_back((points[j].length - points[i].length) / run);
      }
    }
  }
  std::sort(slopes.begin(), slopes.end());
  return slopes;
}

}  // namespace

std::optional<Trend> TrendOf(const std::vector<MatrixStep>& steps) {
  if (steps.size() < kStepsForShares) {
    return std::nullopt;
  }
  const std::vector<Point> points = PointsOf(steps);
  const std::vector<double> slopes = SlopesOf(points);
  if (slopes.empty()) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(points.size());
  const auto pairs = static_cast<double>(slopes.size());
  const double width = kNinetyPercent * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const double last = pairs - 1;
  const double low = std::clamp(std::floor((pairs - width) / 2) - 1, 0.0, last);
  const double high = std::clamp(std::ceil((pairs + width) / 2), 0.0, last);
  return Trend{MedianOfSorted(slopes), slopes[static_cast<size_t>(low)],
               slopes[static_cast<size_t>(high)]};
}

std::optional<Period> PeriodOf(const std::vector<MatrixStep>& steps, double slope) {
  const size_t last = std::min(steps.size() / 3, kMostLag);
  std::vector<double> rest;
  double sum = 0;
  for (const MatrixStep& step : steps) {
    const double run = static_cast<double>(step.number) - static_cast<double>(steps[0].number);
    rest.push_back(static_cast<double>(step.length_ns) - slope * run);
    sum += rest.back();
  }
  double squares = 0;
  for (double& value : rest) {
    value -= sum / static_cast<double>(rest.size());
    squares += value * value;
  }
  if (last < 2 || squares <= 0) {
    return std::nullopt;
  }
  std::vector<double> correlation;  // by lag
  for (size_t lag = 0; lag <= last + 1; ++lag) {
    double products = 0;
    for (size_t i = lag; i < rest.size(); ++i) {
      CheckStopAt(i);
      products += rest[i] * rest[i - lag];
    }
    correlation.push_back(products / squares);
  }
  const auto best = std::max_element(correlation.begin() + 2,
                                     correlation.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  const bool is_peak = *best > *(best - 1) && *best > *(best + 1);
  if (*best <= kLeastCorrelation || !is_peak) {
    return std::nullopt;
  }
  return Period{best - correlation.begin(), *best};
}

}  // namespace borescope::internal
