// Time by the set of types that run at once: the sweep behind HTA's kernel types and overlap.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "borescope/packs/hta/rows.h"

namespace borescope::internal {

inline constexpr HtaType kHtaTypes[] = {HtaType::kComputation, HtaType::kCommunication,
                                        HtaType::kMemory};

// A set of types, one bit each: 1 << HtaType.
using HtaTypeSet = unsigned;
inline constexpr HtaTypeSet kAllHtaTypes = 7;

// "COMPUTATION overlapping MEMORY".
std::string HtaTypeSetName(HtaTypeSet types);

struct HtaSweep {
  std::array<double, kAllHtaTypes + 1> total_us{};  // per set: time when exactly these types run
};

// REQUIRES: rows by start.
HtaSweep SweepTypes(const std::vector<HtaRow>& rows);

std::vector<HtaRow> RowsOfType(const std::vector<HtaRow>& rows, HtaType type);

}  // namespace borescope::internal
