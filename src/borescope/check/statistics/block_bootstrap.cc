#include "borescope/check/statistics/block_bootstrap.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "borescope/base/statistics/quantile.h"
#include "borescope/base/statistics/split_mix.h"

namespace borescope::internal {
namespace {

constexpr size_t kFewestSteps = 5;
constexpr size_t kResamples = 1000;

constexpr uint64_t kSeed = 0x5eed;

// From 0 to `below` - 1; the bias is below 2^-40 for what is drawn here.
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
  if (base.size() < kFewestSteps || test.size() < kFewestSteps) {
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

}  // namespace borescope::internal
