// What HolisticTraceAnalysis adds to the frame of a file: which rows belong together, and the step
// of each row. Pure functions over the table of RecordedFrame.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/packs/hta/recorded/number_kind.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Per row: whether HTA takes it for one of the device.
std::vector<char> FindDeviceRows(const Table& events);

// Whether a name is that of a step: "ProfilerStep#12".
bool IsHtaStepName(std::string_view name);

// Fills in index_correlation: of several partners the last one.
void LinkCorrelations(Table& events);

// Fills in iteration: host rows by time, device rows by their partner. Returns of what kind the
// numbers are; a row whose step HTA leaves open has none.
NumberKind FillIterations(Table& events);

}  // namespace borescope::internal
