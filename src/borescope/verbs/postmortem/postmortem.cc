#include "borescope/postmortem.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/engine/access.h"
#include "borescope/engine/question/question.h"
#include "borescope/output/html/html.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/units/units.h"
#include "borescope/output/writer.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/postmortem/logs/job_logs.h"
#include "borescope/postmortem/memory/memory_findings.h"
#include "borescope/postmortem/trace_join.h"
#include "borescope/scrub/scrubber.h"
#include "borescope/table/fit.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"
#include "borescope/verbs/postmortem/read_job.h"
#include "borescope/verbs/scrub/scrub_run.h"

namespace borescope {
namespace internal {
namespace {

// ---- the page ----

// The tables that charts of memory are drawn from, and that only a page has.
constexpr std::string_view kMemoryAreasTable = "memory_areas";
constexpr std::string_view kMemoryMapTable = "memory_map";

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

// `job`: what the user named. `document`: the tables of all sources, whole; the page has of each as
// much as fits.
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

// ---- the answer ----

// Ranks of which no such file is there, though it is of those before and after them.
std::vector<int32_t> Gaps(const std::set<int64_t>& ranks) {
  constexpr int64_t kMostRanks = 1 << 16;
  std::vector<int32_t> gaps;
  const int64_t last = ranks.empty() ? -1 : std::min(*ranks.rbegin(), kMostRanks);
  for (int64_t rank = 0; rank < last; ++rank) {
    if (!ranks.contains(rank)) gaps.push_back(static_cast<int32_t>(rank));
  }
  return gaps;
}

// What was read of a job, and what of it is not there: " No dump of the flight recorder ... is
// there; job.log was read, and has no line that says why."
std::string WhatIsThere(std::span<const JobFileRow> files) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"flight-recorder", "dump of the flight recorder"},
      {"memory-snapshot", "memory snapshot"},
      {"elastic-error", "error file"},
      {"py-spy", "stack of py-spy"}};
  std::map<std::string_view, std::set<int64_t>> ranks_of;  // by kind
  std::string log;
  size_t logs = 0;
  size_t damaged_logs = 0;
  for (const JobFileRow& file : files) {
    if (file.status != "read" && file.status != "truncated") {
      continue;
    }
    std::set<int64_t>& ranks = ranks_of[file.kind];
    if (file.rank.has_value()) ranks.insert(*file.rank);
    if (file.kind == "log") {
      ++logs;
      damaged_logs += file.status == "truncated" ? 1 : 0;
      log = file.file.substr(file.file.rfind('/') + 1);
    }
  }
  std::vector<std::string> missing;
  for (const auto& [kind, words] : kKinds) {
    if (const auto found = ranks_of.find(kind); found == ranks_of.end()) {
      missing.push_back(fmt::format("no {}", words));
    } else if (const std::vector<int32_t> gaps = Gaps(found->second); !gaps.empty()) {
      missing.push_back(fmt::format("no {} of {}", words, RankWords(gaps)));
    }
  }
  if (const std::vector<int32_t> gaps = Gaps(ranks_of["log"]); logs == 0 || !gaps.empty()) {
    missing.push_back(logs == 0 ? "no log" : fmt::format("no log of {}", RankWords(gaps)));
  }
  std::string text;
  for (size_t i = 0; i < missing.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ") + missing[i];
  }
  if (!text.empty()) {
    text = fmt::format(" {} is there.", text);
    text[1] = 'N';
  }
  if (logs > 0) {
    std::string extent;
    if (damaged_logs > 0) {
      extent = fmt::format(", {}up to where {} damaged",
                           logs == 1 ? "" : fmt::format("{} of them ", damaged_logs),
                           damaged_logs == 1 ? "it is" : "they are");
    }
    text += fmt::format(" {} read{}, and {} no exception, signal, exit code or line of a watchdog.",
                        logs == 1 ? log + " was" : fmt::format("{} logs were", logs), extent,
                        logs == 1 ? "has" : "have");
  }
  return text;
}

