// What a stream waits for and how many launches wait for it, kept up to date work by work, so that
// a run of any length needs the memory of what is under way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace borescope::scenario {

inline constexpr int64_t kKernelWaitNs = 30'000;  // a shorter gap after a launch in time
inline constexpr int64_t kQueueLimit = 4;         // a queue of this length blocks

struct IdleSum {
  int64_t head_ns = 0;  // before the first work
  int64_t host_wait_ns = 0;
  int64_t kernel_wait_ns = 0;
  int64_t other_ns = 0;
  int64_t unlinked_ns = 0;
  int64_t tail_ns = 0;  // after the last
};

// The gaps of one stream. REQUIRES: work is added in order of its begin; then Finish, once.
class IdleTruth {
 public:
  static constexpr int64_t kNoLaunch = INT64_MAX;

  void Add(int64_t begin_ns, int64_t end_ns, int64_t launch_ns);
  IdleSum Finish(int64_t trace_begin_ns, int64_t trace_end_ns);

 private:
  static constexpr int64_t kNoGroup = INT64_MIN;

  // Closes the gap before work that begins at one time: of several pieces, the first launch counts.
  // Work without length ends a gap, too.
  void CloseGroup();

  IdleSum sum_;
  bool has_work_ = false;
  int64_t first_ns_ = 0;
  int64_t covered_ns_ = 0;
  int64_t group_begin_ns_ = kNoGroup;
  int64_t group_end_ns_ = kNoGroup;
  int64_t group_launch_ns_ = kNoLaunch;
};

// The launches of one stream whose first work has not begun.
class QueueTruth {
 public:
  // Counts only after Advance. A launch at the same time as work counts before it, and one that
  // comes after its own work begins with that.
  void Add(int64_t launch_ns, int64_t first_work_ns) {
    pending_.push_back({std::min(launch_ns, first_work_ns), false});
    pending_.push_back({first_work_ns, true});
  }

  // REQUIRES: nothing added later lies before the horizon.
  void Advance(int64_t horizon_ns);
  void Finish() { Advance(INT64_MAX); }

  int64_t samples() const { return samples_; }
  int64_t length_sum() const { return length_sum_; }
  int64_t min() const { return min_; }
  int64_t max() const { return max_; }
  int64_t blocked_ns() const { return blocked_ns_; }

 private:
  struct Change {
    int64_t ts_ns;
    bool is_work;
  };

  std::vector<Change> pending_;
  int64_t length_ = 0;
  int64_t since_ns_ = 0;  // of the last change
  int64_t samples_ = 0;
  int64_t length_sum_ = 0;
  int64_t min_ = INT64_MAX;
  int64_t max_ = 0;
  int64_t blocked_ns_ = 0;
};

}  // namespace borescope::scenario
