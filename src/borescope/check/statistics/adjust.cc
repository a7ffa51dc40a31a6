#include "borescope/check/statistics/adjust.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

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

}  // namespace borescope::internal
