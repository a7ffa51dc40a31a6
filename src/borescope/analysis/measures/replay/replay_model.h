// A recording that can be replayed, and how well its replay represents it.
// docs/how-it-works/whatif.md defines the measures and what follows from them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/replay/replay_graph.h"

namespace borescope::internal {

// The lag of every class of dependencies, measured where the dependency was the one that decided,
// as elsewhere the time between its ends includes other waits.
//
//   launch   the other conditions of the work were met before the launch call began
//   stream   the work before ended kClearNs or more after launch and lag of the launch
//   event    the same for the work that was waited for, if it also ended after the work before it
//   wait     the awaited work ended after the call began
//   queue    calls that found a full queue
//   call     calls that found nothing to wait for
//
// Lags add up along a path, so a constant is the mean of its cases. The largest 2 % are left out,
// as they include causes that were not recorded, and no lag exceeds its cap. For calls it is the
// 10th percentile, as some calls also do other work, such as a copy through a buffer.

// Where a constant comes from.
enum class LagSource : uint8_t {
  kMeasured,  // from cases of its class
  kKind,      // from all cases of its kind, as the class has fewer than `least`
  kAssumed,   // a usual value, as the kind has fewer too
};
std::string_view LagSourceName(LagSource source);
inline constexpr size_t kLeastCases = 8;

struct LagConstant {
  int64_t cases = 0;  // cases of the class
  int64_t lag_ns = 0;
  int64_t spread_ns = 0;  // 10th to 90th percentile of the cases
  LagSource source = LagSource::kAssumed;
};

// The constant of each class. `counts`: which places are cases; `least`: how many cases a constant
// needs. O(n log n) for n dependencies.
std::vector<LagConstant> FitLags(const RankView& view, const ReplayGraph& graph,
                                 const std::function<bool(Place)>& counts,
                                 size_t least = kLeastCases);

// Per class.
std::vector<int64_t> LagValues(const std::vector<LagConstant>& constants);

// Whether answers of a replay can be trusted.
enum class ReplayVerdict : uint8_t {
  kGood,
  kRough,
  // Only host threads decide how long the recording takes, so nothing shows whether devices are
  // replayed correctly.
  kUntested,
  kRefused,
};
std::string_view ReplayVerdictName(ReplayVerdict verdict);

// A wait on the path of the replay that no dependency explains.
struct UnexplainedWait {
  NodeId node = kNoNode;  // the node that came late
  int64_t ns = 0;
  StringId name = {};  // the name of its event
};

struct ReplayQuality {
  int64_t measured_ns = 0;  // from the begin of the first step to the completion of the last
  int64_t replayed_ns = 0;
  int64_t exact_ns = 0;            // error of the replay with measured lags
  int64_t null_ns = 0;             // length of the replay with all lags 0
  std::optional<double> held_out;  // identity with constants fitted on other steps
  int64_t head_ns = 0;             // a wait before the first work, which is left out
  int64_t unexplained_ns = 0;
  std::vector<UnexplainedWait> largest_waits;  // at most three
  int64_t path_device_ns = 0;                  // device work on the path of the replay
  int64_t device_ns = 0;                       // all device work
  int64_t inherited_ns = 0;   // of that, work that was launched before the recording
  int64_t anchored_ns = 0;    // other device work that moves by inference alone, or not at all
  int64_t unlaunched_ns = 0;  // of that, work without a recorded launch
  int64_t inferred = 0;       // dependencies that were not recorded
  int64_t waits = 0;          // waits of hosts and streams for device work
  int64_t impossible = 0;     // waits that end before the work that they wait for
  ReplayVerdict verdict = ReplayVerdict::kRefused;

  double identity() const;
  double null() const;  // error of the replay with all lags 0
  double unexplained() const;
  double path_device() const;
  double anchored() const;
  double impossible_share() const;
  // How far an answer about the whole recording may be off because of what the replay cannot
  // represent.
  double error() const;
};

struct ReplayModel {
  ReplayGraph graph;
  std::vector<LagConstant> constants;  // per class
  ReplayLags lags;
  std::vector<int64_t> times;  // of the replay that changes nothing
  // Set if the cost of recording is taken off `lags`. Steps are then as in `times`, not as
  // measured, and uncertain by this much.
  std::optional<int64_t> doubt_ns;
  ReplayQuality quality;
};

// The reason for the verdict in words; empty if it is good.
std::string CauseOf(const Trace& trace, const ReplayQuality& quality);

// O(rows log rows).
ReplayModel MakeReplayModel(const RankView& view, std::string_view data_load);

// The limits of verdicts: shares of the whole.
struct VerdictLimits {
  double identity;
  double unexplained;
  double anchored;
  double impossible;  // of all waits
};
inline constexpr VerdictLimits kGoodReplay{0.01, 0.02, 0.05, 0.01};
inline constexpr VerdictLimits kRoughReplay{0.05, 0.10, 0.20, 0.10};
// Where so little of the path is device work, host threads alone decide.
inline constexpr double kHostAlone = 0.1;
// The replay of a recording whose length hardly depends on lags cannot be wrong about them.
inline constexpr double kLeastNull = 0.003;
inline constexpr double kNullPerIdentity = 3;

}  // namespace borescope::internal
