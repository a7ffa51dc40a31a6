// Which event of a kind is around a call in time, whatever else crosses it.
#pragma once

#include <algorithm>
#include <vector>

#include "borescope/index/call_tree.h"

namespace borescope::internal {

// The events of a track that are open, outer first, none ending after the one before it: operators,
// or annotations. One that ends before an event inside it is dropped: while the inner one is open
// it covers the same calls, and later calls start after both. Rows are given in their order. The
// call tree does not have those that another event outlives, such as a frame that began in one.
class OpenSpans {
 public:
  explicit OpenSpans(const HostEvents& host) : host_(host) {}

  void Open(HostId id) {
    CloseBefore(id);
    while (!open_.empty() && host_.end_ns(open_.back()) < host_.end_ns(id)) {
      open_.pop_back();
    }
    open_.push_back(id);
  }

  // The innermost one whose time covers a call.
  HostId Around(HostId call) {
    CloseBefore(call);
    if (open_.empty() || Covers(host_, open_.back(), call)) {
      return open_.empty() ? HostId{} : open_.back();
    }
    const auto past = std::partition_point(open_.begin(), open_.end(),
                                           [&](HostId open) { return Covers(host_, open, call); });
    return past == open_.begin() ? HostId{} : *std::prev(past);
  }

 private:
  void CloseBefore(HostId next) {
    if (!open_.empty() && host_.track[open_.back().value] != host_.track[next.value]) {
      open_.clear();
    }
    while (!open_.empty() && host_.end_ns(open_.back()) < host_.ts_ns[next.value]) {
      open_.pop_back();
    }
  }

  const HostEvents& host_;
  std::vector<HostId> open_;
};

}  // namespace borescope::internal
