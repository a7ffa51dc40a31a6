// Which analyses make the HTML report, in which order, and which of their tables are drawn:
// collected from AnalysisSpec::in_report, report_tables and views.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/table/display/view.h"

namespace borescope::internal {

// One section of the report.
struct SectionSpec {
  const AnalysisSpec* analysis = nullptr;
  std::span<const std::string_view> tables;  // only these; empty = all
  std::span<const ViewSpec> views;
};

// A pane of the page, which shows the sections of these analyses.
struct PaneSpec {
  std::string_view name;                          // in links
  std::string_view title;                         // on its tab
  std::span<const AnalysisSpec* const> analyses;  // of the core; a pack names the pane of its verbs
};

// Every pane, in the order of the page. The pane of an analysis that was not asked is empty.
std::span<const PaneSpec> ReportPanes();

// The pane with the section of an analysis; the pane of kernels if no pane names it.
const PaneSpec& PaneOf(const AnalysisSpec& spec);

// Every section, in the order of the page.
std::vector<SectionSpec> ReportSections();

// The options with which the sections are asked, beside a selection.
Params ReportParams();

// The views of these tables, in the order of the page, whichever analyses made them.
std::vector<ViewSpec> ViewsOf(std::span<const Table> tables);

// Whether any table of the analysis has a view.
bool HasViews(const AnalysisSpec& spec);

// Adds the options that views need if they were not given: for lines over time, which have no table
// without them, and to omit frames of trees that are too narrow to be seen.
void AskForViews(const AnalysisSpec& spec, Params& params);

}  // namespace borescope::internal
