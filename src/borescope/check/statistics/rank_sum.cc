#include "borescope/check/statistics/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace borescope::internal {
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

// By sum: in how many ways `chosen` of the ranks add up to it. Doubles hold these numbers to a
// relative 1e-16.
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

// Of ranks drawn without replacement, with half a step for continuity.
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

// The same of many runs, by the normal approximation.
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
