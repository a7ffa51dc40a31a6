// Sorting of profiler output: a few consecutive sorted runs, one for each buffer or track.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

// `less` with a look at the stop, as sorting millions of rows takes long.
template <class Less>
class StoppableLess {
 public:
  StoppableLess(const Less& less, size_t& calls) : less_(&less), calls_(&calls) {}

  template <class T>
  bool operator()(const T& a, const T& b) const {
    CheckStopAt(++*calls_);
    return (*less_)(a, b);
  }

 private:
  const Less* less_;
  size_t* calls_;
};

// Stable sort for data that is a concatenation of a few sorted runs: finds the runs and merges
// neighbours until one is left. O(n) if already sorted, else O(n log runs).
template <class T, class Less>
void SortRuns(std::span<T> items, const Less& order) {
  size_t calls = 0;
  const StoppableLess less(order, calls);
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

// The same by up to `threads` threads, if there are enough items for these: pieces are sorted, and
// neighbours merged, half as many each time.
template <class T, class Less>
void SortRuns(std::span<T> items, const Less& order, int threads) {
  constexpr size_t kFewest = size_t{1} << 16;  // worth a thread
  const size_t most = std::min(items.size() / kFewest, static_cast<size_t>(std::max(threads, 1)));
  const size_t pieces = std::bit_floor(std::max<size_t>(most, 1));
  const auto end_of = [&](size_t piece) { return items.size() / pieces * piece; };
  const auto part = [&](size_t first, size_t end) {
    const size_t begin = end_of(first);
    return items.subspan(begin, (end == pieces ? items.size() : end_of(end)) - begin);
  };
  ParallelFor(pieces, threads, [&](size_t i) { SortRuns(part(i, i + 1), order); });
  for (size_t width = 1; width < pieces; width *= 2) {
    ParallelFor(pieces / width / 2, threads, [&](size_t i) {
      const std::span<T> both = part(2 * i * width, 2 * (i + 1) * width);
      size_t calls = 0;
      const auto middle = both.begin() + std::ssize(part(2 * i * width, (2 * i + 1) * width));
      std::inplace_merge(both.begin(), middle, both.end(), StoppableLess(order, calls));
    });
  }
}

}  // namespace borescope::internal
