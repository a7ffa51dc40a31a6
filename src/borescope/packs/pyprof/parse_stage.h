// What PyProf's parse stage writes (`parse.py net.sql > net.dict`): for each kernel a line, a dict
// of Python with the markers around its launch, from which its second stage makes the table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

// A table "prof" with the columns rank and record.
Table ParsedRecords(const RankView& view, const std::vector<DeviceId>& all,
                    const Selected& selected);

// The table with the records alone.
Table TakeRecords(Table table);

// A text as repr() of Python writes it. Bytes that are not ASCII stay as they are.
std::string PythonRepr(std::string_view text);

}  // namespace borescope::internal
