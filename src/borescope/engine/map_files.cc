#include "borescope/engine/map_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/each_row.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/memory_limit.h"
#include "borescope/base/spilled_blocks.h"
#include "borescope/base/stop.h"
#include "borescope/base/stopwatch.h"
#include "borescope/base/text/text.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/drafts.h"
#include "borescope/engine/loading/attach_captures.h"
#include "borescope/engine/loading/attach_counters.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/loading/memory_estimate.h"
#include "borescope/index/steps/steps.h"
#include "borescope/output/utf8.h"
#include "borescope/recording/log_format.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {

namespace {

// Files in which others found how their graphs were captured.
std::set<std::string> UsedCaptures(const std::vector<RankPart>& parts) {
  std::set<std::string> used;
  for (const RankPart& part : parts) {
    if (MayUseCaptures(part)) {
      used.insert(part.graphs.captures.begin(), part.graphs.captures.end());
    }
  }
  return used;
}

RankPart PassedOver(const RankPart& part, std::string why) {
  RankPart aside;
  aside.report.path = part.report.path;
  aside.from_directory = part.from_directory;
  aside.load_error = Error{ErrorCode::kUnsupportedFormat, std::move(why), {}, part.report.path};
  aside.report.error = WithOptions(aside.load_error->Sentence());
  aside.report.skipped = true;
  return aside;
}

// A capture that is not among the files that were searched; nullptr: none. `captures` ascends.
const std::string* Unsearched(std::vector<std::string> searched,
                              const std::vector<std::string>& captures) {
  std::sort(searched.begin(), searched.end());
  const auto found = std::find_if(captures.begin(), captures.end(), [&](const std::string& path) {
    return !std::binary_search(searched.begin(), searched.end(), path);
  });
  return found == captures.end() ? nullptr : &*found;
}

// A copy has each of these to the nanosecond and the byte, whatever it was compressed with. A clock
// that begins with the recording says nothing: files that were written by hand are alike. Files
// that name different ranks are no copies.
bool IsSameRecording(const RankPart& a, const RankPart& b) {
  constexpr int64_t kRunningClockNs = 1'000'000'000;
  return a.report.begin_ns == b.report.begin_ns && a.report.text_bytes == b.report.text_bytes &&
         a.report.events == b.report.events && a.report.begin_ns >= kRunningClockNs &&
         a.claim.best() == b.claim.best() && a.claim.world_size == b.claim.world_size;
}

}  // namespace

bool MayUseCaptures(const RankPart& part) {
  return part.loaded() && !part.graphs.only_captures && part.graphs.may_replay;
}

std::vector<std::string> CapturesAmong(const std::vector<RankPart>& parts) {
  std::vector<std::string> captures;
  for (const RankPart& part : parts) {
    if (part.loaded() && part.graphs.only_captures) captures.push_back(part.report.path);
  }
  return captures;
}

void SetAsideCaptures(std::vector<RankPart>& parts) {
  const std::set<std::string> used = UsedCaptures(parts);
  for (RankPart& part : parts) {
    if (part.loaded() && part.graphs.only_captures && used.contains(part.report.path)) {
      part = PassedOver(part, "a capture of graphs that other files launch");
    }
  }
}

void SetAsideCopies(std::vector<RankPart>& parts) {
  std::vector<RankPart*> ordered;
  for (RankPart& part : parts) {
    if (part.loaded() && part.report.events != 0) ordered.push_back(&part);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const RankPart* a, const RankPart* b) {
    const auto key = [](const RankPart& part) {
      return std::tuple(part.report.begin_ns, part.report.text_bytes, part.report.events,
                        part.claim.best());
    };
    return key(*a) != key(*b) ? key(*a) < key(*b) : NaturalLess(a->report.path, b->report.path);
  });
  for (size_t first = 0, i = 1; i < ordered.size(); ++i) {
    RankPart& kept = *ordered[first];
    RankPart& part = *ordered[i];
    if (!IsSameRecording(kept, part)) {
      first = i;
      continue;
    }
    kept.diagnostics.Count(Diag::kCopiedFile, Diagnostics::kNoByte,
                           fmt::format("{} is a copy", ToPrintable(part.report.path)));
    part = PassedOver(part, fmt::format("a copy of {}", ToPrintable(kept.report.path)));
  }
}

