// The page of a post-mortem: the verdict, who waits for whom, what held memory over time, and the
// tables behind them. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "borescope/output/html/html.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// The table that the chart of memory is drawn from.
inline constexpr std::string_view kMemoryAreasTable = "memory_areas";

// How many rows of it each of so many snapshots may have, for a page that can be mailed.
size_t AreaRowsOfPage(size_t snapshots);

// `job`: what the user named. `document`: the tables of all sources, whole; the page has of each as
// much as fits.
ReportPage PageOfPostmortem(const std::string& job, const Document& document);

}  // namespace borescope::internal
