#include "borescope/check/statistics/hodges_lehmann.h"

#include <algorithm>

#include "borescope/base/statistics/quantile.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
