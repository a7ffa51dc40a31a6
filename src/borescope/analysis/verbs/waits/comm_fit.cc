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

std::optional<double> SpreadOf(std::span<const SizedTime> times, const CommFit& fit) {
  std::vector<double> distances;
  for (const SizedTime& time : times) {
    const std::optional<double> expected = fit.ExpectedNs(time.bytes);
    if (!expected.has_value()) continue;
    distances.push_back(std::abs(static_cast<double>(time.ns) / *expected - 1));
  }
  if (distances.empty()) return std::nullopt;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return 1.4826 * *middle;
}

// By size the same quantile as of the line. REQUIRES: sorted by size and time.
std::map<int64_t, int64_t> TimesOfSizes(std::span<const SizedTime> sorted) {
  std::map<int64_t, int64_t> ns_of_size;
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].bytes == sorted[begin].bytes) ++end;
    const auto below = static_cast<size_t>(kQuantile * static_cast<double>(end - begin - 1));
    if (end - begin > 1) ns_of_size.emplace(sorted[begin].bytes, sorted[begin + below].ns);
    begin = end;
  }
  return ns_of_size;
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

std::optional<double> CommFit::ExpectedNs(int64_t bytes) const {
  if (alpha_ns.has_value()) return *alpha_ns + static_cast<double>(bytes) * ns_per_byte;
  const auto found = ns_of_size.find(bytes);
  if (found == ns_of_size.end()) return std::nullopt;
  return static_cast<double>(found->second);
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
    fit.ns_of_size = TimesOfSizes(times);
  }
  fit.spread = SpreadOf(times, fit);
  return fit;
}

}  // namespace borescope::internal
