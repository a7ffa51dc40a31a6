#include "borescope/run_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>
#include <string_view>

#include "borescope/run_checks.h"
#include "borescope/run_overlay.h"
#include "borescope/run_saved.h"

namespace borescope {
namespace {

using Clock = std::chrono::steady_clock;

int64_t NanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

// Adds up the progress of files that load at the same time.
class ProgressSum {
 public:
  explicit ProgressSum(const RunRequest& request) : request_(request), done_(request.files.size()) {
    sum_.total_files = request.files.size();
    for (const InputFile& file : request.files) {
      sum_.total_bytes += file.bytes;
    }
  }

  void Update(size_t file, uint64_t done_bytes) {
    if (request_.options.progress) {
      const std::lock_guard lock(mutex_);
      sum_.done_bytes += done_bytes - done_[file];
      done_[file] = done_bytes;
      request_.options.progress(sum_);
    }
  }

  void Finish(size_t file) {
    {
      const std::lock_guard lock(mutex_);
      ++sum_.done_files;
    }
    Update(file, request_.files[file].bytes);
  }

 private:
  const RunRequest& request_;
  std::mutex mutex_;
  Progress sum_;
  std::vector<uint64_t> done_;
};

// ---- Memory ----

// What a finished trace and its indexes take of the bytes of its file.
struct MemoryShare {
  double of_plain;
  double of_compressed;
};

// Of PyTorch profiler files 0.38 of the inflated text was measured. Compressed ones were seen to
// inflate to 15 to 29 times their size; the estimate takes more, as too few ranks in flight cost
// time, but too many the run.
constexpr MemoryShare kText = {0.4, 0.4 * 30.0};
// Of databases 1.7 (.rpd) and 1.8 (Nsight Systems) of the file; compressed ones, which are a third
// to a fifth, are held in memory as well while they are read.
constexpr MemoryShare kDatabase = {1.8, (1.8 + 1.0) * 5.0};

bool EndsWithAny(std::string_view name, std::span<const std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// Whether a file is a database or compressed is guessed from its name: this is an estimate, not a
// decision about content.
uint64_t EstimateBytes(const InputFile& file) {
  constexpr std::string_view kCompressed[] = {".gz", ".zst"};
  constexpr std::string_view kDatabases[] = {".rpd", ".sqlite", ".db", ".nvvp", ".nvprof"};
  std::string_view name = file.path;
  const bool is_compressed = EndsWithAny(name, kCompressed);
  name = is_compressed ? name.substr(0, name.rfind('.')) : name;
  const MemoryShare& share = EndsWithAny(name, kDatabases) ? kDatabase : kText;
  return static_cast<uint64_t>(static_cast<double>(file.bytes) *
                               (is_compressed ? share.of_compressed : share.of_plain));
}

// How many files may be in memory at once.
Result<size_t> FilesInFlight(const RunRequest& request) {
  const RunOptions& options = request.options;
  const auto threads = static_cast<size_t>(std::max(1, options.threads));
  const size_t wanted = std::min(request.files.size(), threads);
  if (options.memory_limit == 0 || wanted == 0) {
    return wanted;
  }
  const auto largest = std::max_element(
      request.files.begin(), request.files.end(),
      [](const InputFile& a, const InputFile& b) { return EstimateBytes(a) < EstimateBytes(b); });
  const uint64_t need = std::max<uint64_t>(1, EstimateBytes(*largest));
  if (need > options.memory_limit) {
    return Error{ErrorCode::kInvalidArgument, largest->path + ": needs about " + FormatBytes(need) +
                                                  ", more than --memory-limit " +
                                                  FormatBytes(options.memory_limit) +
                                                  "; raise the limit or profile fewer steps"};
  }
  return static_cast<size_t>(std::min<uint64_t>(wanted, options.memory_limit / need));
}

// ---- One file ----

void Describe(const Trace& trace, FileReport& report) {
  report.file_bytes = trace.meta().file_bytes;
  report.text_bytes = trace.meta().text_bytes;
  report.begin_ns = trace.begin_ns();
  for (const EventCount& count : trace.event_counts()) {
    report.events += count.count;
  }
}

// Of every rank: which of them are selected becomes clear only when all are known.
Result<void> DraftFiles(const RunRequest& request, const RankView& view, const InputFile& input,
                        RankPart& part) {
  if (!request.options.overlay.empty() && !part.outcomes.front().error.has_value()) {
    BS_TRY(DraftOverlay(request, view, input, part));
  }
  if (!request.options.save.empty() && !part.outcomes.front().error.has_value()) {
    BS_TRY(DraftSaved(request, view, input, part));
  }
  return {};
}

void MapLoaded(const RunRequest& request, const InputFile& input, Trace& trace, int threads,
               RankPart& part) {
  const Clock::time_point begin = Clock::now();
  TraceIndex index = BuildIndex(trace, threads);
  part.report.index_ns = NanosecondsSince(begin);
  part.diagnostics.Merge(trace.diagnostics());
  part.diagnostics.Merge(index.diagnostics);
  const RankView view{part.report.rank, trace, index};
  part.unknown = FindUnknown(view, request.params.selection);
  for (const AnalysisSpec* spec : request.specs) {
    part.outcomes.push_back(OutcomeOf(MapTrace(*spec, request.params, view)));
  }
  part.report.analysis_ns = NanosecondsSince(begin) - part.report.index_ns;
  if (request.keep_traces) {
    part.trace = std::make_unique<Trace>(std::move(trace));
    part.index = std::make_unique<TraceIndex>(std::move(index));
    return;
  }
  if (const Result<void> drafted = DraftFiles(request, view, input, part); !drafted.ok()) {
    part.outcomes.front().error = drafted.error();
  }
}

// Loads, indexes and maps a trace.
void MapTraceFile(const RunRequest& request, size_t file, int threads, ProgressSum& progress,
                  RankPart& part) {
  const InputFile& input = request.files[file];
  const Clock::time_point begin = Clock::now();
  LoadOptions load{threads, {}};
  load.progress = [&](uint64_t done, uint64_t) { progress.Update(file, done); };
  Result<Trace> trace = LoadFile(input.path, load);
  part.report.load_ns = NanosecondsSince(begin);
  if (!trace.ok()) {
    part.load_error = trace.error();
    return;
  }
  Describe(*trace, part.report);
  part.claim.recorded = trace->meta().rank;
  part.claim.world_size = trace->meta().world_size;
  part.report.rank = part.claim.best().value_or(0);  // until all files are known
  MapLoaded(request, input, *trace, threads, part);
}

void MapFile(const RunRequest& request, size_t file, int threads, ProgressSum& progress,
             RankPart& part) {
  const InputFile& input = request.files[file];
  part.report.path = input.path == "-" ? "standard input" : input.path;
  part.from_directory = input.from_directory;
  if (const int64_t named = RankFromFileName(input.path); named != kMissing) {
    part.claim.named = named;
  }
  if (request.options.load) {
    MapSaved(request, input, part);
  } else {
    MapTraceFile(request, file, threads, progress, part);
  }
  if (part.load_error.has_value()) {
    part.report.error = part.load_error->message;
    part.report.skipped =
        input.from_directory && part.load_error->code == ErrorCode::kUnsupportedFormat;
  }
}

Result<std::vector<RankPart>> MapFiles(const RunRequest& request) {
  BS_ASSIGN(const size_t in_flight, FilesInFlight(request));
  const int threads = request.options.threads;
  const int inner = std::max(1, threads / std::max(1, static_cast<int>(in_flight)));
  std::vector<RankPart> parts(request.files.size());
  ProgressSum progress(request);
  ParallelFor(parts.size(), static_cast<int>(in_flight), [&](size_t i) {
    MapFile(request, i, inner, progress, parts[i]);
    progress.Finish(i);
  });
  return parts;
}

// ---- The run ----

// Findings are mapped under a provisional rank. Analyses name ranks in a column `rank` and nowhere
// else before their reduce.
void SetRank(Findings& findings, int64_t rank) {
  for (Table& table : findings) {
    Column* column = table.Find("rank");
    if (column == nullptr || column->role != Role::kKey) {
      continue;
    }
    if (auto* ranks = std::get_if<IntValues>(&column->values)) {
      std::fill(ranks->begin(), ranks->end(), rank);
    }
  }
}

void AssignRanksTo(std::span<RankPart* const> loaded) {
  std::vector<RankClaim> claims;
  std::vector<Diagnostics> decisions(loaded.size());
  for (const RankPart* part : loaded) {
    claims.push_back(part->claim);
  }
  const std::vector<int64_t> ranks = AssignRanks(claims, decisions);
  for (size_t i = 0; i < loaded.size(); ++i) {
    RankPart& part = *loaded[i];
    part.diagnostics.Merge(decisions[i]);
    if (ranks[i] != part.report.rank) {
      part.report.rank = ranks[i];
      for (Outcome& outcome : part.outcomes) {
        SetRank(outcome.findings, ranks[i]);
      }
    }
  }
}

Error NothingLoaded(const std::vector<RankPart>& parts) {
  const Error& first = *parts.front().load_error;
  if (parts.size() == 1) {
    return first;
  }
  // Rather a file that could be a trace than a README.
  const auto better = std::find_if(parts.begin(), parts.end(),
                                   [](const RankPart& part) { return !part.report.skipped; });
  const Error& shown = better == parts.end() ? first : *better->load_error;
  return {shown.code, fmt::format("none of {} files could be loaded; the first: {}", parts.size(),
                                  shown.message)};
}

// "a, b", cut after some.
std::string ListNames(std::span<const std::string> names) {
  constexpr size_t kShown = 16;
  const auto shown = names.first(std::min(names.size(), kShown));
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kShown ? ", …" : "");
}

std::string ListRanks(std::span<RankPart* const> parts) {
  std::vector<std::string> ranks;
  for (const RankPart* part : parts) {
    ranks.push_back(std::to_string(part->report.rank));
  }
  return ListNames(ranks);
}

// The folder of a run, or its first file.
std::string NameOf(const std::vector<RankPart>& parts) {
  const std::filesystem::path path(parts.front().report.path);
  return parts.front().from_directory ? path.parent_path().string() : path.string();
}

Error NoSuchRank(const RunRequest& request, std::span<RankPart* const> sorted,
                 const std::vector<RankPart>& parts) {
  const std::string ranks = ListRanks(sorted);
  const std::string text =
      request.name.empty()
          ? fmt::format("--rank names no rank of this run; its ranks are {}", ranks)
          : fmt::format(
                "--{0}-rank (or --rank) names no rank of the {0} run {1}; its ranks are {2}",
                request.name, NameOf(parts), ranks);
  return {ErrorCode::kInvalidArgument, text};
}

// The loaded parts that were asked for, in rank order.
Result<std::vector<RankPart*>> SelectRanks(std::span<RankPart* const> loaded,
                                           const RunRequest& request,
                                           const std::vector<RankPart>& parts) {
  const NumberRanges& ranks = request.ranks;
  std::vector<RankPart*> sorted(loaded.begin(), loaded.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const RankPart* a, const RankPart* b) { return a->report.rank < b->report.rank; });
  std::vector<RankPart*> selected;
  std::copy_if(
      sorted.begin(), sorted.end(), std::back_inserter(selected),
      [&](const RankPart* part) { return ranks.empty() || ranks.Contains(part->report.rank); });
  if (selected.empty()) {
    return NoSuchRank(request, sorted, parts);
  }
  return selected;
}

// The ranks that were asked for singly and are no loaded one's.
std::vector<std::string> UnknownRanks(std::span<RankPart* const> loaded,
                                      const NumberRanges& ranks) {
  std::set<int64_t> unknown = SinglesOf(ranks);
  for (const RankPart* part : loaded) {
    unknown.erase(part->report.rank);
  }
  std::vector<std::string> names;
  names.reserve(unknown.size());
  for (const int64_t rank : unknown) {
    names.push_back(fmt::format("rank {}", rank));
  }
  return names;
}

// What of the selection none of the selected ranks has.
std::vector<std::string> UnknownMembers(std::span<RankPart* const> selected) {
  std::optional<SelectionMembers> unknown;
  for (const RankPart* part : selected) {
    if (!part->unknown.has_value()) {
      return {};
    }
    if (unknown.has_value()) {
      Intersect(*unknown, *part->unknown);
    } else {
      unknown = part->unknown;
    }
  }
  return unknown.has_value() ? NamesOf(*unknown) : std::vector<std::string>();
}

void CountUnknown(std::span<RankPart* const> loaded, const RunRequest& request, MappedRun& run) {
  std::vector<std::string> names = UnknownRanks(loaded, request.ranks);
  for (std::string& name : UnknownMembers(run.selected)) {
    names.push_back(std::move(name));
  }
  run.diagnostics.CountMany(Diag::kUnknownSelection, names.size(), Diagnostics::kNoByte,
                            ListNames(names));
}

// The number of ranks of the job, if the loaded files agree.
std::optional<int64_t> WorldSize(std::span<const RankPart* const> loaded) {
  const std::optional<int64_t> first = loaded.front()->claim.world_size;
  const bool agree = std::all_of(loaded.begin(), loaded.end(), [&](const RankPart* part) {
    return part->claim.world_size == first;
  });
  return agree ? first : std::nullopt;
}

// Nothing where a file does not say which rank it is: it may be any of those that seem to be
// missing.
MissingRanks FindMissing(std::span<const RankPart* const> loaded) {
  std::vector<int64_t> ranks;
  for (const RankPart* part : loaded) {
    const std::optional<int64_t> claimed = part->claim.best();
    if (!claimed.has_value()) {
      return {};
    }
    if (*claimed == part->report.rank) {
      ranks.push_back(*claimed);
    }
  }
  return FindMissingRanks(ranks, WorldSize(loaded));
}

// One diagnostic for the run, under the name of its folder or its first file.
void AppendMissingRanks(const MappedRun& run, std::vector<DiagnosticRow>& rows) {
  std::vector<const RankPart*> loaded;
  for (const RankPart& part : run.parts) {
    if (part.loaded()) {
      loaded.push_back(&part);
    }
  }
  const RankPart& first = *loaded.front();
  const bool is_run = run.parts.size() > 1 || first.from_directory;
  if (!is_run || run.selected.size() != loaded.size()) {
    return;
  }
  Diagnostics diagnostics;
  const MissingRanks missing = FindMissing(loaded);
  diagnostics.CountMany(Diag::kMissingRanks, missing.count, Diagnostics::kNoByte, missing.text);
  AppendDiagnostics(diagnostics, NameOf(run.parts), rows);
}

}  // namespace

