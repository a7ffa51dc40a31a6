// What a thread of the host did at each instant, explained by the first of these that is known:
//
//   call          it was in a call: of several the outermost, which is the program's own
//   no processor  the thread did not have one
//   sampled       a call stack was sampled, at this instant or less than two periods earlier: its
//                 innermost frame with a name
//   event         it was in an operator, a range or a frame: the innermost
//   unknown       nothing was recorded
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

enum class HostActivity : uint8_t { kCall, kNoProcessor, kSampled, kEvent, kUnknown, kCount };

std::string_view HostActivityName(HostActivity activity);

// Whether a name says nothing about what was done: there is none, or it is that of a step.
bool SaysNothing(const Trace& trace, HostActivity activity, StringId name);

struct HostPiece {
  HostActivity activity = HostActivity::kUnknown;
  StringId name = {};       // of the call, function or event; invalid without one
  StringId caller = {};     // of a call with a recorded stack: the function that made it
  StringId operation = {};  // the innermost operator around; invalid outside of any

  std::array<int64_t, 4> Numbers() const {
    return {static_cast<int64_t>(activity), name.value, caller.value, operation.value};
  }
};

using UseHostPiece = std::function<void(const HostPiece& piece, Interval time)>;

// Calls `use` with what the thread did in `times`, in pieces that add up to them. REQUIRES: `times`
// is sorted, disjoint and not empty; `period_ns` is that of SamplingPeriod. O(rows of the thread).
void WalkHostPieces(const RankView& view, TrackId track, std::span<const Interval> times,
                    int64_t period_ns, const UseHostPiece& use);

// The rows of a table sorted by thread that belong to one: the first, and one past the last.
std::pair<size_t, size_t> RowsOfThread(const ColumnData<TrackId>& tracks, TrackId track);

// The sampling period: the median time between two samples of a thread in succession, of several
// threads together; of an even number the lower one. 0 without two samples of a thread.
int64_t SamplingPeriod(const Trace& trace);

}  // namespace borescope::internal
