#include "borescope/ingest/async_ranges.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace borescope::internal {

void AsyncRanges::Append(const AsyncRanges& more, size_t first_row) {
  edges_.reserve(edges_.size() + more.edges_.size());
  for (const Half& half : more.edges_) {
    edges_.push_back(half);
    edges_.back().host_row += half.host_row == kNoRow ? 0 : first_row;
  }
}

void AsyncRanges::Close(TraceBuilder& builder) const {
  std::vector<size_t> order(edges_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Edge& first = edges_[a].edge;
    const Edge& second = edges_[b].edge;
    return std::tie(first.key, first.ts_ns, first.byte) <
           std::tie(second.key, second.ts_ns, second.byte);
  });
  const auto count_lone = [&](const Half& half) {
    builder.diagnostics().Count(
        half.host_row == kNoRow ? Diag::kDanglingReference : Diag::kMissingDuration, half.edge.byte,
        half.edge.key);
  };
  std::vector<const Half*> open;  // all of one key
  for (const size_t i : order) {
    const Half& half = edges_[i];
    if (!open.empty() && open.back()->edge.key != half.edge.key) {
      std::for_each(open.begin(), open.end(), [&](const Half* begin) { count_lone(*begin); });
      open.clear();
    }
    if (half.host_row != kNoRow) {
      open.push_back(&half);
    } else if (open.empty()) {
      count_lone(half);
    } else {
      builder.SetHostDuration(open.back()->host_row, half.edge.ts_ns - open.back()->edge.ts_ns);
      open.pop_back();
    }
  }
  std::for_each(open.begin(), open.end(), [&](const Half* begin) { count_lone(*begin); });
}

}  // namespace borescope::internal
