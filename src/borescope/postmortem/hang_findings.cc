#include "borescope/postmortem/hang_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "borescope/ingest/flight_recorder/flight_dump.h"
#include "borescope/postmortem/dump_files.h"
#include "borescope/postmortem/hang_analysis.h"
#include "borescope/postmortem/hang_attempts.h"
#include "borescope/postmortem/hang_model.h"
#include "borescope/postmortem/hang_report.h"

namespace borescope::internal {
namespace {

// What the model itself has to say.
void NoteModel(const HangModel& model, const HangRequest& request, const std::string& where,
               std::vector<Diagnostic>& diagnostics) {
  const auto say = [&](Severity severity, std::string_view code, size_t count, std::string first,
                       std::string_view help) {
    if (count > 0) {
      diagnostics.push_back(
          {severity, std::string(code), count, where, std::move(first), std::string(help)});
    }
  };
  std::vector<int32_t> missing;
  std::vector<int32_t> small;
  std::vector<int32_t> active;
  bool any_frames = false;
  bool any_entry = false;
  for (int32_t rank = 0; rank < model.world; ++rank) {
    if (!request.SaysOf(rank)) {
      continue;
    }
    const HangRank* const at = model.Of(rank);
    if (at == nullptr) {
      missing.push_back(rank);
      continue;
    }
    if (at->may_lack_older) small.push_back(rank);
    if (at->is_active_only && !at->IsUnknown()) active.push_back(rank);
    any_entry = any_entry || !at->dump->entries.empty();
    any_frames = any_frames || std::any_of(at->dump->entries.begin(), at->dump->entries.end(),
                                           [](const FlightEntry& entry) {
                                             return entry.frames != FlightEntry::kNothing;
                                           });
  }
  const auto inferred =
      static_cast<size_t>(std::count_if(model.groups.begin(), model.groups.end(),
                                        [](const HangGroup& group) { return group.is_inferred; }));
  say(Severity::kWarning, "missing-dumps", missing.size(), RankWords(missing),
      "Ranks of the job left no dump, or it was not given.");
  say(Severity::kWarning, "ring-too-small", small.size(), RankWords(small),
      "The ring begins with outstanding operations, and older ones may have left it: a larger "
      "TORCH_FR_BUFFER_SIZE keeps them.");
  say(Severity::kInfo, "active-only", active.size(), RankWords(active),
      "The dump holds no completed operation: what the rank finished is concluded from numbers.");
  say(Severity::kInfo, "inferred-members", inferred, "",
      "The dumps do not list the members of a group: it has the ranks that recorded it.");
  say(Severity::kWarning, "group-disagrees", model.disagreements, "",
      "Ranks list different members for one group.");
  say(Severity::kInfo, "no-stacks", any_entry && !any_frames ? 1 : 0, "",
      "No entry has a stack: TORCH_INCLUDE_STACK_TRACE=1 records lines, which pickles hold and "
      "JSON does not.");
}

// Dumps that were written so far apart that what they say is not of one time.
void NoteApart(const HangModel& model, const HangRequest& request, const std::string& where,
               std::vector<Diagnostic>& diagnostics) {
  std::vector<int32_t> others;
  std::copy_if(model.of_other_attempts.begin(), model.of_other_attempts.end(),
               std::back_inserter(others), [&](int32_t rank) { return request.SaysOf(rank); });
  if (!others.empty()) {
    diagnostics.push_back(
        {Severity::kWarning, "other-attempt", others.size(), where, RankWords(others),
         "By their times and by what they finished these dumps are of another attempt of the job "
         "than most: they count for nothing. Remove the dumps of earlier attempts."});
  }
  std::vector<int32_t> odd;
  for (const HangRank& rank : model.ranks) {
    if (rank.has_odd_clock && request.SaysOf(rank.rank)) {
      odd.push_back(rank.rank);
    }
  }
  if (!odd.empty()) {
    diagnostics.push_back(
        {Severity::kWarning, "odd-clock", odd.size(), where, RankWords(odd),
         "These ranks finished collectives more than ten minutes before others issued them, or "
         "issued them as long after the others had finished: the clocks of their hosts are wrong, "
         "or their dumps are of another attempt of the job."});
  }
  std::vector<int32_t> older;
  std::copy_if(model.with_older_dumps.begin(), model.with_older_dumps.end(),
               std::back_inserter(older), [&](int32_t rank) { return request.SaysOf(rank); });
  if (!older.empty()) {
    diagnostics.push_back(
        {Severity::kWarning, "older-dump", older.size(), where, RankWords(older),
         "Others finished more than eight collectives that these dumps do not "
         "have, and that nobody finishes without these ranks: the dumps are older "
         "than the others, or of an earlier attempt of the job, and count for "
         "nothing. Collect those of one moment."});
  }
  std::vector<int32_t> early;
  for (const HangRank& rank : model.ranks) {
    if ((rank.is_apart || rank.is_behind) && request.SaysOf(rank.rank)) {
      early.push_back(rank.rank);
    }
  }
  if (!early.empty()) {
    diagnostics.push_back(
        {Severity::kInfo, "dumps-apart", early.size(), where, RankWords(early),
         "Other ranks issued work more than the timeout later, or finished collectives that need "
         "these ranks and that their dumps do not show: the dumps may not be of one time, and "
         "nothing that rests on them is certain."});
  }
}

JobFinding NoRanks(size_t dumps, bool are_names_local) {
  JobFinding finding;
  finding.order = CauseRank::kNothing;
  finding.finding = "The dumps do not say their ranks";
  finding.severity = Severity::kWarning;
  finding.certainty = Certainty::kCannotTell;
  finding.evidence =
      fmt::format("{} there, but a dump does not hold its rank, and no name says one.",
                  dumps == 1 ? "1 dump is" : fmt::format("{} dumps are", dumps));
  finding.help = dumps == 1
                     ? std::string("Rename it so that it ends in its rank: trace_0 for rank 0.")
                     : fmt::format("Rename them so that each ends in its rank: trace_0 … trace_{}.",
                                   dumps - 1);
  if (are_names_local) {
    finding.evidence = fmt::format(
        "{} dumps are there, in several folders that each count from 0: their names are places of "
        "ranks on nodes, and nothing says which ranks of the job these are.",
        dumps);
    finding.help =
        "Rename them so that each ends in its rank in the job, which torchrun counts over the "
        "nodes: with 4 ranks a node trace_2 of the second node becomes trace_6.";
  }
  return finding;
}

}  // namespace

Result<HangPart> FindHang(std::span<const JobFile> files, const HangRequest& request,
                          const LineFinder& lines) {
  DumpFiles read = ReadDumpFiles(files, request.threads, request.progress);
  HangPart part;
  part.has_failed = read.has_failed;
  std::vector<Diagnostic> diagnostics = std::move(read.diagnostics);
  std::vector<RankDump> dumps;
  size_t without_rank = 0;
  for (const DumpFile& file : read.files) {
    part.files.push_back(file.row);
    if (file.Counts() && file.row.rank.has_value()) {
      dumps.push_back({static_cast<int32_t>(*file.row.rank), &*file.dump, file.file->modified_ns});
    } else {
      without_rank += file.Counts() ? 1 : 0;
    }
  }
  if (!dumps.empty()) {
    const HangModel model = BuildModelOfOneAttempt(dumps, request.world, request.threads);
    for (JobFileRow& row : part.files) {
      for (const std::vector<int32_t>* const ranks :
           {&model.of_other_attempts, &model.with_older_dumps}) {
        const bool is_left_out =
            row.rank.has_value() &&
            std::binary_search(ranks->begin(), ranks->end(), static_cast<int32_t>(*row.rank));
        if (is_left_out) row.status = "ignored";
      }
    }
    part.found = ReportHang(model, AnalyseHang(model, request.threads), lines);
    const std::string& where =
        files.front().folder.empty() ? files.front().path : files.front().folder;
    NoteModel(model, request, where, diagnostics);
    NoteApart(model, request, where, diagnostics);
  } else if (without_rank > 0) {
    part.found.findings.push_back(NoRanks(without_rank, read.are_names_local));
    part.found.is_unclear = true;
  }
  part.found.diagnostics = std::move(diagnostics);
  return part;
}

}  // namespace borescope::internal
