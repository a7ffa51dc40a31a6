// What the host did while devices waited for its next launch: the time of the thread that launched,
// each instant of it explained by the first of these that is known:
//
//   call          it was in a call: of several the outermost, which is the program's own
//   no processor  the thread did not have one
//   sampled       a call stack was sampled, at this instant or less than two periods earlier: its
//                 innermost frame with a name
//   event         it was in an operator, a range or a frame: the innermost
//   unknown       nothing was recorded
//
// The parts of a time add up to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

enum class HostActivity : uint8_t { kCall, kNoProcessor, kSampled, kEvent, kUnknown, kCount };

std::string_view HostActivityName(HostActivity activity);

// Time in which the host was late, on its own clock.
struct LateTime {
  Interval time;
  HostId launch;  // the one that was late; invalid: not recorded
};

struct LateHostSum {
  HostActivity activity;
  StringId name;       // of the call, function or event; invalid without one
  StringId caller;     // of a call with a recorded stack: the function that made it; else invalid
  StringId operation;  // the innermost operator around; invalid outside of any
  int64_t ns;
};

// By activity, name, caller and operator: in the order of their first time. REQUIRES: times of one
// thread are disjoint. O(rows of the threads).
std::vector<LateHostSum> ExplainLateHost(const RankView& view, std::vector<LateTime> late);

// Words for what the host mostly did: "in `cudaMalloc`", "without a processor", "in `solve`
// (sampled)", "in `cudaMalloc`, called from `grow`". Empty unless one activity takes at least half
// of the time.
std::string MostlyWords(const Trace& trace, const std::vector<LateHostSum>& sums);

// The same of one time: of the events of its thread that fill at least half of it the innermost,
// else as above. Empty without a launch.
std::string MostlyWords(const RankView& view, const LateTime& late);

// The sampling period: the median time between two samples of a thread in succession, of several
// threads together; of an even number the lower one. 0 without two samples of a thread.
int64_t SamplingPeriod(const Trace& trace);

}  // namespace borescope::internal
