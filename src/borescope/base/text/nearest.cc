#include "borescope/base/text/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace borescope::internal {
namespace {

// Letters changed, added, left out or swapped with the next one.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last.back();
}

}  // namespace

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const bool begins = word.size() >= 2 && candidate.starts_with(word);
    const size_t distance = begins ? 1 : EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace borescope::internal
