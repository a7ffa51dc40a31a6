#include "borescope/engine/job_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/engine/map_files.h"
#include "borescope/index/trace_index.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_findings.h"
#include "borescope/postmortem/job_files.h"
#include "borescope/postmortem/logs/job_logs.h"
#include "borescope/postmortem/memory/held.h"
#include "borescope/postmortem/memory/memory_findings.h"
#include "borescope/postmortem/memory/read_snapshot.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/table/typed_rows.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {
namespace {

// All files of one kind.
struct JobKindRow {
  std::string kind = {};
  int64_t files = 0;
  std::optional<std::string> ranks = {};
  int64_t records = 0;
  std::optional<int64_t> begin_unix_ns = {};
  std::optional<int64_t> end_unix_ns = {};
  int64_t bytes = 0;
  int64_t unread = 0;
  std::string ask = {};

  static constexpr TableNames kTable{"job", "What a job left"};
  static constexpr ColumnOf<JobKindRow> kColumns[] = {
      {"kind", &JobKindRow::kind, Role::kKey,
       "flight-recorder: latest communication of a process; memory-snapshot: what its allocator "
       "holds; log, elastic-error and others: docs/use/postmortem-logs.md."},
      {"files", &JobKindRow::files, Unit::kCount, Role::kSum, "Number of files."},
      {"ranks", &JobKindRow::ranks, Role::kDerived,
       "Whose they are, as 0..7,9; missing where that is not known."},
      {"records", &JobKindRow::records, Unit::kCount, Role::kSum,
       "Entries of rings, events of traces, or lines."},
      {"begin_unix_ns", &JobKindRow::begin_unix_ns, Unit::kNanoseconds, Role::kMin,
       "Time of the first record, nanoseconds since 1970."},
      {"end_unix_ns", &JobKindRow::end_unix_ns, Unit::kNanoseconds, Role::kMax,
       "Time of the last record."},
      {"bytes", &JobKindRow::bytes, Unit::kBytes, Role::kSum, "Size as stored."},
      {"unread", &JobKindRow::unread, Unit::kCount, Role::kSum,
       "Files that could not be read, or that end in the middle."},
      {"ask", &JobKindRow::ask, Role::kDerived, "The verb that explains them."}};
};

// What was found of each source. Snapshots are replayed, but no changes are tried.
struct JobParts {
  std::vector<JobFile> snapshots;
  std::vector<JobFileRow> files;
  std::vector<SourceFindings> sources;
};

void Add(SourceFindings found, std::vector<JobFileRow> files, JobParts& parts) {
  parts.sources.push_back(std::move(found));
  std::move(files.begin(), files.end(), std::back_inserter(parts.files));
}

// Nothing where no file is a dump, a snapshot, or a log in which something matches.
Result<std::optional<JobParts>> ReadParts(const AnalysisSpec& spec, const RunOptions& options,
                                          std::span<const std::string> names) {
  UnsearchedPlaces left_out;
  BS_ASSIGN(const std::vector<JobFile> files, FindJobFiles(names, options.threads, &left_out));
  BS_ASSIGN(const LineFinder lines, LineFinder::Make(""));
  const bool is_memory = spec.name == "memory";
  JobParts parts;
  parts.snapshots = OfKind(files, JobFileKind::kMemorySnapshot);
  const std::vector<JobFile> dumps = OfKind(files, JobFileKind::kFlightRecorder);
  if (!dumps.empty() && !is_memory) {
    HangRequest request{.world = 0, .threads = options.threads};
    if (!options.ranks.empty()) {
      request.says_of = [&](int64_t rank) { return options.ranks.Contains(rank); };
    }
    BS_ASSIGN(HangPart part, FindHang(dumps, request, lines));
    Add(std::move(part.found), std::move(part.files), parts);
  }
  if (!parts.snapshots.empty()) {
    const postmortem::MemoryRequest request{.fix_time = std::chrono::nanoseconds(0)};
    postmortem::MemoryPart part = postmortem::FindMemory(parts.snapshots, request, lines);
    Add(std::move(part.found), std::move(part.files), parts);
  }
  if (!is_memory) {
    LogPart logs = FindLogs(files, {.threads = options.threads}, lines);
    const bool is_job = !parts.files.empty() || !logs.events.empty();
    if (!is_job) {
      return std::optional<JobParts>();
    }
    SourceFindings found;
    found.diagnostics = std::move(logs.diagnostics);
    for (const JobFile& file : files) {
      if (file.failure.has_value()) {
        found.diagnostics.push_back(NotRecognised(file));
      }
    }
    Add(std::move(found), std::move(logs.files), parts);
  }
  if (parts.files.empty()) {
    return std::optional<JobParts>();
  }
  SourceFindings unsearched;
  unsearched.diagnostics = DiagnosticsOf(left_out);
  Add(std::move(unsearched), {}, parts);
  return std::optional(std::move(parts));
}

std::vector<Diagnostic> DiagnosticsOf(const JobParts& parts) {
  std::vector<Diagnostic> all;
  for (const SourceFindings& source : parts.sources) {
    all.insert(all.end(), source.diagnostics.begin(), source.diagnostics.end());
  }
  return all;
}

// ---- info ----

Table KindsTable(std::span<const JobFileRow> files, const std::string& name) {
  std::map<std::string, JobKindRow> kinds;
  std::map<std::string, std::set<int32_t>> ranks;
  for (const JobFileRow& file : files) {
    JobKindRow& row = kinds[file.kind];
    row.kind = file.kind;
    row.files += 1;
    row.records = AddSaturating(row.records, file.records.value_or(0));
    row.bytes = AddSaturating(row.bytes, file.bytes);
    row.unread += file.status == "refused" || file.status == "truncated" ? 1 : 0;
    if (file.begin_unix_ns.has_value()) {
      row.begin_unix_ns = std::min(*file.begin_unix_ns, row.begin_unix_ns.value_or(INT64_MAX));
    }
    if (file.end_unix_ns.has_value()) {
      row.end_unix_ns = std::max(*file.end_unix_ns, row.end_unix_ns.value_or(INT64_MIN));
    }
    if (file.rank.has_value()) {
      ranks[file.kind].insert(static_cast<int32_t>(*file.rank));
    }
    row.ask = "borescope postmortem " + name;
  }
  std::vector<JobKindRow> rows;
  for (auto& [kind, row] : kinds) {
    const std::vector<int32_t> of_kind(ranks[kind].begin(), ranks[kind].end());
    row.ranks = IfAny(RankList(of_kind));
    rows.push_back(std::move(row));
  }
  return MakeTable(rows);
}

JobAnswer InfoOf(const JobParts& parts, const std::string& name) {
  std::vector<JobFileRow> files = parts.files;
  std::stable_sort(files.begin(), files.end(),
                   [](const JobFileRow& a, const JobFileRow& b) { return a.file < b.file; });
  return {{KindsTable(files, name), MakeTable(files)}, DiagnosticsOf(parts)};
}

// ---- doctor ----

// What is looked for in dumps and snapshots; each has a row, also where nothing was found.
constexpr std::string_view kDumpChecks[] = {
    "unreadable-file", "unsafe-pickle",  "truncated-file",  "bad-field-type", "entries-left-out",
    "rank-unclear",    "local-ranks",    "duplicate-rank",  "older-attempt",  "missing-dumps",
    "unknown-version", "ring-too-small", "group-disagrees", "dumps-apart",    "no-stacks"};
constexpr std::string_view kSnapshotChecks[] = {
    "unreadable-file",       "unsafe-pickle", "truncated-file", "bad-field-type",
    "inconsistent-snapshot", "no-replay",     "ring-of-events", "allocator-differs",
    "contradicting-events",  "end-differs",   "no-stacks",      "python-stacks"};

bool HasKind(const JobParts& parts, JobFileKind kind) {
  return std::any_of(parts.files.begin(), parts.files.end(),
                     [kind](const JobFileRow& file) { return file.kind == JobFileKindName(kind); });
}

// What is left of files if only these ranks were asked for; what is odd about others is not said.
// Files of which nobody knows the rank stay as long as there is another one.
Result<void> KeepFilesOf(const NumberRanges& ranks, JobParts& parts) {
  if (ranks.empty()) {
    return {};
  }
  const auto is_other = [&](const JobFileRow& row) {
    return row.rank.has_value() && !ranks.Contains(*row.rank);
  };
  const bool is_any = std::any_of(parts.files.begin(), parts.files.end(), [&](const auto& row) {
    return row.rank.has_value() && ranks.Contains(*row.rank);
  });
  if (!is_any) {
    return UsageError("`rank` names no rank of these files", "", "rank");
  }
  std::set<std::string> others;
  for (const JobFileRow& row : parts.files) {
    if (is_other(row)) others.insert(row.file);
  }
  std::erase_if(parts.files, is_other);
  for (SourceFindings& source : parts.sources) {
    std::erase_if(source.diagnostics,
                  [&](const Diagnostic& diagnostic) { return others.contains(diagnostic.file); });
  }
  return {};
}

// The rank, where one was asked for.
std::optional<int64_t> OnlyRankOf(const NumberRanges& ranks) {
  return ranks.ranges.size() == 1 && ranks.ranges.front().first == ranks.ranges.front().second
             ? std::optional(ranks.ranges.front().first)
             : std::nullopt;
}

// `rank`: the only one that it is about.
JobAnswer DoctorOf(const JobParts& parts, std::optional<int64_t> rank, const std::string& name) {
  std::map<std::string, DoctorRow> found;
  std::map<std::string, Severity> worst;
  const auto expect = [&](std::span<const std::string_view> checks) {
    for (const std::string_view check : checks) {
      DoctorRow& row = found[std::string(check)];
      row.check = check;
      row.severity = "ok";
    }
  };
  if (HasKind(parts, JobFileKind::kFlightRecorder)) expect(kDumpChecks);
  if (HasKind(parts, JobFileKind::kMemorySnapshot)) expect(kSnapshotChecks);
  std::vector<Diagnostic> diagnostics = DiagnosticsOf(parts);
  for (const Diagnostic& diagnostic : diagnostics) {
    DoctorRow& row = found[diagnostic.code];
    row.check = diagnostic.code;
    if (row.count == 0) {
      row.first = diagnostic.file + (diagnostic.first.empty() ? "" : ": " + diagnostic.first);
      row.help = diagnostic.help;
      worst[diagnostic.code] = diagnostic.severity;
    }
    worst[diagnostic.code] = std::max(worst[diagnostic.code], diagnostic.severity);
    row.severity = SeverityName(worst[diagnostic.code]);
    row.count = AddSaturating(row.count, static_cast<int64_t>(diagnostic.count));
  }
  std::vector<DoctorRow> rows;
  rows.reserve(found.size() + 1);
  for (auto& [check, row] : found) {
    row.rank = rank;
    rows.push_back(std::move(row));
  }
  DoctorRow& ask = rows.emplace_back();
  ask.check = "no-profile";
  ask.severity = "info";
  ask.count = static_cast<int64_t>(parts.files.size());
  ask.first = parts.files.front().file;
  ask.help = fmt::format(
      "These files hold no profile, but what a job left: `borescope postmortem {}` says why it "
      "hung, died or ran out of memory.",
      name);
  SortQuality(rows);
  return {{MakeTable(rows)}, {}};
}

// ---- memory ----

// A recording of allocator events, as the replay of a device says what is held after each.
void AddDevice(const postmortem::MemorySnapshot& snapshot, const postmortem::DeviceMemory& device,
               const postmortem::Replay& replay, TracePart& part) {
  using postmortem::MemoryAction;
  constexpr int32_t kCuda = 1;
  const postmortem::HeldMemory held = postmortem::HeldAfterEach(device, replay);
  MemoryEvents& memory = part.data.memory;
  const TrackId track = part.Track(TrackKind::kHost, 0, 0);
  const auto push = [&](size_t event, uint64_t address, int64_t bytes, size_t level) {
    const int64_t time_us = device.events[event].time_us;
    constexpr int64_t kLatestUs = int64_t{1} << 52;
    memory.ts_ns.push_back(snapshot.has_times ? std::clamp<int64_t>(time_us, 0, kLatestUs) * 1000
                                              : static_cast<int64_t>(event));
    memory.track.push_back(track);
    memory.device_type.push_back(kCuda);
    memory.device.push_back(static_cast<int32_t>(device.device));
    memory.address.push_back(address);
    memory.bytes.push_back(bytes);
    memory.category.push_back(MemoryCategory::kNone);
    memory.total_allocated.push_back(held.allocated[level]);
    memory.total_reserved.push_back(held.reserved[level]);
    part.CountEvent('i', part.Intern("[memory]"), 0);
  };
  push(0, 0, 0, 0);  // what there was before
  for (uint32_t i = 0; i < device.events.size(); ++i) {
    CheckStopAt(i);
    const bool is_change =
        held.allocated[i] != held.allocated[i + 1] || held.reserved[i] != held.reserved[i + 1];
    if (is_change) {
      push(i, device.events[i].address, held.allocated[i + 1] - held.allocated[i], i + 1);
    }
  }
}

// Nothing where no device can be replayed.
Result<std::optional<Trace>> TraceOf(const JobFile& file, int threads) {
  BS_ASSIGN(const postmortem::SnapshotFile read, ReadJobFile(file, postmortem::ReadSnapshot));
  TracePart part;
  for (const postmortem::DeviceMemory& device : read.snapshot.devices) {
    const postmortem::Replay replay = postmortem::ReplayDevice(read.snapshot, device);
    if (replay.impossible.empty() && !device.events.empty()) {
      AddDevice(read.snapshot, device, replay, part);
    }
  }
  if (part.data.memory.size() == 0) {
    return std::optional<Trace>();
  }
  Meta meta;
  meta.file = file.path;
  meta.format = TraceFormat::kMemoryTimeline;
  meta.producer = "PyTorch memory snapshot";
  meta.base_ns = 0;  // times are Unix time
  meta.options.profile_memory = true;
  TraceBuilder builder;
  builder.Append(std::move(part));
  return std::optional<Trace>(builder.Finish(std::move(meta), 0, threads));
}

// Operators are not recorded, and levels are the replay's.
void NameSource(Tables& tables) {
  std::erase_if(tables, [](const Table& table) { return table.name == "memory_ops"; });
  for (Table& table : tables) {
    Column* const source = table.Find("source");
    if (source == nullptr) continue;
    StringValues texts;
    for (size_t i = 0; i < table.rows(); ++i) {
      texts.push_back("replay");
    }
    source->values = std::move(texts);
  }
}

bool IsRefusal(const Diagnostic& diagnostic) {
  return diagnostic.code == "unreadable-file" || diagnostic.code == "unsafe-pickle";
}

bool IsMemoryTable(const Table& table) {
  return table.name == "memory_live" || table.name == "memory_segments" ||
         table.name == "memory_growth";
}

Result<JobAnswer> MemoryOf(const AnalysisSpec& spec, const RunOptions& options,
                           const JobParts& parts) {
  std::vector<RankClaim> claims;
  claims.reserve(parts.snapshots.size());
  for (const JobFile& file : parts.snapshots) {
    claims.push_back(
        {.recorded = std::nullopt,
         .named = file.rank.has_value() ? std::optional<int64_t>(*file.rank) : std::nullopt});
  }
  std::vector<Diagnostics> decisions(claims.size());
  const std::vector<int64_t> ranks = AssignRanks(claims, decisions);
  const Pipeline& pipeline = spec.PipelineFor(options.params);
  std::vector<Tables> findings;
  std::vector<Diagnostic> refused;
  for (size_t i = 0; i < parts.snapshots.size(); ++i) {
    Result<std::optional<Trace>> trace = TraceOf(parts.snapshots[i], options.threads);
    if (!trace.ok()) {
      refused.push_back(RefusalOf(parts.snapshots[i], trace.error()));
    }
    if (!trace.ok() || !trace->has_value()) {
      continue;
    }
    const TraceIndex index = BuildIndex(**trace, options.threads);
    const RankView view{ranks[i], **trace, index, options.threads};
    BS_ASSIGN(Tables mapped, MapTrace(spec, options.params, view));
    findings.push_back(std::move(mapped));
  }
  JobAnswer answer;
  answer.diagnostics = DiagnosticsOf(parts);
  for (Diagnostic& why : refused) {
    const bool is_said = std::any_of(
        answer.diagnostics.begin(), answer.diagnostics.end(),
        [&](const Diagnostic& said) { return said.code == why.code && said.file == why.file; });
    if (!is_said) {  // else FindMemory failed at the same
      answer.diagnostics.push_back(std::move(why));
    }
  }
  // Without another snapshot there is nothing else that the answer could be about.
  const auto failed = std::find_if(answer.diagnostics.begin(), answer.diagnostics.end(), IsRefusal);
  if (parts.snapshots.size() == 1 && failed != answer.diagnostics.end()) {
    return Error{
        .code = failed->code == "unsafe-pickle" ? ErrorCode::kUnsupportedFormat : ErrorCode::kIo,
        .cause = failed->first,
        .remedy = {},
        .file = failed->file};
  }
  if (!findings.empty()) {
    BS_ASSIGN(Tables reduced, pipeline.reduce(findings, options.params));
    answer.tables = std::move(reduced);
    NameSource(answer.tables);
  }
  for (const SourceFindings& source : parts.sources) {
    for (const Table& table : source.tables) {
      if (IsMemoryTable(table) && table.rows() > 0) {
        answer.tables.push_back(table);
      }
    }
  }
  if (answer.tables.empty()) {
    return Error{.code = ErrorCode::kMissingData,
                 .cause = "no block of memory is in these snapshots",
                 .remedy =
                     "call torch.cuda.memory._record_memory_history() before the program "
                     "allocates, and _dump_snapshot() after it",
                 .file = parts.snapshots.front().path};
  }
  return answer;
}

// Rows of these ranks; tables without ranks stay.
Result<void> KeepRanks(const NumberRanges& ranks, Tables& tables) {
  bool is_any = ranks.empty();
  for (Table& table : tables) {
    const Column* const column = table.Find("rank");
    const auto* const values =
        column == nullptr ? nullptr : std::get_if<IntValues>(&column->values);
    if (ranks.empty() || values == nullptr) {
      continue;
    }
    std::vector<uint32_t> kept;
    for (size_t i = 0; i < values->size(); ++i) {
      if (!column->IsMissing(i) && ranks.Contains((*values)[i])) {
        kept.push_back(static_cast<uint32_t>(i));
      }
    }
    is_any = is_any || !kept.empty() || table.rows() == 0;
    table = TakeRows(table, kept);
  }
  return is_any ? Result<void>() : UsageError("`rank` names no rank of these files", "", "rank");
}

Result<std::optional<JobAnswer>> Answered(const AnalysisSpec& spec, const RunOptions& options,
                                          std::span<const std::string> names) {
  BS_ASSIGN(std::optional<JobParts> parts, ReadParts(spec, options, names));
  if (!parts.has_value()) {
    return std::optional<JobAnswer>();
  }
  const std::string name = names.size() == 1 ? names.front() : names.front() + " ...";
  JobAnswer answer;
  if (spec.name == "memory") {
    BS_ASSIGN(answer, MemoryOf(spec, options, *parts));
    BS_TRY(KeepRanks(options.ranks, answer.tables));
  } else {
    BS_TRY(KeepFilesOf(options.ranks, *parts));
    answer = spec.name == "info" ? InfoOf(*parts, name)
                                 : DoctorOf(*parts, OnlyRankOf(options.ranks), name);
  }
  return std::optional<JobAnswer>(std::move(answer));
}

}  // namespace

