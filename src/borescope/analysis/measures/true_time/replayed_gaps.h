// The gaps of devices in a replay, divided as in measures/idle by when the work that ends them was
// launched: where the recording costs less, gaps close, and the latency that was in them is gone
// with them. Of two replays the difference says which idle time the cost of recording was.
// Internal to true_time/.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/replay/replay_graph.h"

namespace borescope::internal {

// Idle time of devices, by what it was spent on.
struct GapTimes {
  int64_t long_late_ns = 0;   // in gaps in which the host is late by more than a launch takes
  int64_t short_late_ns = 0;  // in others: work was not launched yet
  int64_t latency_ns = 0;     // it was launched, and had not begun

  int64_t all_ns() const { return long_late_ns + short_late_ns + latency_ns; }
};

class ReplayedGaps {
 public:
  // `base` are the times per place of the replay that takes nothing off; it decides which gaps are
  // long. `view` and `graph` must outlive this. O(work log work).
  ReplayedGaps(const RankView& view, const ReplayGraph& graph, const std::vector<int64_t>& base);

  // By how much gaps are shorter in another replay of the graph. Parts may be negative, where the
  // host is late for other work. O(work log work).
  GapTimes ShorterIn(const std::vector<int64_t>& times) const;

 private:
  struct Gap {
    int64_t late_ns = 0;
    int64_t latency_ns = 0;
  };

  std::vector<Gap> GapsIn(const std::vector<int64_t>& times) const;

  const ReplayGraph& graph_;
  std::vector<std::vector<DeviceId>> of_devices_;  // work
  std::vector<Place> launch_;                      // per device row; kNoPlace: none that is known
  std::vector<Gap> base_;                          // per device row: before it
};

}  // namespace borescope::internal
