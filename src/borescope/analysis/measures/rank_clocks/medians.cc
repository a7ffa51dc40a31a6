#include "borescope/analysis/measures/rank_clocks/medians.h"

#include <algorithm>
#include <cstdlib>

namespace borescope::internal {

int64_t MedianOf(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  const int64_t below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

double RobustSigma(std::vector<int64_t> values) {
  constexpr double kSigmaOfMedianDistance = 1.4826;
  if (values.empty()) return 0;
  const int64_t median = MedianOf(values);
  for (int64_t& value : values) value = std::abs(value - median);
  return kSigmaOfMedianDistance * static_cast<double>(MedianOf(values));
}

}  // namespace borescope::internal