// Nothing was found, and what would have shown something.
JobFinding NoCause(std::span<const JobFileRow> files) {
  JobFinding finding;
  finding.order = CauseRank::kNothing;
  finding.finding = "No cause can be named";
  finding.severity = Severity::kInfo;
  finding.certainty = Certainty::kCannotTell;
  finding.evidence = "Nothing in these files shows why the job ended." + WhatIsThere(files);
  finding.help =
      "For the next time: TORCH_NCCL_DUMP_ON_TIMEOUT=1, TORCH_FR_BUFFER_SIZE=2000, "
      "TORCH_NCCL_ENABLE_TIMING=1; TORCHELASTIC_ERROR_FILE and @record; "
      "torch.cuda.memory._record_memory_history(max_entries=100000) with a dump in an observer of "
      "out of memory.";
  return finding;
}

// Rows of these ranks; tables without ranks stay.
Table OfRanks(const Table& table, const NumberRanges& ranks) {
  const Column* const column = table.Find("rank");
  const IntValues* const values =
      column == nullptr ? nullptr : std::get_if<IntValues>(&column->values);
  if (ranks.empty() || values == nullptr) {
    return table;
  }
  std::vector<uint32_t> kept;
  for (size_t i = 0; i < values->size(); ++i) {
    if (!column->IsMissing(i) && ranks.Contains((*values)[i])) {
      kept.push_back(static_cast<uint32_t>(i));
    }
  }
  return TakeRows(table, kept);
}

// All ranks that any table speaks of, ascending.
std::vector<int32_t> RanksOf(std::span<const Table> tables) {
  std::set<int32_t> ranks;
  for (const Table& table : tables) {
    const Column* const column = table.Find("rank");
    const IntValues* const values =
        column == nullptr ? nullptr : std::get_if<IntValues>(&column->values);
    for (size_t i = 0; values != nullptr && i < values->size(); ++i) {
      if (!column->IsMissing(i)) ranks.insert(static_cast<int32_t>((*values)[i]));
    }
  }
  return {ranks.begin(), ranks.end()};
}

Result<void> CheckRanks(const NumberRanges& asked, std::span<const Table> tables) {
  const std::vector<int32_t> ranks = RanksOf(tables);
  if (asked.empty() ||
      std::any_of(ranks.begin(), ranks.end(), [&](int32_t rank) { return asked.Contains(rank); })) {
    return {};
  }
  return UsageError("`rank` names no rank of this job",
                    ranks.empty() ? std::string("its files do not say their ranks")
                                  : fmt::format("its ranks are {}", RankList(ranks)),
                    "rank");
}

Result<void> Arrange(const PostmortemOptions& options, std::vector<Table>& tables) {
  bool is_sorted = options.sort.empty();
  std::optional<Error> unknown;
  for (Table& table : tables) {
    if (options.sort.empty()) {
      break;
    }
    Result<Table> sorted = SortBy(table, options.sort);
    if (sorted.ok()) {
      table = std::move(*sorted);
      is_sorted = true;
    } else if (!unknown.has_value()) {
      unknown = OfParameter("sort", sorted.error());
    }
  }
  if (!is_sorted) {
    return *unknown;
  }
  for (Table& table : tables) {
    if (options.top.has_value()) {
      table.preview_rows = 0;
      if (*options.top < table.rows()) {
        table.title +=
            fmt::format(" (first {} of {} rows)", GroupDigits(static_cast<int64_t>(*options.top)),
                        GroupDigits(static_cast<int64_t>(table.rows())));
        table = Head(table, *options.top);
      }
    }
  }
  return {};
}

