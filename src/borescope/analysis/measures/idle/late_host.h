// What the host did while devices waited for its next launch: the time of the launching thread,
// each instant of it explained as in host_time.h. The parts of a time add up to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

// What a thread of the host mostly did in a time: the innermost event that fills at least half of
// it, unless it is only a step; else the activity (host_time.h) that takes the largest part, unless
// an even larger part is unknown.

class ThreadHistory;

struct MainActivity {
  HostActivity activity = HostActivity::kUnknown;  // kUnknown: nothing is known
  StringId name;                                   // of the call, function or event
  StringId caller;  // of a call with a recorded stack: the function that made it
  StringId op;      // the innermost operator around for at least half of the time
  int64_t ns = 0;   // how much of the time this is
};

// For each of `times` of one thread. REQUIRES: `times` is sorted and disjoint, without empty ones;
// `period_ns` is from SamplingPeriod. O(n log n) for n rows of the thread.
std::vector<MainActivity> FindMainActivities(const RankView& view, TrackId track,
                                             std::span<const Interval> times, int64_t period_ns);

// The same for one time, from the prepared history of its thread.
MainActivity FindMainActivity(const RankView& view, const ThreadHistory& history, Interval time);

// Time in which the host was late, on its own clock.
struct LateTime {
  Interval time;
  HostId launch;  // the launch that was late; invalid: not recorded
};

class ThreadHistory;

struct LateHostSum {
  HostActivity activity;
  StringId name;       // of the call, function or event; invalid without one
  StringId caller;     // of a call with a recorded stack: the function that made it; else invalid
  StringId operation;  // the innermost operator around; invalid outside of any
  int64_t ns;
};

// Sums by activity, name, caller and operator, in the order of their first times. REQUIRES: times
// of one thread are disjoint. O(rows of the threads).
std::vector<LateHostSum> ExplainLateHost(const RankView& view, std::vector<LateTime> late);

// Words for what the host mostly did: "in `cudaMalloc`", "without a processor", "in `solve`
// (sampled)", "in `cudaMalloc`, called from `grow`". Empty unless one activity takes at least half
// of the time.
std::string MostlyWords(const Trace& trace, const std::vector<LateHostSum>& sums);

// The same for one time: the innermost event of its thread that fills at least half of it, else as
// above. Empty without a launch.
std::string MostlyWords(const RankView& view, const LateTime& late);

// The same for many times of few threads, as of many devices: for a thread that is asked about
// often a history is prepared, so that its rows are not walked each time.
class LateHost {
 public:
  // `view` must outlive it.
  explicit LateHost(const RankView& view);
  LateHost(const LateHost&) = delete;
  LateHost& operator=(const LateHost&) = delete;
  ~LateHost();

  // As ExplainLateHost and MostlyWords.
  std::vector<LateHostSum> Explain(std::vector<LateTime> late);
  std::string MostlyWords(const LateTime& late);
  // What the thread of each launch mostly did in its time; kUnknown without a launch. REQUIRES:
  // times of one thread are disjoint.
  std::vector<MainActivity> MainActivities(const std::vector<LateTime>& late);

 private:
  struct Thread {
    size_t walks = 0;
    std::unique_ptr<const ThreadHistory> history;
  };

  // nullptr for a thread that was asked about only a few times, and is walked again.
  const ThreadHistory* HistoryOf(TrackId track);
  HostId MainEventIn(const LateTime& late);
  // `places`: the indices in `late` of the times of a thread, by time.
  void ExplainThread(TrackId track, const std::vector<LateTime>& late,
                     const std::vector<size_t>& places, std::vector<MainActivity>& found);

  const RankView& view_;
  const int64_t period_ns_;
  std::map<uint32_t, Thread> threads_;
};

}  // namespace borescope::internal
