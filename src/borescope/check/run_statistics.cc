#include "borescope/check/run_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "borescope/base/statistics/statistics.h"

namespace borescope::internal {

namespace {

std::vector<size_t> FromSmallToLarge(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

std::vector<double> FalseDiscoveryRates(std::span<const double> p) {
  const std::vector<size_t> order = FromSmallToLarge(p);
  std::vector<double> rates(p.size());
  double smallest = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const double rate = p[order[i]] * static_cast<double>(p.size()) / static_cast<double>(i + 1);
    smallest = std::min(smallest, rate);
    rates[order[i]] = smallest;
  }
  return rates;
}

std::vector<double> HolmAdjusted(std::span<const double> p) {
  const std::vector<size_t> order = FromSmallToLarge(p);
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, p[order[i]] * static_cast<double>(p.size() - i));
    adjusted[order[i]] = std::min(largest, 1.0);
  }
  return adjusted;
}

namespace {

constexpr size_t kFewestStepsOfRun = 5;
constexpr size_t kResamples = 1000;

constexpr uint64_t kSeed = 0x5eed;

// A number from 0 to `below` - 1; the bias is below 2^-40 for the numbers drawn here.
size_t DrawBelow(size_t below, SplitMix64& draws) {
  return static_cast<size_t>(draws.Next() % below);
}

double Autocovariance(std::span<const double> values, double mean, size_t lag) {
  double sum = 0;
  for (size_t i = lag; i < values.size(); ++i) {
    sum += (values[i] - mean) * (values[i - lag] - mean);
  }
  return sum;
}

double MedianOfResample(std::span<const double> steps, size_t block, SplitMix64& draws) {
  std::vector<double> drawn;
  drawn.reserve(steps.size() + block);
  while (drawn.size() < steps.size()) {
    const std::span<const double> piece =
        steps.subspan(DrawBelow(steps.size() - block + 1, draws), block);
    drawn.insert(drawn.end(), piece.begin(), piece.end());
  }
  drawn.resize(steps.size());
  return MedianOf(std::move(drawn));
}

}  // namespace

size_t BlockLength(std::span<const double> steps) {
  const size_t longest = std::max<size_t>(steps.size() / 2, 1);
  const double mean =
      std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
  const double variance = Autocovariance(steps, mean, 0);
  size_t lag = std::min<size_t>(2, longest);
  while (variance > 0 && lag < longest && Autocovariance(steps, mean, lag) >= 0.1 * variance) {
    ++lag;
  }
  return lag;
}

std::optional<ShiftInterval> ShiftWithinRuns(std::span<const double> base,
                                             std::span<const double> test, double alpha) {
  if (base.size() < kFewestStepsOfRun || test.size() < kFewestStepsOfRun) {
    return std::nullopt;
  }
  SplitMix64 draws(kSeed);
  const size_t base_block = BlockLength(base);
  const size_t test_block = BlockLength(test);
  std::vector<double> shifts;
  shifts.reserve(kResamples);
  for (size_t i = 0; i < kResamples; ++i) {
    const double earlier = MedianOfResample(base, base_block, draws);
    shifts.push_back(MedianOfResample(test, test_block, draws) - earlier);
  }
  std::sort(shifts.begin(), shifts.end());
  const auto outside = static_cast<size_t>(alpha * static_cast<double>(kResamples));
  return ShiftInterval{shifts[outside], shifts[kResamples - 1 - outside]};
}

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

