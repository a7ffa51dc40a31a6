#include "borescope/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "borescope/analysis/report_sections.h"
#include "borescope/run_conclude.h"
#include "borescope/run_ranks.h"
#include "borescope/table/fit.h"
#include "borescope/table/table_ops.h"

namespace borescope {
namespace {

// What keeps a page of some fifty tables below 5 MB: rows and bytes of one table.
constexpr size_t kMostRows = 2000;
constexpr size_t kMostBytes = 300'000;

bool Draws(const SectionSpec& section, const Table& table, ViewKind kind) {
  return std::any_of(section.views.begin(), section.views.end(), [&](const ViewSpec& view) {
    return view.kind == kind && view.table == table.name;
  });
}

// Lines keep their outline, all else its first rows.
Table Fit(const SectionSpec& section, const Table& table, const RunOptions& options) {
  const size_t most = options.top.value_or(kMostRows);
  if (Draws(section, table, ViewKind::kSeries)) {
    const auto view =
        std::find_if(section.views.begin(), section.views.end(),
                     [&](const ViewSpec& candidate) { return candidate.table == table.name; });
    return Outline(table, view->values.front(), most);
  }
  const size_t bytes = options.top.has_value() ? SIZE_MAX : kMostBytes;
  return Head(table, RowsThatFit(table, most, bytes));
}

bool IsWanted(const SectionSpec& section, const Table& table) {
  return section.tables.empty() || std::find(section.tables.begin(), section.tables.end(),
                                             table.name) != section.tables.end();
}

void AddTables(const SectionSpec& section, const Findings& findings, const RunOptions& options,
               ReportPage& page) {
  ReportSection& added = page.sections.back();
  added.first_table = page.document.tables.size();
  for (const Table& table : findings) {
    if (IsWanted(section, table)) {
      page.document.tables.push_back(Fit(section, table, options));
      page.all_rows.push_back(table.rows());
      ++added.table_count;
    }
  }
}

// "run/" or "rank-0.json.gz", or how many there are.
std::string TitleOf(const MappedRun& run) {
  const std::filesystem::path first(run.parts.front().report.path);
  if (run.parts.front().from_directory) {
    return first.parent_path().string();
  }
  const std::string name = first.filename().string();
  return run.parts.size() == 1 ? name : fmt::format("{} and {} more", name, run.parts.size() - 1);
}

std::vector<const AnalysisSpec*> AnalysesOf(std::span<const SectionSpec> sections) {
  std::vector<const AnalysisSpec*> specs;
  specs.reserve(sections.size());
  for (const SectionSpec& section : sections) {
    specs.push_back(section.analysis);
  }
  return specs;
}

// The first section, the summary, needs nothing of a trace: what it lacks is what was selected.
Result<ReportPage> MakePage(std::span<const SectionSpec> sections, const Params& params,
                            const RunOptions& options, const MappedRun& run) {
  ReportPage page;
  page.title = TitleOf(run);
  Lacks lacks;
  for (size_t i = 0; i < sections.size(); ++i) {
    const AnalysisSpec& spec = *sections[i].analysis;
    page.sections.push_back(
        {std::string(spec.name), std::string(spec.summary), 0, 0, "", sections[i].views});
    Result<Findings> findings = ConcludeOne(spec, i, params, run, lacks);
    if (findings.ok()) {
      AddTables(sections[i], *findings, options, page);
    } else if (findings.error().code == ErrorCode::kMissingData && i > 0) {
      page.sections.back().lack =
          WithoutPath(findings.error().message, run.selected.front()->report);
    } else {
      return findings.error();
    }
  }
  CountLacks(lacks);
  return page;
}

// What changed from the other run to this one, behind the overview.
Result<void> AddChanges(const RunOptions& options, ReportPage& page) {
  RunOptions both = options;
  std::swap(both.files, both.test.files);  // the other run is the base
  both.test.ranks = options.ranks;
  both.test.steps = options.params.selection.steps;
  both.top.reset();
  const SectionSpec section{FindAnalysis("diff"), {}, {}};
  BS_ASSIGN(const Answer answer, RunAnalysis(*section.analysis, both));
  page.sections.push_back({std::string(section.analysis->name),
                           std::string(section.analysis->summary), 0, 0, "", section.views});
  AddTables(section, answer.document.tables, options, page);
  std::rotate(page.sections.begin() + 1, page.sections.end() - 1, page.sections.end());
  return {};
}

}  // namespace

Result<Report> RunReport(const RunOptions& options) {
  const std::vector<SectionSpec> sections = ReportSections();
  const std::vector<const AnalysisSpec*> specs = AnalysesOf(sections);
  Params params = ReportParams();
  params.selection = options.params.selection;
  BS_ASSIGN(MappedRun run, MapRun({specs, options.files, options.ranks, params, options}));
  Report report;
  BS_ASSIGN(report.page, MakePage(sections, params, options, run));
  if (!options.test.files.empty()) {
    BS_TRY(AddChanges(options, report.page));
  }
  report.page.document.diagnostics = CollectDiagnostics(run);
  report.files.reserve(run.parts.size());
  for (RankPart& part : run.parts) {
    report.files.push_back(std::move(part.report));
  }
  return report;
}

}  // namespace borescope