Result<void> CheckCapturesWereSearched(const std::vector<RankPart>& parts) {
  std::vector<std::string> captures = CapturesAmong(parts);
  std::sort(captures.begin(), captures.end());
  if (captures.empty()) return {};
  for (const RankPart& part : parts) {
    if (!MayUseCaptures(part)) continue;
    if (const std::string* const capture = Unsearched(part.graphs.searched, captures)) {
      const std::string where = ToPrintable(*capture);
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("it launches graphs that may have been captured in {}, which another "
                      "process mapped",
                      where),
          fmt::format("map again with `captures` {}", where), part.report.path};
    }
  }
  return {};
}

namespace {

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
    const std::lock_guard lock(mutex_);
    sum_.done_bytes += done_bytes - done_[file];
    done_[file] = done_bytes;
    if (request_.options.progress) {
      request_.options.progress(sum_);
    }
  }

  void Finish(size_t file) {
    {
      const std::lock_guard lock(mutex_);
      ++sum_.done_files;
      unfinished_ = std::min(file + 1, done_.size() - 1);
    }
    Update(file, request_.files[file].bytes);
  }

  // Where files are loaded one after the other: the one at work, and how much of it is read.
  std::pair<size_t, uint64_t> unfinished() const { return {unfinished_, done_[unfinished_]}; }

 private:
  const RunRequest& request_;
  std::mutex mutex_;
  Progress sum_;
  std::vector<uint64_t> done_;
  size_t unfinished_ = 0;
};

void Describe(const Trace& trace, FileInfo& report) {
  report.file_bytes = trace.meta().file_bytes;
  report.text_bytes = trace.meta().text_bytes;
  report.begin_ns = trace.begin_ns();
  for (const EventCount& count : trace.event_counts()) {
    report.events += count.count;
  }
}

// Files are drafted for every rank, as it is known only later which ranks are selected.
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

// The text of the file once more.
Result<std::unique_ptr<ByteSource>> OpenAgain(const AnalysisSpec& spec, const InputFile& input,
                                              const Trace& trace) {
  if (input.path == "-" && !input.content) {
    return UsageError(
        fmt::format("{}: it reads the trace twice, which standard input does not allow", spec.name),
        "give a file");
  }
  if (trace.meta().events_end_byte == 0 || HasDamagedText(trace.diagnostics())) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("{} needs the text of a trace in JSON that is not damaged", spec.name),
                 "record it anew with torch.profiler", trace.meta().file};
  }
  if (!input.content) {
    BS_ASSIGN(OpenedSource opened, OpenInflated(input.path));
    return std::move(opened.bytes);
  }
  BS_ASSIGN(std::unique_ptr<ByteSource> content, input.content());
  BS_ASSIGN(OpenedSource opened, InflateIfCompressed(std::move(content)));
  return std::move(opened.bytes);
}

// One analysis over one rank, with what it reads of its file again, and of files beside it.
Result<Tables> MapAndRead(const RunRequest& request, const AnalysisSpec& spec, const RankView& view,
                          const InputFile& input) {
  CheckStop();
  BS_ASSIGN(Tables tables, MapTrace(spec, request.params, view));
  if (const auto read_text = spec.PipelineFor(request.params).read_text; read_text != nullptr) {
    BS_ASSIGN(const std::unique_ptr<ByteSource> text, OpenAgain(spec, input, view.trace));
    BS_ASSIGN(tables, read_text(std::move(tables), view, *text, request.params));
  }
  const auto read_files = spec.PipelineFor(request.params).read_files;
  return read_files != nullptr && request.reads_files
             ? read_files(std::move(tables), request.params)
             : std::move(tables);
}

bool HasPattern(const RunRequest& request) {
  return !request.params.selection.step_pattern.empty();
}

