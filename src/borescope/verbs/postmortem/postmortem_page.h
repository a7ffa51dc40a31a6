// The page of a post-mortem: the verdict, who waits for whom, what held memory over time, and the
// tables behind them. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "borescope/output/html/html.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// The tables that charts of memory are drawn from, and that only a page has.
inline constexpr std::string_view kMemoryAreasTable = "memory_areas";
inline constexpr std::string_view kMemoryMapTable = "memory_map";

// How many rows of the first each of so many snapshots may have, and of the second its peak, its
// failure and its end each, for a page that can be mailed.
size_t AreaRowsOfPage(size_t snapshots);
size_t MapRowsOfPage(size_t snapshots);

// `job`: what the user named. `document`: the tables of all sources, whole; the page has of each as
// much as fits.
ReportPage PageOfPostmortem(const std::string& job, const Document& document);

}  // namespace borescope::internal
