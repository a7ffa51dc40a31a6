// Lanes: lines on which slices nest. Timelines draw a slice inside the one it begins in, so slices
// that overlap without nesting need lanes of their own.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace borescope::internal {

class Lanes {
 public:
  // The next slice, by (begin, longest first). Returns its lane: the one whose innermost open slice
  // it fits most tightly, else the first free one. Before that `close` is called for every slice
  // that ends by `begin_ns`, with its lane and its end, inner ones first. O(log lanes).
  template <class Close>
  uint32_t Open(int64_t begin_ns, int64_t end_ns, const Close& close) {
    CloseUpTo(begin_ns, close);
    const auto fitting = open_.lower_bound({end_ns, 0});
    uint32_t lane = 0;
    if (fitting != open_.end()) {
      lane = fitting->second;
      open_.erase(fitting);
    } else if (!free_.empty()) {
      lane = *free_.begin();
      free_.erase(free_.begin());
    } else {
      lane = static_cast<uint32_t>(ends_.size());
      ends_.emplace_back();
    }
    ends_[lane].push_back(end_ns);
    open_.insert({end_ns, lane});
    return lane;
  }

  // Closes every slice that ends by `ns`.
  template <class Close>
  void CloseUpTo(int64_t ts_ns, const Close& close) {
    while (!open_.empty() && open_.begin()->first <= ts_ns) {
      const auto [end_ns, lane] = *open_.begin();
      open_.erase(open_.begin());
      close(lane, end_ns);
      ends_[lane].pop_back();
      if (ends_[lane].empty()) {
        free_.insert(lane);
      } else {
        open_.insert({ends_[lane].back(), lane});
      }
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(ends_.size()); }

 private:
  std::vector<std::vector<int64_t>> ends_;       // by lane: of its open slices, outermost first
  std::set<std::pair<int64_t, uint32_t>> open_;  // innermost end and lane, where a slice is open
  std::set<uint32_t> free_;
};

}  // namespace borescope::internal
