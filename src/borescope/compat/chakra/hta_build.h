// Builds the event graph of HTA (of June 2024) for the rows of the first step.
#pragma once

#include <string>

#include "borescope/compat/chakra/hta_graph.h"
#include "borescope/compat/chakra/hta_rows.h"

namespace borescope::internal::chakra::compat {

// What the threads did: calls in the order of their nesting.
void AddHostEvents(const HtaTable& table, HtaGraph& graph);

// What the device did, and who waited for it. REQUIRES: AddHostEvents came before. Why there is no
// graph where the reference ends with an error; else empty.
std::string AddDeviceEvents(const HtaTable& table, HtaGraph& graph);

}  // namespace borescope::internal::chakra::compat