// Those of --step-pattern; without it none, because the index has the steps.
Result<Steps> StepsOf(const RunRequest& request, const LoadedTrace& loaded) {
  return HasPattern(request) ? MatchSteps(loaded.trace, loaded.index.correlation,
                                          request.params.selection.step_pattern)
                             : Steps();
}

// The places of verbs in a request.
struct VerbGroups {
  std::vector<std::vector<size_t>> dear;  // those that need the same dear measure, together
  std::vector<size_t> others;
};

// What takes most memory comes first: it is measured before there are answers of others.
VerbGroups GroupVerbs(const RunRequest& request) {
  std::map<MeasureId, std::vector<size_t>> dear;
  VerbGroups groups;
  for (size_t verb = 0; verb < request.specs.size(); ++verb) {
    const MeasureId measure = request.specs[verb]->DearMeasure(request.params);
    (measure == nullptr ? groups.others : dear[measure]).push_back(verb);
  }
  for (auto& [measure, verbs] : dear) {
    groups.dear.push_back(std::move(verbs));
  }
  const auto place_of = [&](const std::vector<size_t>& group) {
    double memory = 0;
    for (const size_t verb : group) {
      memory = std::max(memory, request.specs[verb]->memory);
    }
    return std::pair(-memory, group.front());
  };
  std::sort(groups.dear.begin(), groups.dear.end(),
            [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  return groups;
}

// Every verb of the request, each by `map`. Of what is dear to measure there is one at a time, from
// the first of the verbs that need it to the last.
template <class Map>
void MapVerbs(const RunRequest& request, SharedMeasures& shared, int threads, const Map& map) {
  const VerbGroups groups = GroupVerbs(request);
  std::atomic<int> others_left{static_cast<int>(groups.others.size())};
  // Verbs of a group are asked at once where threads have nothing else to do; not where memory is
  // short, since each has tables of its own.
  const auto threads_of_group = [&] {
    const int idle = std::max(0, threads - 1 - others_left.load());
    return request.options.memory_limit != 0 ? 1 : 1 + idle;
  };
  const auto map_group = [&](const std::vector<size_t>& group) {
    ParallelFor(group.size(), threads_of_group(), [&](size_t i) { map(group[i]); });
    // A single verb may have something to draw or to save from it.
    if (request.specs.size() > 1) {
      shared.Free(request.specs[group.front()]->DearMeasure(request.params));
    }
  };
  ParallelFor(1 + groups.others.size(), threads, [&](size_t i) {
    if (i == 0) {
      std::for_each(groups.dear.begin(), groups.dear.end(), map_group);
    } else {
      map(groups.others[i - 1]);
      --others_left;
    }
  });
}

void MapLoaded(const RunRequest& request, const InputFile& input,
               const std::shared_ptr<const LoadedTrace>& loaded, int threads, RankPart& part) {
  const Stopwatch stopwatch;
  part.diagnostics.Merge(loaded->trace.diagnostics());
  part.diagnostics.Merge(loaded->index.diagnostics);
  const size_t verbs = request.specs.size();
  RankView view{part.report.rank, loaded->trace, loaded->index, verbs > 1 ? 1 : threads};
  SharedMeasures shared;  // of a single verb, too: its parts may begin with the same measure
  view.shared = &shared;
  Diagnostics of_counters;  // whichever verb asks for them first
  GiveCounters(input.counters.get(), input.counters_rank.value_or(part.report.rank), loaded->trace,
               shared, of_counters);
  const Result<Steps> matched = StepsOf(request, *loaded);
  view.matched_steps = HasPattern(request) && matched.ok() ? &*matched : nullptr;
  part.unknown = FindUnknown(view, request.params.selection);
  for (const int64_t step : FindStepsWithoutWork(view, request.params.selection)) {
    part.diagnostics.Count(Diag::kStepsWithoutWork, Diagnostics::kNoByte,
                           fmt::format("step {}", step));
  }
  part.outcomes.resize(verbs);
  MapVerbs(request, shared, threads, [&](size_t verb) {
    part.outcomes[verb] = matched.ok()
                              ? OutcomeOf(MapAndRead(request, *request.specs[verb], view, input))
                              : Outcome{matched.error(), {}};
  });
  part.diagnostics.Merge(of_counters);
  part.report.analysis_ns = stopwatch.elapsed_ns();
  if (request.keep_traces) {
    part.trace = loaded;
    return;
  }
  if (const Result<void> drafted = DraftFiles(request, view, input, part); !drafted.ok()) {
    part.outcomes.front().error = drafted.error();
  }
}

// Whether a text of the recording has this part.
bool HasText(const Trace& trace, std::string_view part) {
  for (const uint32_t text : EachRow(trace.strings().size())) {
    if (Contains(trace.Text(StringId{text}), part)) return true;
  }
  return false;
}

// What a run of several files has to know of each: one may be the capture of another's graphs.
Result<void> FindGraphsOf(const InputFile& input, const LoadedTrace& loaded, GraphRoles& roles) {
  roles.captures = loaded.captures;
  roles.may_replay = HasText(loaded.trace, "GraphLaunch");
  if (roles.may_replay) roles.searched = input.captures;
  if (HasText(loaded.trace, "BeginCapture")) {
    BS_ASSIGN(roles.only_captures, OnlyCapturesGraphs(loaded.trace, loaded.index));
  }
  return {};
}

// Loads, indexes and maps a trace.
void MapTraceFile(const RunRequest& request, const InputFile& input, const LoadOptions& load,
                  RankPart& part) {
  TraceCache* cache = request.options.cache;
  const Result<std::shared_ptr<const LoadedTrace>> loaded =
      cache == nullptr ? LoadTrace(input, load) : cache->Get(input, load);
  if (!loaded.ok()) {
    part.load_error = loaded.error();
    return;
  }
  const LoadedTrace& trace = **loaded;
  part.report.load_ns = trace.load_ns;
  part.report.index_ns = trace.index_ns;
  part.report.cache = trace.store.use;
  part.report.cache_failure = trace.store.reason;
  Describe(trace.trace, part.report);
  part.window = WindowOf(trace.trace);
  part.claim.recorded = trace.trace.meta().rank;
  part.claim.world_size = trace.trace.meta().world_size;
  part.report.rank = part.claim.best().value_or(0);  // until all files are known
  if (request.files.size() > 1 || request.is_part) {
    if (const Result<void> graphs = FindGraphsOf(input, trace, part.graphs); !graphs.ok()) {
      part.load_error = graphs.error();
      return;
    }
  }
  MapLoaded(request, input, *loaded, load.threads, part);
}

void MapFile(const RunRequest& request, const InputFile& input, const LoadOptions& load,
             RankPart& part) {
  part.report.path = input.path == "-" ? "standard input" : input.path;
  part.from_directory = input.from_directory;
  if (input.rank_in_file.has_value()) {
    part.report.path += input.rank_in_file->name;
  } else {
    part.claim.named = RankFromFileName(input.path);
  }
  if (request.options.load) {
    MapSaved(request, input, part);
  } else {
    MapTraceFile(request, input, load, part);
  }
  SetLoadReport(part);
}

// Files that captured what others launch are no ranks: the others are mapped again, with them.
void UseCapturesAmong(const RunRequest& request, int threads, std::vector<RankPart>& parts) {
  const std::vector<std::string> captures = CapturesAmong(parts);
  if (captures.empty()) return;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!MayUseCaptures(parts[i])) continue;
    InputFile input = request.files[i];
    for (const std::string& capture : captures) {
      const bool is_new =
          std::find(input.captures.begin(), input.captures.end(), capture) == input.captures.end();
      if (is_new) input.captures.push_back(capture);
    }
    if (input.captures.size() != request.files[i].captures.size()) {
      parts[i] = RankPart();
      MapFile(request, input, {threads, {}}, parts[i]);
    }
  }
}

