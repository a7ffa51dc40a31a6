// The order of a spine: by track, then by start; found once, when a trace is finished.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "borescope/base/parallel.h"

namespace borescope {

// Stable sort for data that is a concatenation of a few sorted runs, as every profiler writes its
// buffers: finds the runs and merges neighbours until one is left. O(n) when already sorted.
template <class Less>
void SortRuns(std::span<uint32_t> rows, const Less& less) {
  std::vector<size_t> ends;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (less(rows[i], rows[i - 1])) {
      ends.push_back(i);
    }
  }
  if (ends.empty()) {
    return;
  }
  if (ends.size() > rows.size() / 8) {  // no runs worth the name
    std::stable_sort(rows.begin(), rows.end(), less);
    return;
  }
  ends.push_back(rows.size());
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    size_t begin = 0;
    for (size_t i = 0; i + 1 < ends.size(); i += 2) {
      std::inplace_merge(rows.data() + begin, rows.data() + ends[i], rows.data() + ends[i + 1],
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

// Row numbers grouped by track. `first` has one entry per track and one past the last.
struct TrackOrder {
  std::vector<uint32_t> rows;
  std::vector<uint32_t> first;
};

// The order (track, less, source order). `track_of(row)` is a number below `tracks`.
template <class TrackOf, class Less>
TrackOrder OrderByTrack(size_t row_count, size_t tracks, const TrackOf& track_of, const Less& less,
                        int threads) {
  TrackOrder order;
  order.first.assign(tracks + 1, 0);
  for (uint32_t row = 0; row < row_count; ++row) {
    ++order.first[track_of(row) + 1];
  }
  std::partial_sum(order.first.begin(), order.first.end(), order.first.begin());
  std::vector<uint32_t> next(order.first.begin(), order.first.end() - 1);
  order.rows.resize(row_count);
  for (uint32_t row = 0; row < row_count; ++row) {
    order.rows[next[track_of(row)]++] = row;
  }
  ParallelFor(tracks, threads, [&](size_t track) {
    SortRuns(std::span(order.rows)
                 .subspan(order.first[track], order.first[track + 1] - order.first[track]),
             less);
  });
  return order;
}

}  // namespace borescope
