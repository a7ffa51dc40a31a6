#include "borescope/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <numeric>

#include "borescope/index/trace_index.h"
#include "borescope/rank_numbers.h"
#include "borescope/run_checks.h"
#include "borescope/table/table_ops.h"

namespace borescope {
namespace {

using Clock = std::chrono::steady_clock;

int64_t NanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

// One file on its way from path to findings. The trace itself does not outlive MapFile.
struct Part {
  FileReport report;
  RankClaim claim;
  int64_t provisional_rank = 0;  // in `findings`, until all files are known
  Diagnostics diagnostics;
  std::optional<Error> load_error;
  std::optional<Error> map_error;
  Findings findings;
  std::exception_ptr failure;  // of a third party, for the calling thread

  bool loaded() const { return !load_error.has_value(); }
};

// Adds up the progress of files that load at the same time.
class ProgressSum {
 public:
  explicit ProgressSum(const RunOptions& options) : options_(options), done_(options.files.size()) {
    sum_.total_files = options.files.size();
    for (const InputFile& file : options.files) {
      sum_.total_bytes += file.bytes;
    }
  }

  void Update(size_t file, uint64_t done_bytes) {
    if (options_.progress) {
      const std::lock_guard lock(mutex_);
      sum_.done_bytes += done_bytes - done_[file];
      done_[file] = done_bytes;
      options_.progress(sum_);
    }
  }

  void Finish(size_t file) {
    {
      const std::lock_guard lock(mutex_);
      ++sum_.done_files;
    }
    Update(file, options_.files[file].bytes);
  }

