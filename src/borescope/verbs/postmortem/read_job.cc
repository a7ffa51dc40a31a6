#include "borescope/verbs/postmortem/read_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "borescope/engine/access.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output/sink/sink.h"
#include "borescope/postmortem/hang_findings.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/postmortem/logs/error_files.h"
#include "borescope/postmortem/logs/job_logs.h"
#include "borescope/postmortem/memory/memory_findings.h"
#include "borescope/postmortem/memory/memory_rows.h"
#include "borescope/postmortem/program_line.h"
#include "borescope/postmortem/verdict.h"
#include "borescope/table/typed_rows.h"
namespace borescope::internal {
namespace {

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
void AddOthers(std::span<const JobFile> files, JobContents& all) {
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
void AddMoments(std::span<const JobFile> files, int threads, JobContents& all) {
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
void LeaveOutOlderSnapshots(const LogPart& logs, std::vector<JobFile>& snapshots,
                            JobContents& all) {
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

}  // namespace

Result<std::optional<postmortem::ByteRange>> LimitOf(const std::string& text) {
  const std::optional<postmortem::ByteRange> limit =
      text.empty() ? std::nullopt : postmortem::ParseByteRange(text);
  if (!text.empty() && !limit.has_value()) {
    return UsageError(fmt::format("'{}' is no size, as 1.58GiB, 1.7G or 1700349870 are", text), "",
                      "limit");
  }
  return limit;
}

Result<JobContents> ReadContents(const PostmortemRequest& request) {
  const int threads = ThreadsOf(request.options.threads);
  BS_ASSIGN(const LineFinder lines, LineFinder::Make(request.options.skip_frames));
  UnsearchedPlaces left_out;
  BS_ASSIGN(std::vector<JobFile> files, FindJobFiles(request.paths, threads, &left_out));
  BS_TRY(KeepPageApart(request.options.html, files));
  JobContents all;
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

}  // namespace borescope::internal
