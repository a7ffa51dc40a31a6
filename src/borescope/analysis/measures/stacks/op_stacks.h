// The operators around a host row, as columns show them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Safe from any thread. The view must outlive it.
class OpStacks {
 public:
  // Linear in the host rows.
  explicit OpStacks(const RankView& view);

  // The innermost and the outermost operator around `id`; invalid if there is none, or no `id`.
  HostId Innermost(HostId id) const { return id.valid() ? op_above_[id.value] : HostId{}; }
  HostId Outermost(HostId id) const { return id.valid() ? top_op_[id.value] : HostId{}; }

  // The operators around `id`, outermost first; none for an invalid id. Of stacks deeper than any
  // framework makes them, the innermost 256.
  std::vector<HostId> Around(HostId id) const;

 private:
  std::vector<HostId> op_above_;  // per host row: the nearest operator around it
  std::vector<HostId> top_op_;    // per host row: the outermost one
};

inline constexpr size_t kMostJsonBytes = 4096;

// The names of rows as a JSON array: ["aten::conv2d", "aten::convolution"]. "…" stands for the
// names from the first one on that makes it longer than kMostJsonBytes.
std::string NamesAsJson(const Trace& trace, const std::vector<HostId>& rows);

}  // namespace borescope::internal
