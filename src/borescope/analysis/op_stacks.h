// The operators around a host row, as columns show them.
#pragma once

#include <string>
#include <vector>

#include "borescope/analysis/registry.h"

namespace borescope {

// The operators around `id`, outermost first; none for an invalid id. Of stacks deeper than any
// framework makes them, the innermost 256.
std::vector<HostId> OpsAround(const RankView& view, HostId id);

// The names of rows as a JSON array: ["aten::conv2d", "aten::convolution"].
std::string NamesAsJson(const Trace& trace, const std::vector<HostId>& rows);

}  // namespace borescope