namespace {

// The accuracy of shifts, which are printed to a tenth of a percent.
constexpr double kAccuracy = 1e-5;

double NormalTailAbove(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double DeviationOfShift(const PlannedTest& test) {
  return test.spread.deviation * std::sqrt(1 / test.base_runs + 1 / test.test_runs);
}

// The power for different shifts; parts that do not depend on the shift are computed once.
class PowerCurve {
 public:
  // Integrates over the estimates of a deviation with these degrees of freedom: their density, up
  // to a factor, at `ratio` times the true deviation.
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
    double needed;  // the estimate from which on a change is called real
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

std::vector<double> SortedDifferences(std::span<const double> base, std::span<const double> test) {
  std::vector<double> differences;
  differences.reserve(base.size() * test.size());
  for (const double later : test) {
    for (const double earlier : base) {
      differences.push_back(later - earlier);
    }
  }
  std::sort(differences.begin(), differences.end());
  return differences;
}

double ShiftBetween(std::span<const double> base, std::span<const double> test) {
  return MedianOfSorted(SortedDifferences(base, test));
}

namespace {

// Twice the mean rank of each value, so that ties stay whole numbers.
std::vector<size_t> DoubledRanks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<size_t> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) {
      ++end;
    }
    for (size_t i = first; i < end; ++i) {
      ranks[order[i]] = first + end + 1;
    }
    first = end;
  }
  return ranks;
}

// By sum: the number of ways in which `chosen` of the ranks add up to it, as doubles with a
// relative error of 1e-16.
std::vector<double> WaysBySum(std::span<const size_t> ranks, size_t chosen) {
  const size_t largest = std::accumulate(ranks.begin(), ranks.end(), size_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(largest + 1));
  ways[0][0] = 1;
  for (const size_t rank : ranks) {
    for (size_t taken = chosen; taken > 0; --taken) {
      for (size_t sum = largest; sum >= rank; --sum) {
        ways[taken][sum] += ways[taken - 1][sum - rank];
      }
    }
  }
  return std::move(ways[chosen]);
}

double ExactTail(std::span<const size_t> ranks, size_t tests, size_t observed) {
  const std::vector<double> ways = WaysBySum(ranks, tests);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const auto from = ways.begin() + static_cast<std::ptrdiff_t>(observed);
  return std::accumulate(from, ways.end(), 0.0) / all;
}

// The normal approximation for ranks drawn without replacement, with continuity correction.
double NormalTail(std::span<const size_t> ranks, size_t tests, size_t observed) {
  const auto all = static_cast<double>(ranks.size());
  const auto chosen = static_cast<double>(tests);
  const double mean = std::accumulate(ranks.begin(), ranks.end(), 0.0) / all;
  double squares = 0;
  for (const size_t rank : ranks) {
    squares += (static_cast<double>(rank) - mean) * (static_cast<double>(rank) - mean);
  }
  const double variance = chosen * (all - chosen) / (all * (all - 1)) * squares;
  if (variance <= 0) {
    return 1;
  }
  const double z = (static_cast<double>(observed) - 1 - chosen * mean) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0)) / 2;
}

// The number of ways to choose `chosen` of `all`.
double Choose(size_t all, size_t chosen) {
  double ways = 1;
  for (size_t i = 1; i <= std::min(chosen, all - chosen); ++i) {
    ways = ways * static_cast<double>(all - i + 1) / static_cast<double>(i);
  }
  return ways;
}

// The limit for many runs, by the normal approximation.
std::optional<RankLimit> LimitOfMany(size_t base_runs, size_t test_runs, double alpha) {
  const double pairs = static_cast<double>(base_runs) * static_cast<double>(test_runs);
  const double deviation = std::sqrt(pairs * static_cast<double>(base_runs + test_runs + 1) / 12);
  for (double c = std::floor(pairs / 2); c >= 0; --c) {
    const double level = std::erfc((pairs / 2 - c - 0.5) / deviation / std::sqrt(2.0)) / 2;
    if (level <= alpha) {
      return RankLimit{static_cast<size_t>(c), level};
    }
  }
  return std::nullopt;
}

}  // namespace

double RankSumP(std::span<const double> base, std::span<const double> test) {
  std::vector<double> all(test.begin(), test.end());
  all.insert(all.end(), base.begin(), base.end());
  const std::vector<size_t> ranks = DoubledRanks(all);
  const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(test.size());
  const size_t observed = std::accumulate(ranks.begin(), end, size_t{0});
  return all.size() <= kMostExactRuns ? ExactTail(ranks, test.size(), observed)
                                      : NormalTail(ranks, test.size(), observed);
}

double SmallestRankSumP(size_t base_runs, size_t test_runs) {
  return 1 / Choose(base_runs + test_runs, test_runs);
}

std::optional<RankLimit> RankLimitOf(size_t base_runs, size_t test_runs, double alpha) {
  if (base_runs + test_runs > kMostExactRuns) {
    return LimitOfMany(base_runs, test_runs, alpha);
  }
  std::vector<size_t> ranks(base_runs + test_runs);
  std::iota(ranks.begin(), ranks.end(), size_t{1});
  const std::vector<double> ways = WaysBySum(ranks, test_runs);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const size_t least = test_runs * (test_runs + 1) / 2;
  double below = 0;
  std::optional<RankLimit> limit;
  for (size_t u = 0; u <= base_runs * test_runs; ++u) {
    below += ways[least + u];
    if (below > alpha * all * (1 + 1e-12)) {
      break;
    }
    limit = RankLimit{u, below / all};
  }
  return limit;
}

size_t RunsNeeded(double alpha) {
  size_t runs = 1;
  while (runs < kMostExactRuns && SmallestRankSumP(runs, runs) > alpha * (1 + 1e-12)) {
    ++runs;
  }
  return runs;
}

}  // namespace borescope::internal
