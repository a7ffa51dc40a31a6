// The order of a spine: by track, then by start; computed once, when a trace is finished.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "borescope/base/column_data.h"
#include "borescope/base/parallel.h"
#include "borescope/base/sort_runs.h"

namespace borescope::internal {

// Row numbers grouped by track. `first` has one entry per track and one past the last.
struct TrackOrder {
  ColumnData<uint32_t> rows;
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
  order.rows.ResizeForOverwrite(row_count);
  for (uint32_t row = 0; row < row_count; ++row) {
    order.rows[next[track_of(row)]++] = row;
  }
  ParallelFor(tracks, threads, [&](size_t track) {
    SortRuns(std::span<uint32_t>(order.rows.begin(), order.rows.end())
                 .subspan(order.first[track], order.first[track + 1] - order.first[track]),
             less);
  });
  return order;
}

}  // namespace borescope::internal
