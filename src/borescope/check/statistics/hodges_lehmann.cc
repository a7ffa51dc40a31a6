#include "borescope/check/statistics/hodges_lehmann.h"

#include <algorithm>

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

double MedianOfSorted(std::span<const double> sorted) {
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return MedianOfSorted(values);
}

double ShiftBetween(std::span<const double> base, std::span<const double> test) {
  return MedianOfSorted(SortedDifferences(base, test));
}

}  // namespace borescope::internal
