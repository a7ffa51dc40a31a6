// From when on the same kernels of the same sizes take longer, and stay so: what clocks that fall
// for heat or power look like, or other work on the device, in a recording. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

// A launch of a kernel; those of one group have the same name and size.
struct KernelTime {
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  uint32_t group = 0;
};

struct SlowerKernels {
  size_t first = 0;         // of the launches, the first that is slower
  double ratio = 1;         // how many times as long they take from there on
  int64_t launches = 0;     // that were compared: of groups with some before and after
  int64_t compared_ns = 0;  // their time
  int64_t lost_ns = 0;      // what those after take beyond what they would have taken before
};

// Where launches become slower for good. Compares launches of one group alone, by the geometric
// means of their times; groups count by their time. The place is where dividing them explains most
// of the squares of the logarithms of their times. Missing unless
//   half of the time is of groups with `least` launches or more on both sides, which are a tenth of
//   it or more each, they take 1.1 times as long or longer, and four fifths of them by time, in two
//   groups or more, take longer by 5 %, and
//   all quarters of a side are nearer to its mean than 0.3 of the difference: what grows slowly, or
//   comes and goes, is no such place.
// REQUIRES: by begin. O(launches).
std::optional<SlowerKernels> FindSlowerKernels(std::span<const KernelTime> launches, int64_t least);

// The selected launches on `tracks`, by begin, of kernels that compute and whose size was recorded:
// blocks and threads, with the shapes of the operator that launched them where those were. With
// steps a group has the calls at one place among those of a kernel in a step, else all of them.
// O(rows log rows).
struct KernelTimes {
  std::vector<KernelTime> launches;
  int64_t least = 4;   // that a group has to have on both sides
  int64_t all_ns = 0;  // the time of all that compute
};
KernelTimes TimesOfKernels(const RankView& view, const Selected& selected,
                           std::span<const uint32_t> tracks);

}  // namespace borescope::internal
