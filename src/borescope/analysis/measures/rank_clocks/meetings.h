// Meetings: occasions on which several ranks are together, as each of them saw it on its own clock.
// All that is found out about the clocks of ranks (rank_clocks.h) follows from these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace borescope::internal {

// Times of a visit are within this of 0 (13 days), so that sums along chains of thousands of ranks
// fit into 64 bits: those of each rank are counted from one of its visits.
inline constexpr int64_t kLargestMeetingTime = int64_t{1} << 50;

// One rank in one meeting.
struct Visit {
  uint32_t rank = 0;  // its place among the ranks
  int64_t enter_ns = 0;
  int64_t leave_ns = 0;  // not before enter_ns
};

struct Meetings {
  size_t ranks = 0;
  std::vector<Visit> visits;      // those of a meeting together, by rank, each rank once
  std::vector<size_t> first{0};   // the first visit of each meeting; one past the last of all
  std::vector<char> all_entered;  // per meeting: 1 where none can leave before all have entered
  std::vector<uint32_t> group;    // per meeting: those of the same ranks, mostly, have one number

  size_t size() const { return first.size() - 1; }
  std::span<const Visit> Of(size_t meeting) const {
    return {visits.data() + first[meeting], first[meeting + 1] - first[meeting]};
  }
  // Ends the meeting whose visits were appended last.
  void Close(bool none_leaves_before_all_entered, uint32_t of_group) {
    group.push_back(of_group);
    first.push_back(visits.size());
    all_entered.push_back(none_leaves_before_all_entered ? 1 : 0);
  }
};

// Which visits are of which rank.
class VisitsByRank {
 public:
  struct Place {
    size_t meeting;
    size_t visit;
  };

  // O(visits log visits): those of a rank are ordered by the time at which it left.
  explicit VisitsByRank(const Meetings& meetings);

  std::span<const Place> Of(uint32_t rank) const {
    return {places_.data() + first_[rank], first_[rank + 1] - first_[rank]};
  }

 private:
  std::vector<Place> places_;
  std::vector<size_t> first_;
};

}  // namespace borescope::internal