 private:
  const RunOptions& options_;
  std::mutex mutex_;
  Progress sum_;
  std::vector<uint64_t> done_;
};

// ---- Memory ----

// Compressed traces were seen to inflate to 15 to 29 times their size; the estimate takes more, as
// too few ranks in flight cost time, but too many the run.
constexpr double kInflation = 30.0;

// A finished trace and its indexes take 0.38 of the inflated text (measured on PyTorch
// profiler files). Whether a file is compressed is guessed from its name: this is an estimate, not
// a decision about content.
uint64_t EstimateBytes(const InputFile& file) {
  const bool compressed = file.path.ends_with(".gz") || file.path.ends_with(".zst");
  const double text = static_cast<double>(file.bytes) * (compressed ? kInflation : 1.0);
  return static_cast<uint64_t>(0.4 * text);
}

// How many files may be in memory at once.
Result<size_t> FilesInFlight(const RunOptions& options) {
  const auto threads = static_cast<size_t>(std::max(1, options.threads));
  const size_t wanted = std::min(options.files.size(), threads);
  if (options.memory_limit == 0 || wanted == 0) {
    return wanted;
  }
  const auto largest = std::max_element(
      options.files.begin(), options.files.end(),
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
  for (const EventCount& count : trace.event_counts()) {
    report.events += count.count;
  }
}

Result<Findings> MapTrace(const AnalysisSpec& spec, const Params& params, const RankView& view) {
  BS_TRY(CheckNeeds(spec, view));
  return spec.map(view, params);
}

void MapLoaded(const AnalysisSpec& spec, const Params& params, const Trace& trace, int threads,
               Part& part) {
  const Clock::time_point begin = Clock::now();
  const TraceIndex index = BuildIndex(trace, threads);
  part.report.index_ns = NanosecondsSince(begin);
  part.diagnostics.Merge(trace.diagnostics());
  part.diagnostics.Merge(index.diagnostics);
  Result<Findings> findings = MapTrace(spec, params, {part.provisional_rank, trace, index});
  part.report.analysis_ns = NanosecondsSince(begin) - part.report.index_ns;
  if (findings.ok()) {
    part.findings = std::move(*findings);
  } else {
    part.map_error = findings.error();
  }
}

void MapFile(const AnalysisSpec& spec, const RunOptions& options, size_t file, int threads,
             ProgressSum& progress, Part& part) {
  const InputFile& input = options.files[file];
  part.report.path = input.path == "-" ? "standard input" : input.path;
  const Clock::time_point begin = Clock::now();
  LoadOptions load{threads, {}};
  load.progress = [&](uint64_t done, uint64_t) { progress.Update(file, done); };
  Result<Trace> trace = LoadFile(input.path, load);
  part.report.load_ns = NanosecondsSince(begin);
  if (!trace.ok()) {
    part.load_error = trace.error();
    part.report.error = trace.error().message;
    part.report.skipped =
        input.from_directory && trace.error().code == ErrorCode::kUnsupportedFormat;
    return;
  }
  Describe(*trace, part.report);
  part.claim.recorded = trace->meta().rank;
  if (const int64_t named = RankFromFileName(input.path); named != kMissing) {
    part.claim.named = named;
  }
  part.provisional_rank = part.claim.best().value_or(0);
  MapLoaded(spec, options.params, *trace, threads, part);
}

Result<std::vector<Part>> MapFiles(const AnalysisSpec& spec, const RunOptions& options) {
  BS_ASSIGN(const size_t in_flight, FilesInFlight(options));
  const int inner = std::max(1, options.threads / std::max(1, static_cast<int>(in_flight)));
  std::vector<Part> parts(options.files.size());
  ProgressSum progress(options);
  ParallelFor(parts.size(), static_cast<int>(in_flight), [&](size_t i) {
    try {
      MapFile(spec, options, i, inner, progress, parts[i]);
    } catch (...) {
      parts[i].failure = std::current_exception();  // a thread must not let it escape
    }
    progress.Finish(i);
  });
  for (const Part& part : parts) {
    if (part.failure) {
      std::rethrow_exception(part.failure);
    }
  }
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

void AssignRanksTo(std::span<Part* const> loaded) {
  std::vector<RankClaim> claims;
  std::vector<Diagnostics> decisions(loaded.size());
  for (const Part* part : loaded) {
    claims.push_back(part->claim);
  }
  const std::vector<int64_t> ranks = AssignRanks(claims, decisions);
  for (size_t i = 0; i < loaded.size(); ++i) {
    Part& part = *loaded[i];
    part.report.rank = ranks[i];
    part.diagnostics.Merge(decisions[i]);
    if (ranks[i] != part.provisional_rank) {
      SetRank(part.findings, ranks[i]);
    }
  }
}

Error NothingLoaded(const std::vector<Part>& parts) {
  const Error& first = *parts.front().load_error;
  if (parts.size() == 1) {
    return first;
  }
  // Rather a file that could be a trace than a README.
  const auto better = std::find_if(parts.begin(), parts.end(),
                                   [](const Part& part) { return !part.report.skipped; });
  const Error& shown = better == parts.end() ? first : *better->load_error;
  return {shown.code, fmt::format("none of {} files could be loaded; the first: {}", parts.size(),
                                  shown.message)};
}

std::string ListRanks(std::span<Part* const> parts) {
  constexpr size_t kShown = 16;
  std::string text;
  for (size_t i = 0; i < std::min(parts.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(parts[i]->report.rank);
  }
  return text + (parts.size() > kShown ? ", …" : "");
}

// The loaded parts that were asked for, in rank order.
Result<std::vector<Part*>> SelectRanks(std::span<Part* const> loaded, const NumberRanges& ranks) {
  std::vector<Part*> sorted(loaded.begin(), loaded.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Part* a, const Part* b) { return a->report.rank < b->report.rank; });
  std::vector<Part*> selected;
  std::copy_if(sorted.begin(), sorted.end(), std::back_inserter(selected), [&](const Part* part) {
    return ranks.empty() || ranks.Contains(part->report.rank);
  });
  if (selected.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "--rank names no rank of this run; its ranks are " + ListRanks(sorted)};
  }
  return selected;
}

// The findings of the ranks that could answer. An error when none could, or when what was asked for
// is wrong whatever the rank.
Result<std::vector<Findings>> TakeFindings(std::span<Part* const> selected) {
  std::vector<Findings> findings;
  for (Part* part : selected) {
    if (!part->map_error.has_value()) {
      findings.push_back(std::move(part->findings));
    } else if (part->map_error->code == ErrorCode::kInvalidArgument) {
      return *part->map_error;
    } else {
      part->diagnostics.Count(Diag::kMissingData, Diagnostics::kNoByte, part->map_error->message);
    }
  }
  if (findings.empty()) {
    return *selected.front()->map_error;
  }
  return findings;
}

// Sorts and cuts for display. A column has to be in one table at least.
Result<void> Arrange(const RunOptions& options, Findings& findings) {
  std::optional<Error> unknown;
  bool sorted = options.sort.empty() || findings.empty();
  for (Table& table : findings) {
    if (options.sort.empty()) {
      break;
    }
    Result<Table> in_order = SortBy(table, options.sort);
    if (in_order.ok()) {
      table = std::move(*in_order);
      sorted = true;
    } else if (!unknown.has_value()) {
      unknown = Error{in_order.error().code, "--sort: " + in_order.error().message};
    }
  }
  if (!sorted) {
    return *unknown;
  }
  for (Table& table : findings) {
    if (options.top.has_value() && *options.top < table.rows()) {
      table.title += fmt::format(" (first {} of {} rows)", *options.top, table.rows());
      table = Head(table, *options.top);
    }
  }
  return {};
}

Result<Findings> Reduce(const AnalysisSpec& spec, const Params& params,
                        std::span<const Findings> findings) {
  BS_ASSIGN(Findings reduced, spec.reduce(findings, params));
  if (spec.finish == nullptr) {
    return reduced;
  }
  return spec.finish(std::move(reduced), params);
}

// The error of a file, which begins with its path, beside which it will be shown.
std::string_view WithoutPath(const FileReport& report) {
  std::string_view error = report.error;
  const std::string prefix = report.path + ": ";
  error.remove_prefix(error.starts_with(prefix) ? prefix.size() : 0);
  return error;
}

// What is to be told about the files: of those the answer is about, and of those that failed.
std::vector<DiagnosticRow> CollectDiagnostics(std::vector<Part>& parts,
                                              std::span<Part* const> selected) {
  const auto candidates = static_cast<size_t>(std::count_if(
      parts.begin(), parts.end(), [](const Part& part) { return !part.report.skipped; }));
  const auto loaded = static_cast<size_t>(
      std::count_if(parts.begin(), parts.end(), [](const Part& part) { return part.loaded(); }));
  std::vector<DiagnosticRow> rows;
  for (Part& part : parts) {
    if (!part.loaded() && !part.report.skipped) {
      part.diagnostics.Count(
          Diag::kUnreadableFile, Diagnostics::kNoByte,
          fmt::format("{} ({} of {} ranks loaded)", WithoutPath(part.report), loaded, candidates));
    }
    if (!part.loaded() || std::find(selected.begin(), selected.end(), &part) != selected.end()) {
      AppendDiagnostics(part.diagnostics, part.report.path, rows);
    }
  }
  return rows;
}

}  // namespace

Result<Answer> RunAnalysis(const AnalysisSpec& spec, const RunOptions& options) {
  BS_TRY(CheckOptions(spec, options.params));
  BS_ASSIGN(std::vector<Part> parts, MapFiles(spec, options));
  std::vector<Part*> loaded;
  for (Part& part : parts) {
    if (part.loaded()) {
      loaded.push_back(&part);
    }
  }
  if (loaded.empty()) {
    return parts.empty() ? Error{ErrorCode::kInvalidArgument, "no input file"}
                         : NothingLoaded(parts);
  }
  AssignRanksTo(loaded);
  BS_ASSIGN(const std::vector<Part*> selected, SelectRanks(loaded, options.ranks));
  BS_ASSIGN(const std::vector<Findings> findings, TakeFindings(selected));
  Answer answer;
  BS_ASSIGN(answer.document.tables, Reduce(spec, options.params, findings));
  BS_TRY(Arrange(options, answer.document.tables));
  answer.document.diagnostics = CollectDiagnostics(parts, selected);
  for (Part& part : parts) {
    answer.files.push_back(std::move(part.report));
  }
  return answer;
}

Result<Document> AnalyseBytes(std::string_view bytes, const std::string& name, int threads) {
  BS_ASSIGN(const Trace trace, LoadBytes(bytes, name, {threads, {}}));
  const TraceIndex index = BuildIndex(trace, threads);
  Document document;
  AppendDiagnostics(trace.diagnostics(), name, document.diagnostics);
  AppendDiagnostics(index.diagnostics, name, document.diagnostics);
  for (const AnalysisSpec& spec : Analyses()) {
    Params grouped;
    grouped.by.assign(spec.by.begin(), spec.by.end());
    grouped.all = spec.takes_all;
    Params compat;
    compat.compat = Compat::kHta;
    for (const Params& params : {Params(), grouped, compat}) {
      const bool defined = CheckOptions(spec, params).ok();
      const Result<Findings> mapped =
          defined ? MapTrace(spec, params, {trace.meta().rank.value_or(0), trace, index})
                  : Error{ErrorCode::kInvalidArgument, ""};
      if (!mapped.ok()) {
        continue;
      }
      BS_ASSIGN(Findings findings, Reduce(spec, params, {&*mapped, 1}));
      std::move(findings.begin(), findings.end(), std::back_inserter(document.tables));
    }
  }
  return document;
}

}  // namespace borescope
