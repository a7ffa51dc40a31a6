#include "borescope/verbs/report/report_tables.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "borescope/output/units/timestamps.h"
#include "borescope/table/compare.h"
#include "borescope/table/fit.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

// What keeps a page of some fifty tables below 5 MB: rows and bytes of one table.
constexpr size_t kMostRows = 2000;
constexpr size_t kMostBytes = 300'000;

// Columns that say where, not what.
constexpr std::string_view kPlaces[] = {"rank", "gpu", "device"};

struct Limits {
  size_t rows = kMostRows;
  size_t bytes = kMostBytes;
};

Limits LimitsOf(const RunOptions& options) {
  return options.top.has_value() ? Limits{*options.top, SIZE_MAX} : Limits();
}

Limits Half(const Limits& limits) {
  return {std::max<size_t>(1, limits.rows / 2), std::max<size_t>(1, limits.bytes / 2)};
}

const ViewSpec* FindView(const SectionSpec& spec, const Table& table, ViewKind kind) {
  const auto found = std::find_if(spec.views.begin(), spec.views.end(), [&](const ViewSpec& view) {
    return view.kind == kind && view.table == table.name;
  });
  return found == spec.views.end() ? nullptr : &*found;
}

// The columns of a flame graph that are wide, of both runs.
std::vector<std::string> WidthsOf(const ViewSpec& flame) {
  std::vector<std::string> widths;
  for (const std::string_view value : flame.values) {
    widths.emplace_back(value);
    widths.push_back(std::string(kAgainstPrefix) + std::string(value));
  }
  return widths;
}

// Lines keep their outline, flame graphs what is wide, all else its first rows.
Table Fit(const SectionSpec& spec, Table table, const Limits& limits) {
  if (const ViewSpec* series = FindView(spec, table, ViewKind::kSeries); series != nullptr) {
    return table.rows() <= limits.rows ? std::move(table)
                                       : Outline(table, series->values.front(), limits.rows);
  }
  const size_t fitting = RowsThatFit(table, limits.rows, limits.bytes);
  if (fitting == table.rows()) {
    return table;
  }
  if (const ViewSpec* flame = FindView(spec, table, ViewKind::kFlame); flame != nullptr) {
    return LargestRows(table, WidthsOf(*flame), limits.rows, limits.bytes);
  }
  return Head(table, fitting);
}

bool IsWanted(const SectionSpec& spec, const Table& table) {
  return spec.tables.empty() ||
         std::find(spec.tables.begin(), spec.tables.end(), table.name) != spec.tables.end();
}

ReportSection& OpenSection(const SectionSpec& spec, ReportPage& page) {
  ReportSection& section = page.sections.emplace_back();
  section.name = spec.analysis->name;
  section.summary = spec.analysis->summary;
  section.pane = PaneOf(*spec.analysis).name;
  section.views.assign(spec.views.begin(), spec.views.end());
  return section;
}

// Moments count from the begin of the recording, as text has them; nobody reads a clock of
// nineteen digits, and browsers round it. What lines are drawn over is told apart by the chart.
Table WithTimestamps(const SectionSpec& spec, Table table, const ReportPage& page) {
  const bool is_drawn_over_time = FindView(spec, table, ViewKind::kSeries) != nullptr;
  return is_drawn_over_time ? std::move(table) : SinceBegin(std::move(table), page.document.begins);
}

void AddTable(Table table, size_t all_rows, Comparison comparison, ReportPage& page) {
  ReportSection& section = page.sections.back();
  if (section.table_count == 0) {
    section.first_table = page.document.tables.size();
  }
  page.document.tables.push_back(std::move(table));
  page.all_rows.push_back(all_rows);
  page.comparisons.push_back(comparison);
  ++section.table_count;
}

// Takes the table that is called as `empty`, which stands for it where there is none.
Table TakeTable(const Table& empty, Tables& findings) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Table& table) { return table.name == empty.name; });
  if (found == findings.end()) {
    return empty;
  }
  return std::move(*found);
}

// Moments of two recordings are told apart by the time since the begin of each.
void JoinSeries(const SectionSpec& spec, Table& mine, Table& other, ReportSection& section) {
  const ViewSpec* series = FindView(spec, mine, ViewKind::kSeries);
  if (series == nullptr) {
    return;
  }
  AddElapsed(mine, series->x);
  AddElapsed(other, series->x);
  for (ViewSpec& view : section.views) {
    view.x = view.table == mine.name && !view.x.empty() ? kElapsedColumn : view.x;
  }
}

void AddPair(const SectionSpec& spec, Table mine, Table other, const Limits& limits,
             ReportPage& page) {
  if (std::optional<Table> matched = MatchRows(mine, other); matched.has_value()) {
    const size_t all_rows = matched->rows();
    AddTable(Fit(spec, std::move(*matched), limits), all_rows, Comparison::kMatched, page);
    return;
  }
  const size_t all_rows = mine.rows() + other.rows();
  JoinSeries(spec, mine, other, page.sections.back());
  Table joined =
      JoinRows(Fit(spec, std::move(mine), Half(limits)), Fit(spec, std::move(other), Half(limits)));
  AddTable(std::move(joined), all_rows, Comparison::kJoined, page);
}

// The tables of this run in their order, then those that only the other has; without rows.
Tables AllTables(const SectionSpec& spec, const Tables& mine, const Tables& other) {
  Tables tables;
  for (const Tables* findings : {&mine, &other}) {
    for (const Table& table : *findings) {
      const bool is_there = std::any_of(tables.begin(), tables.end(), [&](const Table& before) {
        return before.name == table.name;
      });
      if (IsWanted(spec, table) && !is_there) {
        tables.push_back(Head(table, 0));
      }
    }
  }
  return tables;
}

}  // namespace

std::vector<ReportPane> PanesOfPage() {
  std::vector<ReportPane> panes;
  for (const PaneSpec& pane : ReportPanes()) {
    panes.push_back({std::string(pane.name), std::string(pane.title)});
  }
  return panes;
}

void AddSection(const SectionSpec& spec, SectionTables answer, const RunOptions& options,
                ReportPage& page) {
  OpenSection(spec, page).lack = std::move(answer.lack);
  for (Table& table : answer.tables) {
    if (IsWanted(spec, table)) {
      const size_t all_rows = table.rows();
      Table fitting = Fit(spec, std::move(table), LimitsOf(options));
      AddTable(WithTimestamps(spec, std::move(fitting), page), all_rows, Comparison::kNone, page);
    }
  }
}

void AddComparison(const SectionSpec& spec, SectionTables mine, SectionTables other,
                   bool one_rank_each, const RunOptions& options, ReportPage& page) {
  ReportSection& section = OpenSection(spec, page);
  if (!mine.lack.empty()) {
    section.lack = mine.lack + (other.lack.empty() ? " (the other run has it)" : "");
    return;
  }
  section.other_lack = other.lack;
  for (const Table& table : AllTables(spec, mine.tables, other.tables)) {
    Table here = TakeTable(table, mine.tables);
    Table there = TakeTable(table, other.tables);
    if (one_rank_each) {
      UnkeyPlaces(kPlaces, here, there);
    }
    AddPair(spec, std::move(here), std::move(there), LimitsOf(options), page);
  }
}

}  // namespace borescope::internal
