#include "borescope/engine/map_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>

#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/loading/attach_counters.h"

namespace borescope::internal {
namespace {

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
        SetRank(outcome.tables, ranks[i]);
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
  // Of what is none, what another verb answers about.
  const auto answered = std::find_if(parts.begin(), parts.end(), [](const RankPart& part) {
    return Contains(part.load_error->remedy, "borescope postmortem");
  });
  Error shown = better != parts.end()     ? *better->load_error
                : answered != parts.end() ? *answered->load_error
                                          : first;
  const std::string remedy = std::exchange(shown.remedy, {});
  return {shown.code,
          fmt::format("none of {} files could be loaded; the first: {}", parts.size(),
                      shown.Sentence()),
          remedy};
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

// By rank, then files that could not be read, by their names: the first example of a finding
// is the same in whatever order files are named.
template <class Part>
std::vector<Part*> ByRank(std::span<Part> parts) {
  std::vector<Part*> ordered;
  for (Part& part : parts) {
    ordered.push_back(&part);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const Part* a, const Part* b) {
    if (a->loaded() != b->loaded()) {
      return a->loaded();
    }
    return a->loaded() ? a->report.rank < b->report.rank
                       : NaturalLess(a->report.path, b->report.path);
  });
  return ordered;
}

// The folder of a run, or its first file.
std::string NameOf(const std::vector<RankPart>& parts) {
  const RankPart& first = *ByRank<const RankPart>(parts).front();
  const std::filesystem::path path(first.report.path);
  return first.from_directory ? path.parent_path().string() : path.string();
}

Error NoSuchRank(std::string_view run_name, std::span<RankPart* const> sorted,
                 const std::vector<RankPart>& parts) {
  const std::string ranks = ListRanks(sorted);
  const std::string remedy = fmt::format("its ranks are {}", ranks);
  return run_name.empty()
             ? UsageError("`rank` names no rank of this run", remedy, "rank")
             : UsageError(fmt::format("`{0}_rank` (or `rank`) names no rank of the {0} run {1}",
                                      run_name, NameOf(parts)),
                          remedy, fmt::format("{}_rank", run_name));
}

// The loaded parts that were asked for, in rank order.
Result<std::vector<RankPart*>> SelectRanks(std::span<RankPart* const> loaded,
                                           const NumberRanges& ranks, std::string_view run_name,
                                           const std::vector<RankPart>& parts) {
  std::vector<RankPart*> sorted(loaded.begin(), loaded.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const RankPart* a, const RankPart* b) { return a->report.rank < b->report.rank; });
  std::vector<RankPart*> selected;
  std::copy_if(
      sorted.begin(), sorted.end(), std::back_inserter(selected),
      [&](const RankPart* part) { return ranks.empty() || ranks.Contains(part->report.rank); });
  if (selected.empty()) {
    return NoSuchRank(run_name, sorted, parts);
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

void CountUnknown(std::span<RankPart* const> loaded, const NumberRanges& ranks, MappedRun& run) {
  std::vector<std::string> names = UnknownRanks(loaded, ranks);
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

// Nothing where a single file, or some of the ranks were asked for.
MissingRanks MissingOf(const MappedRun& run) {
  std::vector<const RankPart*> loaded;
  for (const RankPart& part : run.parts) {
    if (part.loaded()) {
      loaded.push_back(&part);
    }
  }
  const RankPart& first = *loaded.front();
  const bool is_run = run.parts.size() > 1 || first.from_directory;
  return !is_run || run.selected.size() != loaded.size() ? MissingRanks() : FindMissing(loaded);
}

std::string FileName(const FileInfo& report) {
  return std::filesystem::path(report.path).filename().string();
}

// One diagnostic for the run, under the name of its folder or its first file.
void AppendMissingRanks(const MappedRun& run, std::vector<Diagnostic>& rows) {
  Diagnostics diagnostics;
  const MissingRanks missing = MissingOf(run);
  diagnostics.CountMany(Diag::kMissingRanks, missing.count, Diagnostics::kNoByte, missing.text);
  AppendDiagnostics(diagnostics, NameOf(run.parts), rows);
}

// Whether there is every rank that a report of counters is for: a rank whose file could not be
// read, or that another process maps, may be there.
Result<void> CheckCounters(const MappedRun& run) {
  if (run.counters == nullptr || run.counters->files != run.parts.size()) {
    return {};
  }
  std::vector<int64_t> ranks;
  for (const RankPart& part : run.parts) {
    if (!part.loaded() && !part.report.skipped) {
      return {};
    }
    if (part.loaded()) {
      ranks.push_back(part.report.rank);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  return CheckRanksOfCounters(*run.counters, ranks);
}

}  // namespace

void SetRank(Tables& tables, int64_t rank) {
  for (Table& table : tables) {
    Column* column = table.Find("rank");
    if (column == nullptr || column->role != Role::kKey) {
      continue;
    }
    if (auto* ranks = std::get_if<IntValues>(&column->values)) {
      std::fill(ranks->begin(), ranks->end(), rank);
    }
  }
}

Result<MappedRun> MapRun(const RunRequest& request) {
  Params params = request.params;
  params.sharing = RanksForSure(request.files.size());
  BS_ASSIGN(std::vector<RankPart> parts,
            MapFiles({request.specs, request.files, request.ranks, params, request.options,
                      request.name, request.keep_traces, request.reads_files, request.is_part}));
  BS_ASSIGN(MappedRun run, TellRanksApart(std::move(parts), request.ranks, request.name));
  run.counters = request.files.front().counters;
  BS_TRY(CheckCounters(run));
  return run;
}

Result<MappedRun> TellRanksApart(std::vector<RankPart> parts, const NumberRanges& ranks,
                                 std::string_view run_name) {
  MappedRun run;
  run.parts = std::move(parts);
  SetAsideCopies(run.parts);
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
  BS_ASSIGN(run.selected, SelectRanks(loaded, ranks, run_name, run.parts));
  CountUnknown(loaded, ranks, run);
  return run;
}

size_t RanksForSure(size_t files) {
  constexpr size_t kFilesOfRank = 64;
  return (files + kFilesOfRank - 1) / kFilesOfRank;
}

size_t SharingRanks(const MappedRun& run) {
  return std::max(run.selected.size(), RanksForSure(run.parts.size()));
}

Result<void> CommitDrafts(MappedRun& run) {
  for (RankPart* part : run.selected) {
    for (const std::unique_ptr<FileSink>& draft : part->drafts) {
      BS_TRY(draft->Commit());
    }
  }
  const std::set<const RankPart*> selected(run.selected.begin(), run.selected.end());
  for (RankPart& part : run.parts) {
    if (!selected.contains(&part)) {
      part.report.overlay.reset();
      part.report.saved.clear();
    }
  }
  return {};
}

std::vector<RunFault> FaultsOf(const MappedRun& run) {
  RunFault unreadable{Diag::kUnreadableFile, 0, {}};
  RunFault twice{Diag::kDuplicateRank, 0, {}};
  for (const RankPart* const part : ByRank<const RankPart>(run.parts)) {
    if (!part->loaded() && !part->report.skipped && unreadable.count++ == 0) {
      unreadable.words = FileName(part->report);
    }
  }
  for (const RankPart* part : run.selected) {
    const Diagnostics::Entry& claim = part->diagnostics.Get(Diag::kDuplicateRank);
    if (claim.count != 0 && twice.count++ == 0) {
      twice.words = fmt::format("{}: {}", FileName(part->report), claim.first);
    }
  }
  const std::optional<int64_t> world_size = WorldSize(run.selected);
  twice.is_error = twice.count != 0 && world_size.has_value() &&
                   run.selected.size() > static_cast<size_t>(*world_size);
  for (RunFault* fault : {&unreadable, &twice}) {
    fault->words += fault->count > 1 ? fmt::format(" and {} more", fault->count - 1) : "";
  }
  if (twice.is_error) {
    twice.words += fmt::format("; {} files of a job of {}", run.selected.size(),
                               *world_size == 1 ? "1 rank" : fmt::format("{} ranks", *world_size));
  }
  const MissingRanks missing = MissingOf(run);
  return {std::move(unreadable),
          {Diag::kMissingRanks, static_cast<int64_t>(missing.count), missing.text},
          std::move(twice)};
}

std::vector<Diagnostic> CollectDiagnostics(MappedRun& run) {
  std::vector<RankPart>& parts = run.parts;
  const std::set<const RankPart*> selected(run.selected.begin(), run.selected.end());
  const auto candidates = static_cast<size_t>(std::count_if(
      parts.begin(), parts.end(), [](const RankPart& part) { return !part.report.skipped; }));
  const auto loaded = static_cast<size_t>(std::count_if(
      parts.begin(), parts.end(), [](const RankPart& part) { return part.loaded(); }));
  std::vector<Diagnostic> rows;
  AppendDiagnostics(run.diagnostics, NameOf(parts), rows);
  if (run.counters != nullptr) {
    for (const OddReports& odd : run.counters->odd) {
      AppendDiagnostics(odd.diagnostics, odd.path, rows);
    }
  }
  for (RankPart* const part : ByRank<RankPart>(parts)) {
    if (!part->loaded() && !part->report.skipped) {
      part->diagnostics.Count(
          Diag::kUnreadableFile, Diagnostics::kNoByte,
          fmt::format("{} ({} of {} files loaded)",
                      TextWithoutFile(*part->load_error, part->report.path), loaded, candidates));
    }
    if (!part->loaded() || selected.contains(part)) {
      AppendDiagnostics(part->diagnostics, part->report.path, rows);
    }
  }
  AppendMissingRanks(run, rows);
  return rows;
}

std::vector<FileInfo> TakeReports(MappedRun& run) {
  std::vector<FileInfo> reports;
  reports.reserve(run.parts.size());
  for (RankPart& part : run.parts) {
    reports.push_back(std::move(part.report));
  }
  return reports;
}

namespace {

Result<LoadedRun> Load(const RunOptions& options) {
  BS_ASSIGN(MappedRun run, MapRun({{},
                                   options.files,
                                   options.ranks,
                                   options.params,
                                   options,
                                   "",
                                   /*keep_traces=*/true}));
  LoadedRun loaded;
  loaded.diagnostics = CollectDiagnostics(run);
  loaded.ranks.reserve(run.selected.size());
  for (RankPart* part : run.selected) {
    loaded.ranks.push_back({part->report.rank, part->report.path, std::move(part->diagnostics),
                            std::move(part->trace)});
  }
  loaded.files = TakeReports(run);
  return loaded;
}

}  // namespace

Result<LoadedRun> LoadRun(const RunOptions& options) {
  return WithNumberedRows([&] { return Stoppable(options.stop, [&] { return Load(options); }); });
}

}  // namespace borescope::internal
