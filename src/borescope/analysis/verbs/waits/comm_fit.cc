#include "borescope/analysis/verbs/waits/comm_fit.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace borescope::internal {
namespace {

constexpr double kQuantile = 0.1;
constexpr size_t kLeastCalls = 12;
constexpr size_t kLeastSizes = 3;
constexpr int64_t kLeastSpan = 4;
constexpr int kRounds = 100;
constexpr double kGolden = 0.6180339887498949;

double WeightOf(const SizedTime& time) { return 1 / static_cast<double>(time.ns); }

// The best alpha for a rate: the weighted quantile of what is left, at least 0.
double BestAlpha(std::span<const SizedTime> times, double ns_per_byte) {
  std::vector<std::pair<double, double>> rests;  // with their weights
  double all = 0;
  for (const SizedTime& time : times) {
    rests.emplace_back(static_cast<double>(time.ns) - ns_per_byte * static_cast<double>(time.bytes),
                       WeightOf(time));
    all += rests.back().second;
  }
  std::sort(rests.begin(), rests.end());
  double below = 0;
  for (const auto& [rest, weight] : rests) {
    below += weight;
    if (below >= kQuantile * all) return std::max(0.0, rest);
  }
  return 0;
}

double LossOf(std::span<const SizedTime> times, double ns_per_byte) {
  return TransferLoss(times, BestAlpha(times, ns_per_byte), ns_per_byte);
}

// The loss is convex in the rate, as it is in both values.
double BestRate(std::span<const SizedTime> times) {
  double low = 0;
  double high = 0;
  for (const SizedTime& time : times) {
    high = std::max(high, static_cast<double>(time.ns) / static_cast<double>(time.bytes));
  }
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double left_loss = LossOf(times, left);
  double right_loss = LossOf(times, right);
  for (int i = 0; i < kRounds; ++i) {
    if (left_loss <= right_loss) {
      high = right;
      right = std::exchange(left, right - kGolden * (right - low));
      right_loss = std::exchange(left_loss, LossOf(times, left));
    } else {
      low = left;
      left = std::exchange(right, left + kGolden * (high - left));
      left_loss = std::exchange(right_loss, LossOf(times, right));
    }
  }
  return (low + high) / 2;
}

double SpreadOf(std::span<const SizedTime> times, const CommFit& fit) {
  std::vector<double> distances;
  for (const SizedTime& time : times) {
    const double expected = fit.ExpectedNs(time.bytes);
    distances.push_back(std::abs(static_cast<double>(time.ns) / expected - 1));
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return 1.4826 * *middle;
}

bool AreEnough(std::span<const SizedTime> sorted, const CommFit& fit) {
  return sorted.size() >= kLeastCalls && fit.sizes >= static_cast<int64_t>(kLeastSizes) &&
         sorted.back().bytes / kLeastSpan >= sorted.front().bytes;
}

}  // namespace

double TransferLoss(std::span<const SizedTime> times, double alpha_ns, double ns_per_byte) {
  double loss = 0;
  for (const SizedTime& time : times) {
    const double above =
        static_cast<double>(time.ns) - alpha_ns - ns_per_byte * static_cast<double>(time.bytes);
    loss += WeightOf(time) * (above > 0 ? kQuantile * above : (kQuantile - 1) * above);
  }
  return loss;
}

CommFit FitTransfer(std::vector<SizedTime> times) {
  CommFit fit;
  if (times.empty()) return fit;
  std::sort(times.begin(), times.end(), [](const SizedTime& a, const SizedTime& b) {
    return std::tie(a.bytes, a.ns) < std::tie(b.bytes, b.ns);
  });
  fit.calls = static_cast<int64_t>(times.size());
  fit.sizes = 1;
  for (size_t i = 1; i < times.size(); ++i) fit.sizes += times[i].bytes != times[i - 1].bytes;
  if (AreEnough(times, fit)) {
    fit.ns_per_byte = BestRate(times);
    fit.alpha_ns = BestAlpha(times, fit.ns_per_byte);
  }
  if (!fit.is_known()) {
    fit.alpha_ns.reset();
    const auto rate_of = [](const SizedTime& time) {
      return static_cast<double>(time.ns) / static_cast<double>(time.bytes);
    };
    fit.ns_per_byte = rate_of(*std::min_element(
        times.begin(), times.end(),
        [&](const SizedTime& a, const SizedTime& b) { return rate_of(a) < rate_of(b); }));
  }
  fit.spread = SpreadOf(times, fit);
  return fit;
}

}  // namespace borescope::internal