Outcome OutcomeOf(Result<Findings> findings) {
  return findings.ok() ? Outcome{std::nullopt, std::move(*findings)}
                       : Outcome{findings.error(), {}};
}

std::string_view WithoutPath(std::string_view error, const FileReport& report) {
  const std::string prefix = report.path + ": ";
  error.remove_prefix(error.starts_with(prefix) ? prefix.size() : 0);
  return error;
}

Result<Findings> MapTrace(const AnalysisSpec& spec, const Params& params, const RankView& view) {
  BS_TRY(CheckNeeds(spec, view));
  return spec.PipelineFor(params).map(view, params);
}

Result<MappedRun> MapRun(const RunRequest& request) {
  MappedRun run;
  BS_ASSIGN(run.parts, MapFiles(request));
  std::vector<RankPart*> loaded;
  for (RankPart& part : run.parts) {
    if (part.loaded()) {
      loaded.push_back(&part);
    }
  }
  if (loaded.empty()) {
    return run.parts.empty() ? Error{ErrorCode::kInvalidArgument, "no input file"}
                             : NothingLoaded(run.parts);
  }
  AssignRanksTo(loaded);
  BS_ASSIGN(run.selected, SelectRanks(loaded, request, run.parts));
  CountUnknown(loaded, request, run);
  return run;
}