// Reports of counters may be for one rank. A file that does not say which rank it is was mapped as
// rank 0; once the others are known, it is mapped again as the rank that it is.
void UseCountersOfRank(const RunRequest& request, int threads, std::vector<RankPart>& parts) {
  const auto counters = request.files.empty() ? nullptr : request.files.front().counters;
  if (counters == nullptr || request.is_part || !counters->go_by_rank()) return;
  std::vector<size_t> loaded;
  std::vector<RankClaim> claims;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].loaded()) continue;
    loaded.push_back(i);
    claims.push_back(parts[i].claim);
  }
  std::vector<Diagnostics> ignored(claims.size());  // they are counted when ranks are assigned
  const std::vector<int64_t> ranks = AssignRanks(claims, ignored);
  for (size_t i = 0; i < loaded.size(); ++i) {
    RankPart& part = parts[loaded[i]];
    if (part.report.rank == ranks[i]) continue;
    InputFile input = request.files[loaded[i]];
    input.counters_rank = ranks[i];
    part = RankPart();
    MapFile(request, input, {threads, {}}, part);
  }
}

// All ranks have what they need of them.
void ForgetCaptures(const RunRequest& request) {
  for (const InputFile& file : request.files) {
    if (file.capture_store != nullptr) file.capture_store->Clear();
  }
}