Result<PostmortemReport> Answered(const PostmortemRequest& request, JobContents all) {
  PostmortemReport report;
  Document document;
  std::vector<JobFinding> findings;
  std::vector<Table> others;
  report.has_failed = all.has_failed;
  for (SourceFindings& source : all.sources) {
    std::move(source.findings.begin(), source.findings.end(), std::back_inserter(findings));
    std::move(source.tables.begin(), source.tables.end(), std::back_inserter(others));
    std::move(source.diagnostics.begin(), source.diagnostics.end(),
              std::back_inserter(document.diagnostics));
    report.has_cause = report.has_cause || source.has_cause;
    report.is_unclear = report.is_unclear || source.is_unclear;
  }
  if (findings.empty()) {
    findings.push_back(NoCause(all.files));
  }
  report.is_unclear = report.is_unclear || !report.has_cause;
  document.tables.push_back(VerdictTable(std::move(findings)));
  std::copy_if(others.begin(), others.end(), std::back_inserter(document.tables),
               [](const Table& table) { return table.rows() > 0; });
  document.tables.push_back(MakeTable(all.files));
  BS_TRY(CheckRanks(request.ranks, document.tables));
  for (Table& table : document.tables) {
    table = OfRanks(table, request.ranks);
  }
  if (request.scrubber != nullptr) {
    std::vector<std::string> paths;
    paths.reserve(all.files.size());
    for (const JobFileRow& file : all.files) {
      paths.push_back(file.file);
    }
    ScrubAnswer(paths, *request.scrubber, document);
  }
  if (const std::string& path = request.options.html; !path.empty()) {
    const ReportPage page =
        PageOfPostmortem(request.scrubber == nullptr ? request.paths.front() : "a job", document);
    BS_TRY(WriteFile(path, [&](Sink& sink) { return WriteHtml(page, ReportTemplate(), sink); }));
    // Of the page alone.
    std::erase_if(document.tables, [](const Table& table) {
      return table.name == kMemoryAreasTable || table.name == kMemoryMapTable;
    });
  }
  BS_TRY(Arrange(request.options, document.tables));
  // Two screens of a terminal; --top shows more.
  constexpr size_t kTwoScreens = 48;
  document.most_lines = request.options.top.has_value() ? 0 : kTwoScreens;
  report.answer = AnswerAccess::Make(std::move(document));
  return report;
}

Result<PostmortemReport> Run(const PostmortemRequest& request) {
  BS_ASSIGN(JobContents all, ReadJobWithin(request.options.memory_limit, request.paths.front(),
                                           [&] { return ReadContents(request); }));
  return Answered(request, std::move(all));
}

}  // namespace
}  // namespace internal

Result<PostmortemReport> Postmortem(std::span<const std::string> paths,
                                    const PostmortemOptions& options) {
  if (paths.empty()) {
    return internal::UsageError("no file or folder of a job");
  }
  BS_TRY(internal::LimitOf(options.limit));  // also where no snapshot is there
  internal::PostmortemRequest request;
  request.paths.assign(paths.begin(), paths.end());
  request.options = options;
  if (!options.rank.empty()) {
    BS_ASSIGN(request.ranks, internal::ParseRanges("rank", options.rank));
  }
  if (options.scrub.has_value()) {
    if (options.scrub->names || !options.scrub->map_file.empty()) {
      return internal::UsageError("a post-mortem gives no new names",
                                  "scrub dumps and snapshots first, by convert --scrub=names",
                                  "scrub");
    }
    BS_ASSIGN(const internal::ScrubRules rules, internal::RulesOf(*options.scrub));
    request.scrubber = std::make_shared<internal::Scrubber>(rules);
  }
  return internal::WithNumberedRows(
      [&] { return internal::Stoppable(options.stop, [&] { return internal::Run(request); }); });
}

Answer DescribePostmortem() {
  std::vector<internal::Table> tables = {internal::VerdictTable({})};
  for (internal::Table& table : internal::HangShape()) {
    tables.push_back(std::move(table));
  }
  for (internal::Table& table : internal::postmortem::MemoryShape()) {
    tables.push_back(std::move(table));
  }
  tables.push_back(internal::NewTable<internal::MomentRow>());
  tables.push_back(internal::NewTable<internal::LogFindingRow>());
  tables.push_back(internal::NewTable<internal::JobFileRow>());
  return AnswerAccess::Make(internal::Document{std::move(tables), {}});
}

}  // namespace borescope