std::vector<std::string> NamesToSearch(std::span<const InputFile> files, bool as_folders) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const InputFile& file : files) {
    const bool is_file = file.content == nullptr && file.path != "-" && file.logs.empty();
    std::string name = file.from_directory && as_folders
                           ? std::filesystem::path(file.path).parent_path().string()
                           : file.path;
    if (is_file && seen.insert(name).second) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

bool IsOfJob(const JobFile& file) {
  return file.kind == JobFileKind::kFlightRecorder || file.kind == JobFileKind::kMemorySnapshot;
}

Result<std::vector<JobFile>> FindJobFilesOf(const RunOptions& options, UnsearchedPlaces* left_out) {
  BS_ASSIGN(std::vector<JobFile> files,
            FindJobFiles(NamesToSearch(options.files, false), options.threads));
  if (std::any_of(files.begin(), files.end(), IsOfJob)) {
    return FindJobFiles(NamesToSearch(options.files, true), options.threads, left_out);
  }
  return files;
}

std::optional<Result<JobAnswer>> AnswerOfJob(const AnalysisSpec& spec, const RunOptions& options) {
  const std::vector<std::string> names = NamesToSearch(options.files, true);
  const bool is_asked = spec.name == "info" || spec.name == "doctor" || spec.name == "memory";
  if (!is_asked || names.empty() || options.load) {
    return std::nullopt;
  }
  Result<std::optional<JobAnswer>> answered = ReadJobWithin(
      options.memory_limit, names.front(), [&] { return Answered(spec, options, names); });
  if (!answered.ok()) {
    return Result<JobAnswer>(answered.error());
  }
  if (!answered->has_value()) {
    return std::nullopt;
  }
  return Result<JobAnswer>(std::move(**answered));
}

Tables ShapeOfJobAnswer(std::string_view verb) {
  if (verb == "info") {
    return {NewTable<JobKindRow>(), NewTable<JobFileRow>()};
  }
  Tables tables = verb == "memory" ? postmortem::MemoryShape() : Tables();
  std::erase_if(tables, [](const Table& table) { return !IsMemoryTable(table); });
  return tables;
}

Result<Diagnostic> NotSearched(const Error& error) {
  if (error.code == ErrorCode::kIo) {
    return error;
  }
  return Diagnostic{Severity::kWarning,
                    "unreadable-file",
                    1,
                    error.file,
                    error.cause,
                    "Whether dumps and snapshots are there could not be found out."};
}

namespace {

bool IsReadProfile(std::string_view path, std::span<const RankPart> profiles) {
  return std::any_of(profiles.begin(), profiles.end(), [&](const RankPart& part) {
    return part.report.path == path && part.loaded();
  });
}

}  // namespace

Result<JobAnswer> InfoBesideProfiles(const AnalysisSpec& info, const RunOptions& options,
                                     std::span<const RankPart> profiles) {
  // What was read as a profile is no dump: where all files were, there is nothing to look for.
  const std::vector<std::string> names = NamesToSearch(options.files, false);
  if (options.load || std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return IsReadProfile(name, profiles);
      })) {
    return JobAnswer();
  }
  const Result<std::vector<JobFile>> files = FindJobFilesOf(options);
  if (!files.ok()) {
    BS_ASSIGN(Diagnostic why, NotSearched(files.error()));
    return JobAnswer{{}, {std::move(why)}};
  }
  const auto of_job = std::find_if(files->begin(), files->end(), IsOfJob);
  if (of_job == files->end()) {
    JobAnswer unknown;
    for (const JobFile& file : *files) {
      if (file.failure.has_value() && !IsReadProfile(file.path, profiles)) {
        unknown.diagnostics.push_back(NotRecognised(file));
      }
    }
    return unknown;
  }
  constexpr std::string_view kNotRead = "Dumps and snapshots are there, but could not be read.";
  std::optional<Result<JobAnswer>> answer = AnswerOfJob(info, options);
  if (!answer.has_value()) {  // none was recognised when they were looked for once more
    return JobAnswer{{},
                     {{Severity::kWarning, "unreadable-file", 1, of_job->path,
                       "it could be read at first, and not again", std::string(kNotRead)}}};
  }
  if (answer->ok()) {
    return std::move(*answer);
  }
  if (answer->error().parameter == "rank") {
    return JobAnswer();  // the ranks are those of profiles
  }
  const Error& error = answer->error();
  return JobAnswer{
      {},
      {{Severity::kWarning, "unreadable-file", 1, error.file, error.cause, std::string(kNotRead)}}};
}

}  // namespace borescope::internal