std::vector<RankPart> MapAll(const RunRequest& request, size_t in_flight, ProgressSum& progress) {
  const int threads = request.options.threads;
  const int inner = std::max(1, threads / std::max(1, static_cast<int>(in_flight)));
  std::vector<RankPart> parts(request.files.size());
  ParallelFor(parts.size(), static_cast<int>(in_flight), [&](size_t i) {
    LoadOptions load{inner, {}};
    load.progress = [&](uint64_t done, uint64_t) { progress.Update(i, done); };
    MapFile(request, request.files[i], load, parts[i]);
    progress.Finish(i);
  });
  UseCapturesAmong(request, threads, parts);
  SetAsideCaptures(parts);
  UseCountersOfRank(request, threads, parts);
  ForgetCaptures(request);
  return parts;
}

}  // namespace

void SetLoadReport(RankPart& part) {
  if (part.load_error.has_value()) {
    part.report.error = WithOptions(part.load_error->Sentence());
    // What is called a log is a damaged one, and no stray file.
    part.report.skipped = part.from_directory &&
                          part.load_error->code == ErrorCode::kUnsupportedFormat &&
                          !part.report.path.ends_with(recording::kLogSuffix);
  }
}

Outcome OutcomeOf(Result<Tables> tables) {
  return tables.ok() ? Outcome{std::nullopt, std::move(*tables)} : Outcome{tables.error(), {}};
}

Result<Tables> MapTrace(const AnalysisSpec& spec, const Params& params, const RankView& view) {
  BS_TRY(CheckNeeds(spec, view));
  Params of_part = params;
  if (spec.takes_selection && view.trace.meta().cut.has_value()) {
    BS_ASSIGN(of_part.selection, WithinCut(params.selection, view.trace));
  }
  BS_ASSIGN(Tables tables, spec.PipelineFor(params).map(view, of_part));
  DropTablesOfOrder(spec, view.trace, tables);
  return tables;
}

Result<std::vector<RankPart>> MapFiles(const RunRequest& request) {
  const std::shared_ptr<SpillFiles> spill = SpillFiles::Usual();
  BS_ASSIGN(size_t in_flight,
            FilesInFlight(request.files, request.specs, request.options.threads,
                          {request.options.memory_limit, spill ? spill->FreeBytes() : 0}));
  MemoryLimit limit(request.options.memory_limit, spill);
  while (true) {
    ProgressSum progress(request);
    std::optional<std::vector<RankPart>> parts =
        WithinMemory(limit, [&] { return MapAll(request, in_flight, progress); });
    if (parts.has_value()) {
      return std::move(*parts);
    }
    if (in_flight <= 1) {
      const auto [file, done_bytes] = progress.unfinished();
      return MemoryLimitReached(request.files[file], limit, done_bytes);
    }
    in_flight /= 2;
    ForgetCaptures(request);
    limit.Forget();
  }
}

}  // namespace borescope::internal
