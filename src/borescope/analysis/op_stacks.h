// The operators around a host row, as columns show them.
#pragma once

#include <string>
#include <vector>

#include "borescope/analysis/registry.h"

namespace borescope {

// Safe from any thread. The view must outlive it.
class OpStacks {
 public:
  // Linear in the host rows.
  explicit OpStacks(const RankView& view);

  // The operators around `id`, outermost first; none for an invalid id. Of stacks deeper than any
  // framework makes them, the innermost 256.
  std::vector<HostId> Around(HostId id) const;

 private:
  std::vector<HostId> op_above_;  // per host row: the nearest operator around it
};

// The names of rows as a JSON array: ["aten::conv2d", "aten::convolution"].
std::string NamesAsJson(const Trace& trace, const std::vector<HostId>& rows);

}  // namespace borescope