Result<void> CommitDrafts(MappedRun& run) {
  for (RankPart* part : run.selected) {
    for (const std::unique_ptr<FileSink>& draft : part->drafts) {
      BS_TRY(draft->Commit());
    }
  }
  for (RankPart& part : run.parts) {
    if (std::find(run.selected.begin(), run.selected.end(), &part) == run.selected.end()) {
      part.report.overlay.reset();
      part.report.saved.clear();
    }
  }
  return {};
}

std::vector<DiagnosticRow> CollectDiagnostics(MappedRun& run) {
  std::vector<RankPart>& parts = run.parts;
  const std::vector<RankPart*>& selected = run.selected;
  const auto candidates = static_cast<size_t>(std::count_if(
      parts.begin(), parts.end(), [](const RankPart& part) { return !part.report.skipped; }));
  const auto loaded = static_cast<size_t>(std::count_if(
      parts.begin(), parts.end(), [](const RankPart& part) { return part.loaded(); }));
  std::vector<DiagnosticRow> rows;
  AppendDiagnostics(run.diagnostics, NameOf(parts), rows);
  for (RankPart& part : parts) {
    if (!part.loaded() && !part.report.skipped) {
      part.diagnostics.Count(
          Diag::kUnreadableFile, Diagnostics::kNoByte,
          fmt::format("{} ({} of {} files loaded)", WithoutPath(part.report.error, part.report),
                      loaded, candidates));
    }
    if (!part.loaded() || std::find(selected.begin(), selected.end(), &part) != selected.end()) {
      AppendDiagnostics(part.diagnostics, part.report.path, rows);
    }
  }
  AppendMissingRanks(run, rows);
  return rows;
}

}  // namespace borescope
