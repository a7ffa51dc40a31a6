// The tables of a page: made to fit, and of two runs made one.
#pragma once

#include <string>
#include <vector>

#include "borescope/catalog/report_sections.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/output/html/html.h"

namespace borescope::internal {

// What one run says in one section.
struct SectionTables {
  Tables tables;
  std::string lack;  // why there are none, and what to record; empty if there are
};

// All panes of a page, in their order.
std::vector<ReportPane> PanesOfPage();

// Adds a section with its tables to the page. Of `options` counts `top`.
void AddSection(const SectionSpec& spec, SectionTables answer, const RunOptions& options,
                ReportPage& page);

// The same with the tables of two runs side by side (table/compare.h): matched row by row where
// keys allow it, else joined. Without an answer of `mine` it says what is lacking. Where
// `one_rank_each`, rows match whatever their rank and device.
void AddComparison(const SectionSpec& spec, SectionTables mine, SectionTables other,
                   bool one_rank_each, const RunOptions& options, ReportPage& page);

}  // namespace borescope::internal
