// The part of a rank that HTA's critical path looks at, and its nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"
#include "borescope/packs/hta/critical_path/critical_graph.h"
#include "borescope/packs/hta/events.h"

namespace borescope::internal {

// Rows of the window by position: what the host did in the time of some annotations, in the order
// of HTA's frame, and the device work tied to it; every wait of a stream for an event, wherever it
// is. Without an annotation everything. kMissingData if there is no such annotation or occurrence.
Result<std::vector<HtaEventRow>> HtaCriticalWindow(const HtaEvents& events,
                                                   const Selection& selection);

// Whether HTA makes nodes of the row: operators, runtime calls, events of loading data, and device
// rows with a correlation number. `data_load` is a part of names; empty is none.
bool HasCriticalNodes(const HtaEvents& events, HtaEventRow row, std::string_view data_load);

// Start and end of each row that has nodes, by time; of equal times in the order of the file.
std::vector<CriticalNode> CriticalNodes(const HtaEvents& events,
                                        const std::vector<HtaEventRow>& window,
                                        std::string_view data_load);

}  // namespace borescope::internal
