// The pace of the host while it was recorded: how long the profiler and the dispatch of an operator
// take around each event, from the recording alone. How well: docs/how-it-works/true-time.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
