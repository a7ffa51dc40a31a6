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
  const auto rows_of = [&](size_t track) {
    const uint32_t first = order.first[track];
    return std::span(order.rows).subspan(first, order.first[track + 1] - first);
  };
  const auto is_long = [&](size_t track) { return rows_of(track).size() > row_count / 2; };
  ParallelFor(tracks, threads, [&](size_t track) {
    if (!is_long(track)) {
      SortRuns(rows_of(track), less);
    }
  });
  for (size_t track = 0; track < tracks; ++track) {
    if (is_long(track)) {  // no more than one
      SortRuns(rows_of(track), less, threads);
    }
  }
  return order;
}

}  // namespace borescope::internal
