// What a step takes without the profiler. Recording slows the host, and the device waits for it: a
// host-bound step takes 1.4 to 1.8 times as long under PyTorch's profiler. The cost of recording
// its events is taken off the host, by the pace that the recording itself shows, and the recording
// is replayed. docs/how-it-works/true-time.md has rules, constants and their errors.
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
// take around each event, measured from the recording alone. docs/how-it-works/true-time.md says
// how well.
struct HostPace {
  // Medians of the time from the begin of an operator to that of its first child, and from the end
  // of its last child to its own end, where that child is an operator too.
  double first_ns = 0;
  double last_ns = 0;
  size_t first_pairs = 0;
  size_t last_pairs = 0;
  double launch_ns = 0;     // of calls that started device work and are shorter than 100 us
  bool is_rounded = false;  // all times of the host are whole microseconds

  // The estimated cost of recording an operator; nullopt without enough pairs.
  std::optional<double> operator_ns() const;
};

// Ignores frames of Python. O(rows of the host).
HostPace MeasurePace(const RankView& view);

// The gaps of devices in a replay, divided as in measures/idle by when the work that ends them was
// launched. If recording costs less, gaps close, and the latency in them disappears too. The
// difference between two replays shows which idle time was caused by the cost of recording.
// Internal to true_time/.

// Idle time of devices, by what it was spent on.
struct GapTimes {
  int64_t long_late_ns = 0;   // in gaps in which the host is late by more than a launch takes
  int64_t short_late_ns = 0;  // in other gaps: work was not launched yet
  int64_t latency_ns = 0;     // work was launched, and had not begun

  int64_t all_ns() const { return long_late_ns + short_late_ns + latency_ns; }
};

class ReplayedGaps {
 public:
  // `base`: the times per place of the replay without changes, which decides which gaps are long.
  // `view` and `graph` must outlive this. O(work log work).
  ReplayedGaps(const RankView& view, const ReplayGraph& graph, const std::vector<int64_t>& base);

  // How much shorter gaps are in another replay of the graph. Parts may be negative, if the host is
  // then late for other work. O(work log work).
  GapTimes ShorterIn(const std::vector<int64_t>& times) const;

 private:
  struct Gap {
    int64_t late_ns = 0;
    int64_t latency_ns = 0;
  };

  std::vector<Gap> GapsIn(const std::vector<int64_t>& times) const;

  const ReplayGraph& graph_;
  std::vector<std::vector<DeviceId>> of_devices_;  // per device: its work
  std::vector<Place> launch_;                      // per device row; kNoPlace: unknown
  std::vector<Gap> base_;                          // per device row: the gap before it
};

enum class TrueTimeStatus : uint8_t {
  kCorrected,
  kSmall,          // recording costs less than 5 % of a step
  kNoPace,         // too few operators with children
  kOtherObserver,  // operators take so long that something else must observe them too
  kRefused,        // the replay does not represent the recording
  kNoSteps,        // fewer than two
};
std::string_view TrueTimeStatusName(TrueTimeStatus status);

// The true time of one device, or of a rank without devices.
struct TrueTime {
  int64_t gpu = kMissing;
  int64_t steps = 0;
  int64_t recorded_ns = 0;  // the median length of a step, from completion to completion
  int64_t device_ns = 0;    // busy time of a step: no step is shorter
  // Set if the status is kCorrected or kSmall.
  int64_t estimate_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;

  // The share of a step of this length in which the device idles.
  double IdleShareOf(int64_t step_ns) const;
};

struct TrueTimes {
  TrueTimeStatus status = TrueTimeStatus::kNoSteps;
  HostPace pace;
  double identity = 0;  // error of the replay that changes nothing
  bool is_given =
      false;  // whether --plain-step was given: the limits are then those of the given step
  // The factor of the usual costs of recording that results in the given step; nullopt if there is
  // none, or no step was given.
  std::optional<double> factor;
  std::string fault;  // why the given step cannot be right; empty: it can
  // How much shorter all steps together are, summed over the devices: at least, as estimated, and
  // at most. As steps may differ, this need not follow from the median step.
  std::array<int64_t, 3> shorter_ns{};
  // How much shorter gaps of devices are without the cost, as estimated and at most; all 0 if
  // nothing was taken off.
  GapTimes estimated_gaps;
  GapTimes most_gaps;
  std::vector<TrueTime> devices;

  bool has_estimates() const {
    return status == TrueTimeStatus::kCorrected || status == TrueTimeStatus::kSmall;
  }
};

// Which of the three costs is taken off, see docs/how-it-works/true-time.md.
enum class CostLevel : uint8_t { kLeast, kEstimate, kMost };

// The lags of `model` with the cost of recording taken off the stretches of its threads. `factor`:
// multiplies all costs. O(rows + dependencies).
ReplayLags LagsWithoutRecording(const RankView& view, const ReplayModel& model,
                                const HostPace& pace, CostLevel level, double factor = 1);

// Found once for each question. Any thread. O(rows log rows).
std::shared_ptr<const TrueTimes> SharedTrueTimes(const RankView& view, const Params& params);

// Table true_time: a row for each device of a rank with steps. Tables of ranks are concatenated,
// not merged. kInvalidArgument if the step of --plain-step cannot be right, kMissingData without
// steps.
Result<Table> TrueTimeTable(const RankView& view, const Params& params);
Table EmptyTrueTimeTable();
// The cost of recording if it is large, and which idle time it caused: a row for the rank, with
// `shorter_ns` (columns "least_ns", "estimate_ns", "most_ns") and GapTimes as estimated and at most
// ("long_late_ns", "short_late_ns", "latency_ns", and these with "most_" before).
Table CostOfGapsTable(const RankView& view, const TrueTimes& times);

// Checks that at most two times were given, and that whole recordings or steps are selected.
Result<void> CheckTrueTimeParams(std::string_view verb, const Params& params);

// The model that scenarios change: the recording as it is, or, with --without-recording or
// --plain-step, with the cost of recording taken off (then ReplayModel::doubt_ns is set). Errors as
// SharedReplayModel; kMissingData if the cost is not known. Any thread.
std::shared_ptr<const Result<ReplayModel>> SharedScenarioModel(const RankView& view,
                                                               const Params& params);

}  // namespace borescope::internal
