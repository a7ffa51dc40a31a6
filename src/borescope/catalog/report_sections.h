// Which analyses make the HTML report, in which order, and what of their tables is drawn: collected
// from AnalysisSpec::in_report, report_tables and views.
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
  std::string_view name;                          // as links have it
  std::string_view title;                         // as its tab has it
  std::span<const AnalysisSpec* const> analyses;  // of the core; packs name the pane of theirs
};

// Every pane, in the order of the page. That of an analysis may be empty where it was not asked.
std::span<const PaneSpec> ReportPanes();

// Where the section of an analysis is at home; that of kernels where no pane names it.
const PaneSpec& PaneOf(const AnalysisSpec& spec);

// Every section, in the order of the page.
std::vector<SectionSpec> ReportSections();

// Options the sections are asked with, beside a selection.
Params ReportParams();

// The views of these tables, in the order of the page, whichever analyses made them.
std::vector<ViewSpec> ViewsOf(std::span<const Table> tables);

// Whether any table of the analysis has a view.
bool HasViews(const AnalysisSpec& spec);

// Adds the options that views need, where they were not given: for lines over time, which have no
// table without them, and against frames of trees too narrow to be seen.
void AskForViews(const AnalysisSpec& spec, Params& params);

}  // namespace borescope::internal
