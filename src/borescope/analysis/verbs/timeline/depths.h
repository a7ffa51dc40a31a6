// Rows of a track: events that overlap are drawn below each other, those inside of others deeper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace borescope::internal {

// Finds the depth of one event after the other. No two of one depth overlap, and an event is deeper
// than those that cover it; where it only overlaps others, it takes the first depth that is free.
class DepthFinder {
 public:
  // REQUIRES: events come by begin, longer ones first; begin_ns <= end_ns. O(1), but for a bounded
  // search where events are not nested.
  uint32_t Place(int64_t begin_ns, int64_t end_ns) {
    while (open_ > 0 && ends_[open_ - 1] <= begin_ns) {
      --open_;
    }
    const bool is_nested = open_ == 0 || ends_[open_ - 1] >= end_ns;
    const size_t depth = is_nested ? open_ : FirstFree(begin_ns, end_ns);
    if (depth == ends_.size()) {
      ends_.push_back(end_ns);
    } else {
      ends_[depth] = end_ns;
    }
    open_ = depth < open_ ? open_ : depth + 1;
    return static_cast<uint32_t>(depth);
  }

  size_t depths() const { return ends_.size(); }

 private:
  // How far it searches outward: of deeper tangles events take a depth of their own.
  static constexpr size_t kMostSearched = 256;

  // The first depth that is free inside of the innermost event that covers this one.
  size_t FirstFree(int64_t begin_ns, int64_t end_ns) const {
    size_t free = open_;
    const size_t last = open_ < kMostSearched ? 0 : open_ - kMostSearched;
    for (size_t depth = open_; depth-- > last;) {
      if (ends_[depth] <= begin_ns) {
        free = depth;
      } else if (ends_[depth] >= end_ns) {
        break;
      }
    }
    return free;
  }

  std::vector<int64_t> ends_;  // per depth, of the last event
  size_t open_ = 0;            // depths from here on are free
};

}  // namespace borescope::internal
