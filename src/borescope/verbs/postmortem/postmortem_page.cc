#include "borescope/verbs/postmortem/postmortem_page.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>

#include "borescope/table/fit.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

// A part of the page with some of the tables.
struct JobSection {
  std::string_view name;
  std::string_view summary;
  std::span<const std::string_view> tables;
};

constexpr std::string_view kVerdictTables[] = {"postmortem"};
constexpr std::string_view kHangTables[] = {"hang_culprits", "hang_operations", "hang_ranks",
                                            "hang_mismatches"};
constexpr std::string_view kMemoryTables[] = {
    "oom",           "oom_fixes",       "memory_live",   "memory_segments",
    "memory_growth", kMemoryAreasTable, kMemoryMapTable, "allocator_replay"};
constexpr std::string_view kLogTables[] = {"log_findings"};
constexpr std::string_view kFileTables[] = {"postmortem_files"};

constexpr JobSection kJobSections[] = {
    {"findings", "why the job ended, as its files show it", kVerdictTables},
    {"hang", "who waits in which operation, and for whom", kHangTables},
    {"memory", "what failed, what held memory, and what would have helped", kMemoryTables},
    {"logs", "lines of logs and error files that say something of it", kLogTables},
    {"files", "what was read, and what counted for nothing", kFileTables}};

constexpr std::string_view kJobPane = "postmortem";

// Rows and bytes of one table: those of ranks and operations are drawn, and have one for each of
// thousands of ranks.
constexpr size_t kMostJobRows = 2'000;
constexpr size_t kMostJobBytes = 300'000;
constexpr size_t kMostDrawnRows = 10'000;
constexpr size_t kMostDrawnBytes = 800'000;
constexpr std::string_view kDrawnTables[] = {"hang_ranks", "hang_operations", kMemoryAreasTable,
                                             kMemoryMapTable};

size_t FittingJobRows(const Table& table) {
  const bool is_drawn = std::find(std::begin(kDrawnTables), std::end(kDrawnTables), table.name) !=
                        std::end(kDrawnTables);
  return is_drawn ? RowsThatFit(table, kMostDrawnRows, kMostDrawnBytes)
                  : RowsThatFit(table, kMostJobRows, kMostJobBytes);
}

const Table* FindJobTable(const Document& document, std::string_view name) {
  const auto found = std::find_if(document.tables.begin(), document.tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  return found == document.tables.end() ? nullptr : &*found;
}

// The last part of a path; the whole of "." and "..".
std::string NameOfJob(const std::string& job) {
  const std::filesystem::path path = std::filesystem::path(job).lexically_normal();
  const std::filesystem::path name =
      path.has_filename() ? path.filename() : path.parent_path().filename();
  return name.empty() ? job : name.string();
}

}  // namespace

size_t AreaRowsOfPage(size_t snapshots) {
  constexpr size_t kAll = kMostDrawnRows;
  constexpr size_t kMost = 2'000;
  constexpr size_t kLeast = 100;
  return std::clamp(kAll / std::max<size_t>(1, snapshots), kLeast, kMost);
}

size_t MapRowsOfPage(size_t snapshots) {
  constexpr size_t kMoments = 3;
  constexpr size_t kMost = 1'000;
  constexpr size_t kLeast = 40;
  return std::clamp(kMostDrawnRows / kMoments / std::max<size_t>(1, snapshots), kLeast, kMost);
}

ReportPage PageOfPostmortem(const std::string& job, const Document& document) {
  ReportPage page;
  page.title = "Post-mortem of " + NameOfJob(job);
  page.panes = {{std::string(kJobPane), "Post-mortem"}, {"quality", "Data quality"}};
  page.document.diagnostics = document.diagnostics;
  for (const JobSection& section : kJobSections) {
    ReportSection made;
    made.name = section.name;
    made.summary = section.summary;
    made.pane = kJobPane;
    made.first_table = page.document.tables.size();
    for (const std::string_view name : section.tables) {
      const Table* const table = FindJobTable(document, name);
      if (table == nullptr || table->rows() == 0) continue;
      page.document.tables.push_back(Head(*table, FittingJobRows(*table)));
      page.all_rows.push_back(table->rows());
      page.comparisons.push_back(Comparison::kNone);
      ++made.table_count;
    }
    if (made.table_count > 0) page.sections.push_back(std::move(made));
  }
  return page;
}

}  // namespace borescope::internal
