// Sorting of profiler output: a few consecutive sorted runs, one for each buffer or track.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace borescope::internal {

// Stable sort for data that is a concatenation of a few sorted runs: finds the runs and merges
// neighbours until one is left. O(n) if already sorted, else O(n log runs).
template <class T, class Less>
void SortRuns(std::span<T> items, const Less& less) {
  std::vector<size_t> ends;
  for (size_t i = 1; i < items.size(); ++i) {
    if (less(items[i], items[i - 1])) {
      ends.push_back(i);
    }
  }
  if (ends.empty()) {
    return;
  }
  if (ends.size() > items.size() / 8) {  // not enough order to use
    std::stable_sort(items.begin(), items.end(), less);
    return;
  }
  ends.push_back(items.size());
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    size_t begin = 0;
    for (size_t i = 0; i + 1 < ends.size(); i += 2) {
      std::inplace_merge(items.data() + begin, items.data() + ends[i], items.data() + ends[i + 1],
                         less);
      begin = ends[i + 1];
      merged.push_back(begin);
    }
    if (ends.size() % 2 == 1) {
      merged.push_back(ends.back());
    }
    ends.swap(merged);
  }
}

}  // namespace borescope::internal
