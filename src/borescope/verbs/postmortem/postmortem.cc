#include "borescope/postmortem.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
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
#include "borescope/engine/targets/targets.h"
#include "borescope/output/html/html.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/units/units.h"
#include "borescope/output/writer.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_findings.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/postmortem/logs/error_files.h"
#include "borescope/postmortem/logs/job_logs.h"
#include "borescope/postmortem/memory/memory_findings.h"
#include "borescope/postmortem/memory/memory_rows.h"
#include "borescope/postmortem/memory/oom.h"
#include "borescope/postmortem/program_line.h"
#include "borescope/postmortem/trace_join.h"
#include "borescope/postmortem/verdict.h"
#include "borescope/scrub/scrubber.h"
#include "borescope/table/fit.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"
#include "borescope/verbs/scrub/scrub_run.h"

namespace borescope {
namespace internal {
namespace {

struct PostmortemRequest {
  std::vector<std::string> paths;
  PostmortemOptions options;
  NumberRanges ranks;
  std::shared_ptr<Scrubber> scrubber = nullptr;  // nothing: texts stay
};

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

// How many rows of memory over time each of so many snapshots may have, for a page that can be
// mailed.
size_t AreaRowsOfPage(size_t snapshots) {
  constexpr size_t kAll = kMostDrawnRows;
  constexpr size_t kMost = 2'000;
  constexpr size_t kLeast = 100;
  return std::clamp(kAll / std::max<size_t>(1, snapshots), kLeast, kMost);
}

// How many rows of the map of memory the peak, the failure and the end of each of so many snapshots
// may have.
size_t MapRowsOfPage(size_t snapshots) {
  constexpr size_t kMoments = 3;
  constexpr size_t kMost = 1'000;
  constexpr size_t kLeast = 40;
  return std::clamp(kMostDrawnRows / kMoments / std::max<size_t>(1, snapshots), kLeast, kMost);
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

// ---- the files ----

// What was made of all files.
struct Everything {
  std::vector<SourceFindings> sources;
  std::vector<AllocationMark> marks;
  std::vector<JobFileRow> files;
  bool has_failed = false;
};

// Why a file counts for nothing that should have been readable, or that other verbs read; else
// nothing.
std::optional<Diagnostic> WhyNotRead(const JobFile& file) {
  const bool has_to_be_dump = IsDumpName(file.path);
  if (file.failure.has_value()) {
    return Diagnostic{Severity::kError,
                      "unreadable-file",
                      1,
                      file.path,
                      WhyUnreadable(*file.failure),
                      "The file could not be read; the answer is about the others."};
  }
  if (file.is_trace) {
    return Diagnostic{Severity::kInfo,
                      "trace-file",
                      1,
                      file.path,
                      "",
                      "A trace, which says nothing here: borescope summary reads it."};
  }
  if (!file.foreign.empty()) {
    return Diagnostic{Severity::kInfo,
                      "other-format",
                      1,
                      file.path,
                      std::string(file.foreign),
                      "A post-mortem does not read it; the answer is from the other files."};
  }
  if (file.kind == JobFileKind::kOther && has_to_be_dump) {
    return Diagnostic{Severity::kError,
                      "unreadable-file",
                      1,
                      file.path,
                      std::string(file.oddity),
                      "The file is named like a dump and is none; nothing in it was run."};
  }
  return std::nullopt;
}

// Rows of files that no source reads. Of folders only pickles are listed, and what is named like a
// dump.
void AddOthers(std::span<const JobFile> files, Everything& all) {
  SourceFindings others;
  std::set<std::string> listed;
  for (const JobFileRow& row : all.files) {
    listed.insert(row.file);
  }
  for (const JobFile& file : files) {
    if (listed.contains(file.path)) {
      continue;
    }
    const bool is_wanted = file.is_named || IsDumpName(file.path) || !file.foreign.empty() ||
                           (file.kind != JobFileKind::kOther && !file.failure.has_value());
    std::optional<Diagnostic> why = WhyNotRead(file);
    const bool is_refused = is_wanted && why.has_value() && why->severity == Severity::kError;
    if (why.has_value() && (is_wanted || file.is_trace)) {
      others.diagnostics.push_back(std::move(*why));
    }
    if (!is_wanted) {
      if (file.failure.has_value()) {
        others.diagnostics.push_back(NotRecognised(file));  // it may be the log that says why
      }
      continue;
    }
    all.has_failed = all.has_failed || is_refused;
    all.files.push_back(RowOf(file, is_refused ? "refused" : "ignored"));
  }
  all.sources.push_back(std::move(others));
}

// The values of two whole columns of a table, where a row has both.
void ForEachPair(const Table& table, std::string_view first, std::string_view second,
                 const std::function<void(int64_t, int64_t)>& use) {
  const Column* const a = table.Find(first);
  const Column* const b = table.Find(second);
  const IntValues* const left = a == nullptr ? nullptr : std::get_if<IntValues>(&a->values);
  const IntValues* const right = b == nullptr ? nullptr : std::get_if<IntValues>(&b->values);
  for (size_t i = 0; left != nullptr && right != nullptr && i < left->size(); ++i) {
    if (!a->IsMissing(i) && !b->IsMissing(i)) use((*left)[i], (*right)[i]);
  }
}

// The times at which profiles can say what the program did: the last failed request of a rank,
// and when a rank at fault issued its newest operation.
std::vector<JobMoment> MomentsOf(std::span<const SourceFindings> sources) {
  std::map<int64_t, int64_t> failed;
  std::map<int64_t, int64_t> newest;
  std::set<int64_t> culprits;
  for (const SourceFindings& source : sources) {
    for (const Table& table : source.tables) {
      if (table.name == postmortem::OomRow::kTable.name) {
        ForEachPair(table, "rank", "ts_unix_ns", [&](int64_t rank, int64_t unix_ns) {
          failed[rank] = std::max(failed[rank], unix_ns);
        });
      } else if (table.name == HangRankRow::kTable.name) {
        ForEachPair(table, "rank", "last_issue_unix_ns",
                    [&](int64_t rank, int64_t unix_ns) { newest[rank] = unix_ns; });
      } else if (table.name == HangCulpritRow::kTable.name) {
        ForEachPair(table, "rank", "rank", [&](int64_t rank, int64_t) { culprits.insert(rank); });
      }
    }
  }
  std::vector<JobMoment> moments;
  moments.reserve(failed.size() + newest.size());
  for (const auto& [rank, unix_ns] : failed) {
    moments.push_back({static_cast<int32_t>(rank), "out of memory", unix_ns});
  }
  for (const auto& [rank, unix_ns] : newest) {
    if (culprits.contains(rank)) {
      moments.push_back({static_cast<int32_t>(rank), "newest operation", unix_ns});
    }
  }
  return moments;
}

// "By trace_3.json, it was in aten::empty of Linear_0, ProfilerStep#7."
std::string MomentText(const MomentRow& row) {
  std::string what = row.operator_name.value_or("");
  if (row.module.has_value()) {
    what += what.empty() ? *row.module : " of " + *row.module;
  }
  for (const std::optional<std::string>& more : {row.annotation, row.step}) {
    if (more.has_value()) what += (what.empty() ? "" : ", ") + *more;
  }
  return what.empty() ? std::string() : fmt::format(" By {}, it was in {}.", row.profile, what);
}

// What the profiles that lie there say about the times of the findings.
void AddMoments(std::span<const JobFile> files, int threads, Everything& all) {
  const std::vector<JobMoment> moments = MomentsOf(all.sources);
  const bool has_profile =
      std::any_of(files.begin(), files.end(), [](const JobFile& file) { return file.is_trace; });
  if (moments.empty() || !has_profile) {
    return;
  }
  MomentPart part = FindMoments(files, moments, all.marks, threads);
  for (const MomentRow& row : part.rows) {
    if (row.moment != "out of memory" || row.match.starts_with("cannot tell")) {
      continue;
    }
    for (SourceFindings& source : all.sources) {
      for (JobFinding& finding : source.findings) {
        if (finding.order == CauseRank::kOutOfMemory && finding.ranks == fmt::to_string(row.rank)) {
          finding.evidence += MomentText(row);
        }
      }
    }
  }
  SourceFindings found;
  found.tables.push_back(MakeTable(part.rows));
  found.diagnostics = std::move(part.diagnostics);
  all.sources.push_back(std::move(found));
  for (const std::string& path : part.read) {
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const JobFile& one) { return one.path == path; });
    all.files.push_back(RowOf(*file, "read"));
    all.files.back().kind = "trace";
  }
}

// The first file that is a trace.
const JobFile* AnyTrace(std::span<const JobFile> files) {
  const auto trace =
      std::find_if(files.begin(), files.end(), [](const JobFile& file) { return file.is_trace; });
  return trace == files.end() ? nullptr : &*trace;
}

// Nothing where none is given.
Result<std::optional<postmortem::ByteRange>> LimitOf(const std::string& text) {
  const std::optional<postmortem::ByteRange> limit =
      text.empty() ? std::nullopt : postmortem::ParseByteRange(text);
  if (!text.empty() && !limit.has_value()) {
    return UsageError(fmt::format("'{}' is no size, as 1.58GiB, 1.7G or 1700349870 are", text), "",
                      "limit");
  }
  return limit;
}

Result<postmortem::MemoryRequest> MemoryRequestOf(const PostmortemRequest& request,
                                                  const HangRequest& hang, uint64_t done_before,
                                                  size_t snapshots) {
  postmortem::MemoryRequest memory;
  memory.fix_time = std::chrono::seconds(request.options.fix_time);
  memory.area_rows = request.options.html.empty() ? 0 : AreaRowsOfPage(snapshots);
  memory.map_rows = request.options.html.empty() ? 0 : MapRowsOfPage(snapshots);
  BS_ASSIGN(memory.limit, LimitOf(request.options.limit));
  if (hang.progress) {
    memory.progress = [progress = hang.progress, done_before](uint64_t done) {
      progress(done_before + done);
    };
  }
  return memory;
}

// What PyTorch's text on a failed request says that the process may reserve, if all texts agree.
std::optional<postmortem::ByteRange> AllowedByLogs(std::span<const JobEvent> events) {
  std::optional<postmortem::ByteRange> allowed;
  for (const JobEvent& event : events) {
    if (!event.out_of_memory.has_value() || !event.out_of_memory->allowed.has_value()) {
      continue;
    }
    const postmortem::ByteRange& range = *event.out_of_memory->allowed;
    if (allowed.has_value() && (allowed->low != range.low || allowed->high != range.high)) {
      return std::nullopt;
    }
    allowed = range;
  }
  return allowed;
}

bool IsPage(const JobFile& file) {
  return file.kind == JobFileKind::kOther && !file.is_named && !IsDumpName(file.path) &&
         (file.path.ends_with(".html") || file.path.ends_with(".htm"));
}

// The page is written over no file of the job. An earlier page in its folder is none: it repeats
// what logs said.
Result<void> KeepPageApart(const std::string& html, std::vector<JobFile>& files) {
  if (html.empty() || IsWrittenDirectly(html)) {
    return {};
  }
  std::vector<std::string> pages;
  std::vector<std::string> inputs;
  for (const JobFile& file : files) {
    (IsPage(file) ? pages : inputs).push_back(file.path);
  }
  BS_TRY(CheckNoInput(inputs, html, "`html`"));
  BS_ASSIGN(const FileLookup known, FileLookup::Of(pages));
  BS_ASSIGN(const std::optional<size_t> found, known.Find(html));
  if (found.has_value()) {
    std::erase_if(files, [&](const JobFile& file) { return file.path == pages[*found]; });
  }
  return {};
}

// Takes snapshots of an attempt of the job before the newest, by the folders of torchrun, out of
// `snapshots`: they are listed, and count for nothing. `all` has the dumps, and `logs` the logs.
void LeaveOutOlderSnapshots(const LogPart& logs, std::vector<JobFile>& snapshots, Everything& all) {
  std::optional<int32_t> newest;
  for (const std::span<const JobFileRow> rows :
       {std::span<const JobFileRow>(all.files), std::span<const JobFileRow>(logs.files)}) {
    for (const JobFileRow& row : rows) {
      const bool counts = row.status == "read" || row.status == "truncated";
      newest = counts ? std::max(newest, AttemptOfFolder(row.file)) : newest;
    }
  }
  for (const JobFile& snapshot : snapshots) {
    newest = std::max(newest, AttemptOfFolder(snapshot.path));
  }
  SourceFindings left_out;
  std::erase_if(snapshots, [&](const JobFile& snapshot) {
    const std::optional<int32_t> attempt = AttemptOfFolder(snapshot.path);
    if (!attempt.has_value() || attempt >= newest) {
      return false;
    }
    left_out.diagnostics.push_back(
        {Severity::kInfo, "older-attempt", 1, snapshot.path, "",
         "The folder holds files of several attempts of the job; the newest one is answered. Name "
         "the files of another attempt alone to ask about it."});
    all.files.push_back(RowOf(snapshot, "ignored"));
    return true;
  });
  all.sources.push_back(std::move(left_out));
}

// What the answer says about folders that were not searched.
std::string DepthWords(const std::string& not_searched) {
  return fmt::format("folders that lie deeper than {}, such as {}, are not searched",
                     kJobFolderDepth - 1, not_searched);
}

std::string LinkWords(const std::string& link) {
  return fmt::format(
      "links that lead out of the folder, or to nothing, such as {}, are not followed", link);
}

// Why nothing of the job could be read.
Error NothingRead(const PostmortemRequest& request, std::span<const JobFile> files,
                  std::span<const SourceFindings> sources, const UnsearchedPlaces& left_out) {
  for (const JobFile& file : files) {
    if (file.failure.has_value() && file.is_named) {
      return *file.failure;
    }
  }
  for (const SourceFindings& source : sources) {
    for (const Diagnostic& diagnostic : source.diagnostics) {
      if (diagnostic.severity == Severity::kError) {
        return Error{.code = ErrorCode::kUnsupportedFormat,
                     .cause = diagnostic.first,
                     .remedy = {},
                     .file = diagnostic.file};
      }
    }
  }
  // Logs and error files that were refused are warnings, of which one is enough here.
  for (const SourceFindings& source : sources) {
    for (const Diagnostic& diagnostic : source.diagnostics) {
      if (diagnostic.code == "unreadable-file") {
        return Error{.code = ErrorCode::kCorrupt,
                     .cause = diagnostic.first,
                     .remedy = {},
                     .file = diagnostic.file};
      }
    }
  }
  const auto foreign = std::find_if(files.begin(), files.end(),
                                    [](const JobFile& file) { return !file.foreign.empty(); });
  if (foreign != files.end()) {
    return Error{
        .code = ErrorCode::kUnsupportedFormat,
        .cause = fmt::format(
            "this is {}, and no dump, memory snapshot, log or error file of a job is there",
            foreign->foreign),
        .remedy = "give the dumps and logs of the ranks as well",
        .file = foreign->path};
  }
  if (const JobFile* const trace = AnyTrace(files); trace != nullptr) {
    return Error{.code = ErrorCode::kUnsupportedFormat,
                 .cause =
                     "this is a trace of a profiler, and no dump, memory snapshot, log or "
                     "error file of a job is there",
                 .remedy = fmt::format("ask borescope summary {}", request.paths.front()),
                 .file = trace->path};
  }
  if (!left_out.too_deep.empty() || !left_out.link.empty()) {
    return Error{
        .code = ErrorCode::kUnsupportedFormat,
        .cause = fmt::format(
            "no dump, memory snapshot, log or error file of a job is there; {}",
            left_out.too_deep.empty() ? LinkWords(left_out.link) : DepthWords(left_out.too_deep)),
        .remedy = "name the folder that holds the files",
        .file = request.paths.front()};
  }
  return Error{.code = ErrorCode::kUnsupportedFormat,
               .cause = "no dump, memory snapshot, log or error file of a job is there",
               .remedy =
                   "set TORCH_NCCL_DUMP_ON_TIMEOUT=1 and TORCH_FR_BUFFER_SIZE=2000, and "
                   "collect the files of TORCH_FR_DUMP_TEMP_FILE of all ranks",
               .file = request.paths.front()};
}

Result<Everything> ReadAll(const PostmortemRequest& request) {
  const int threads = ThreadsOf(request.options.threads);
  BS_ASSIGN(const LineFinder lines, LineFinder::Make(request.options.skip_frames));
  UnsearchedPlaces left_out;
  BS_ASSIGN(std::vector<JobFile> files, FindJobFiles(request.paths, threads, &left_out));
  BS_TRY(KeepPageApart(request.options.html, files));
  Everything all;
  uint64_t total = 0;
  for (const JobFile& file : files) {
    total += file.bytes;
  }
  HangRequest hang = {.world = request.options.world, .threads = threads};
  if (const ProgressCallback& progress = request.options.progress) {
    hang.progress = [&progress, total, count = files.size()](uint64_t done) {
      progress({.done_bytes = done, .total_bytes = total, .done_files = 0, .total_files = count});
    };
  }
  uint64_t dump_bytes = 0;
  if (const std::vector<JobFile> dumps = OfKind(files, JobFileKind::kFlightRecorder);
      !dumps.empty()) {
    for (const JobFile& dump : dumps) {
      dump_bytes += dump.bytes;
    }
    BS_ASSIGN(HangPart part, FindHang(dumps, hang, lines));
    all.sources.push_back(std::move(part.found));
    std::move(part.files.begin(), part.files.end(), std::back_inserter(all.files));
    all.has_failed = all.has_failed || part.has_failed;
  }
  LogPart logs = FindLogs(files, {.threads = threads, .progress = {}}, lines);
  std::vector<JobFile> snapshots = OfKind(files, JobFileKind::kMemorySnapshot);
  LeaveOutOlderSnapshots(logs, snapshots, all);
  if (!snapshots.empty()) {
    BS_ASSIGN(postmortem::MemoryRequest memory,
              MemoryRequestOf(request, hang, dump_bytes, snapshots.size()));
    memory.is_alone = std::all_of(files.begin(), files.end(), [](const JobFile& file) {
      return file.kind == JobFileKind::kMemorySnapshot || file.is_trace;
    });
    memory.limit = memory.limit.has_value() ? memory.limit : AllowedByLogs(logs.events);
    postmortem::MemoryPart part = postmortem::FindMemory(snapshots, memory, lines);
    all.sources.push_back(std::move(part.found));
    std::move(part.files.begin(), part.files.end(), std::back_inserter(all.files));
    all.marks = std::move(part.marks);
    all.has_failed = all.has_failed || part.has_failed;
  }
  all.has_failed =
      all.has_failed || std::any_of(logs.files.begin(), logs.files.end(),
                                    [](const JobFileRow& row) { return row.status == "refused"; });
  // Findings of logs are joined with all others.
  std::move(logs.files.begin(), logs.files.end(), std::back_inserter(all.files));
  JoinLogs(std::move(logs), all.sources);
  AddMoments(files, threads, all);
  AddOthers(files, all);
  const bool is_any_read = std::any_of(
      all.files.begin(), all.files.end(),
      [](const JobFileRow& row) { return row.status == "read" || row.status == "truncated"; });
  if (!is_any_read) {
    return NothingRead(request, files, all.sources, left_out);
  }
  for (Diagnostic& diagnostic : DiagnosticsOf(left_out)) {
    all.sources.back().diagnostics.push_back(std::move(diagnostic));
  }
  std::sort(all.files.begin(), all.files.end(),
            [](const JobFileRow& a, const JobFileRow& b) { return a.file < b.file; });
  return all;
}

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
      "out of "
      "memory.";
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

Result<PostmortemReport> Answered(const PostmortemRequest& request, Everything all) {
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
  BS_ASSIGN(Everything all, ReadJobWithin(request.options.memory_limit, request.paths.front(),
                                          [&] { return ReadAll(request); }));
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
