// What a step takes without the profiler. Recording slows the host, and the device waits for it: a
// host-bound step takes 1.4 to 1.8 times as long under PyTorch's profiler. The host gets back what
// recording its events cost, at the pace that the recording itself shows (host_pace.h), and the
// recording is replayed. docs/how-it-works/true-time.md has rules, constants and their errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/replay/replay_graph.h"
#include "borescope/analysis/measures/replay/replay_model.h"

namespace borescope::internal {

// The pace of the host while it was recorded: how long the profiler and the dispatch of an operator
// take around each event, from the recording alone. How well: docs/how-it-works/true-time.md.

struct HostPace {
  // Medians: from the begin of an operator to that of its first child, and from the end of its last
  // child to its own, where that child is an operator, too.
  double first_ns = 0;
  double last_ns = 0;
  size_t first_pairs = 0;
  size_t last_pairs = 0;
  double launch_ns = 0;     // of calls that started device work, of those shorter than 100 us
  bool is_rounded = false;  // all times of the host are whole microseconds

  // What recording an operator costs, as estimated: missing without enough pairs.
  std::optional<double> operator_ns() const;
};

// Frames of Python are not looked at. O(rows of the host).
HostPace MeasurePace(const RankView& view);

// The gaps of devices in a replay, divided as in measures/idle by when the work that ends them was
// launched: where the recording costs less, gaps close, and the latency that was in them is gone
// with them. Of two replays the difference says which idle time the cost of recording was.
// Internal to true_time/.

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

enum class TrueTimeStatus : uint8_t {
  kCorrected,
  kSmall,          // recording costs less than 5 % of a step
  kNoPace,         // too few operators with children
  kOtherObserver,  // operators take so long that something else observes them, too
  kRefused,        // the replay does not represent the recording
  kNoSteps,        // fewer than two
};
std::string_view TrueTimeStatusName(TrueTimeStatus status);

// Of one device, or of a rank without any.
struct TrueTime {
  int64_t gpu = kMissing;
  int64_t steps = 0;
  int64_t recorded_ns = 0;  // the median length of a step, from completion to completion
  int64_t device_ns = 0;    // busy time of a step: no step is shorter
  // Where the status is kCorrected or kSmall; estimate_ns also only then.
  int64_t estimate_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;

  // Part of a step of that length in which the device idles.
  double IdleShareOf(int64_t step_ns) const;
};

struct TrueTimes {
  TrueTimeStatus status = TrueTimeStatus::kNoSteps;
  HostPace pace;
  double identity = 0;    // error of the replay that changes nothing
  bool is_given = false;  // by --plain-step: the limits are those of what was given
  // By how much the usual costs of recording have to be multiplied for the given step; missing
  // where that cannot be found out, or none was given.
  std::optional<double> factor;
  std::string fault;  // why the given step cannot be right; empty: it can
  // By how much all steps together are shorter, summed over the devices: at least, as estimated, at
  // most. Steps may differ, so that it is not what the middle one is shorter by.
  std::array<int64_t, 3> shorter_ns{};
  // By how much gaps of devices are shorter without the cost, as estimated and at most; all 0 where
  // nothing was taken off.
  GapTimes estimated_gaps;
  GapTimes most_gaps;
  std::vector<TrueTime> devices;

  bool has_estimates() const {
    return status == TrueTimeStatus::kCorrected || status == TrueTimeStatus::kSmall;
  }
};

// The events whose recording is taken off, and how much: see docs/how-it-works/true-time.md.
enum class CostLevel : uint8_t { kLeast, kEstimate, kMost };

// The lags of `model` with the cost of recording taken off the stretches of its threads.
// `factor`: of all costs. O(rows + dependencies).
ReplayLags LagsWithoutRecording(const RankView& view, const ReplayModel& model,
                                const HostPace& pace, CostLevel level, double factor = 1);

// Of one question it is found once. Any thread. O(rows log rows).
std::shared_ptr<const TrueTimes> SharedTrueTimes(const RankView& view, const Params& params);

// Table true_time: a row for each device of a rank with steps. Ranks are joined, not merged.
// kInvalidArgument where the step of --plain-step cannot be right, kMissingData without steps.
Result<Table> TrueTimeTable(const RankView& view, const Params& params);
Table EmptyTrueTimeTable();
// What recording cost where that is much, and of which idle time it is: a row for the rank, with
// `shorter_ns` (columns "least_ns", "estimate_ns", "most_ns") and GapTimes as estimated and at most
// ("long_late_ns", "short_late_ns", "latency_ns", and these with "most_" before).
Table CostOfGapsTable(const RankView& view, const TrueTimes& times);

// At most two times, and of whole recordings or steps.
Result<void> CheckTrueTimeParams(std::string_view verb, const Params& params);

// What scenarios change: the recording as it is, or, with --without-recording or --plain-step, with
// the cost of recording taken off (ReplayModel::doubt_ns is then there). Errors as
// SharedReplayModel; kMissingData where the cost is not known. Any thread.
std::shared_ptr<const Result<ReplayModel>> SharedScenarioModel(const RankView& view,
                                                               const Params& params);

}  // namespace borescope::internal
