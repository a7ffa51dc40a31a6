#include "borescope/check/statistics/student.h"

#include <cmath>
#include <numeric>

namespace borescope::internal {
namespace {

// The continued fraction of the incomplete beta function, by the method of Lentz (Numerical
// Recipes, 6.4).
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 500;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int i = 1; i <= kMostTerms; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < 1e-14) {
      break;
    }
  }
  return result;
}

// The regularised incomplete beta function.
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0 || x >= 1) {
    return x <= 0 ? 0 : 1;
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * BetaFraction(a, b, x) / a
                                   : 1 - front * BetaFraction(b, a, 1 - x) / b;
}

}  // namespace

double StudentTail(double t, double df) {
  const double both = IncompleteBeta(df / 2, 0.5, df / (df + t * t));
  return t >= 0 ? both / 2 : 1 - both / 2;
}

double StudentLimit(double tail, double df) {
  double low = -1e6;
  double high = 1e6;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (StudentTail(middle, df) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

RunSpread PooledSpread(std::span<const std::vector<double>> groups) {
  RunSpread spread;
  double squares = 0;
  for (const std::vector<double>& group : groups) {
    if (group.size() < 2) {
      continue;
    }
    const auto runs = static_cast<double>(group.size());
    const double mean = std::accumulate(group.begin(), group.end(), 0.0) / runs;
    for (const double value : group) {
      squares += (value - mean) * (value - mean);
    }
    spread.df += static_cast<int64_t>(group.size()) - 1;
  }
  spread.deviation = spread.df == 0 ? 0 : std::sqrt(squares / static_cast<double>(spread.df));
  return spread;
}

}  // namespace borescope::internal
