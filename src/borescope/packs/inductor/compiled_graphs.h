// Which compiled graph of PyTorch a piece of device work belongs to.
#pragma once

#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// The graph around each host row, by what the compiler wraps its calls in: the innermost range
// "## Call CompiledFxGraph HASH ##" gives HASH; where there is none, "Torch-Compiled Region: 0/1"
// is its own name. O(rows).
class CompiledGraphs {
 public:
  explicit CompiledGraphs(const RankView& view);

  // That around the launch of a piece of device work, else around its operator; empty: none.
  std::string_view Of(DeviceId id) const;

 private:
  const RankView& view_;          // outlives this
  std::vector<HostId> range_of_;  // per host row: the range, or invalid
};

// The name of the graph whose calls a range of this name wraps; empty for any other range.
std::string_view CompiledGraphOf(std::string_view range);

}  // namespace borescope::internal
