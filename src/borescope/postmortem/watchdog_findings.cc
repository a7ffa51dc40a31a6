#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/postmortem/joined_job.h"
#include "borescope/postmortem/watchdog_join.h"
#include "borescope/postmortem/watchdogs.h"

namespace borescope::internal {
namespace {

// The longest wait that a watchdog reports.
const JobEvent& LongestOf(const std::vector<const JobEvent*>& timeouts) {
  return **std::max_element(timeouts.begin(), timeouts.end(),
                            [](const JobEvent* a, const JobEvent* b) {
                              const auto waited = [](const JobEvent* event) {
                                return event->timeout.has_value() ? event->timeout->waited_ms : 0;
                              };
                              return waited(a) < waited(b);
                            });
}

// Operations that watchdogs name beside the first one.
std::string DifferencesOf(const std::vector<const JobEvent*>& timeouts) {
  constexpr size_t kMostNamed = 3;
  std::string text;
  std::set<std::string> named = {timeouts.front()->text};
  for (const JobEvent* const event : timeouts) {
    if (named.size() <= kMostNamed && named.insert(event->text).second) {
      const std::string of_group = event->timeout.has_value() && !event->timeout->group.empty()
                                       ? fmt::format(" (group {})", event->timeout->group)
                                       : "";
      text += event->rank.has_value()
                  ? fmt::format(" That of rank {}: {}{}.", *event->rank, event->text, of_group)
                  : fmt::format(" Another one: {}{}.", event->text, of_group);
    }
  }
  return text;
}

// What ranks that did not give up themselves had done.
std::string ProgressOf(const JoinedJob& job, const std::vector<int32_t>& ranks) {
  constexpr size_t kMostNamed = 3;
  std::map<int32_t, const JobEvent*> newest;
  for (const JobEvent* const event : job.OfKind(LogKind::kProgress)) {
    if (event->rank.has_value() && std::binary_search(ranks.begin(), ranks.end(), *event->rank)) {
      newest[*event->rank] = event;
    }
  }
  std::string text;
  size_t count = 0;
  for (const auto& [rank, event] : newest) {
    if (++count <= kMostNamed) text += fmt::format(" Rank {}: {}.", rank, event->text);
  }
  return text;
}

// Ranks of which logs speak, but whose watchdog did not report.
std::vector<int32_t> Silent(const JoinedJob& job, const std::vector<int32_t>& reporting) {
  std::vector<int32_t> silent;
  for (const JobEvent& event : job.events) {
    if (event.rank.has_value() && event.kind != LogKind::kXid &&
        !std::binary_search(reporting.begin(), reporting.end(), *event.rank)) {
      silent.push_back(*event.rank);
    }
  }
  std::sort(silent.begin(), silent.end());
  silent.erase(std::unique(silent.begin(), silent.end()), silent.end());
  return silent;
}

// The operations in which ranks wait, by the tables.
std::vector<KnownOperation> OperationsOf(const JoinedJob& job) {
  std::vector<KnownOperation> known;
  const auto add = [&](const std::string& name, const std::string& group,
                       const std::string& description, std::optional<int64_t> seq) {
    known.push_back({.name = name, .group = description.empty() ? group : description, .seq = seq});
  };
  for (const HangCulpritRow& row : job.culprits) {
    add(row.operation.value_or(""), row.group.value_or(""), row.group_desc.value_or(""), row.seq);
  }
  for (const SourceFindings& source : job.sources) {
    for (const Table& table : source.tables) {
      if (table.name != HangOperationRow::kTable.name) {
        continue;
      }
      for (const HangOperationRow& row : ReadRows<HangOperationRow>(table)) {
        // Of a transfer a watchdog names one end, of several in one launch that.
        const std::string_view more = row.type == "p2p"         ? " recv coalesced"
                                      : row.type == "coalesced" ? " coalesced"
                                                                : "";
        add(fmt::format("{}{}", row.operation, more), row.group, row.group_desc, row.seq);
      }
    }
  }
  return known;
}

// Whether a watchdog reported an operation in which ranks wait, or one that it does not number. One
// that it reported of another operation shows no hang in these.
bool IsNamedByWatchdog(const JoinedJob& job) {
  const std::vector<const JobEvent*> timeouts = job.OfKind(LogKind::kTimeout);
  const std::vector<KnownOperation> known = OperationsOf(job);
  return timeouts.empty() ||
         std::any_of(timeouts.begin(), timeouts.end(), [&](const JobEvent* event) {
           return !event->timeout.has_value() || !event->timeout->seq.has_value() ||
                  std::any_of(known.begin(), known.end(), [&](const KnownOperation& operation) {
                    return NamesOperation(*event->timeout, operation);
                  });
         });
}

// A watchdog that gave up shows that it was a hang.
void Confirm(JoinedJob& job, const std::string& said) {
  bool is_told = false;
  const bool is_named = IsNamedByWatchdog(job);
  const auto tell = [&](JobFinding& finding) {
    if (const size_t at = finding.evidence.find(kAssumedHang);
        is_named && at != std::string::npos) {
      finding.evidence.erase(at, kAssumedHang.size());
    }
    if (!is_told) {
      finding.evidence += " " + said;
    }
    is_told = true;
  };
  for (ReportedFailure& failure : job.failures) {
    if (failure.is_cause) tell(job.TargetOf(failure));
  }
  for (const Place place : job.hangs) {
    tell(job.At(place));
  }
  if (!is_told && job.end != nullptr) {
    job.end_evidence += " " + said;
  }
  for (HangCulpritRow& row : job.culprits) {
    if (is_named && row.hang == HangShownName(HangShown::kAssumed)) {
      row.hang = HangShownName(HangShown::kShown);
    }
  }
}

void SetWait(JobFinding& finding, std::optional<int64_t> waited_ms) {
  if (waited_ms.has_value()) {
    finding.value = static_cast<double>(*waited_ms) * 1e6;
    finding.unit = "ns";
  }
}

// Who was missing, as watchdogs and checks of PyTorch say.
void AddWatchdogCulprits(JoinedJob& job, const WatchdogCulprits& culprits, const std::string& said,
                         std::optional<int64_t> waited_ms) {
  if (job.HasCause()) {
    Confirm(job, culprits.evidence);
    return;
  }
  JobFinding finding;
  finding.order = CauseRank::kHang;
  finding.severity = Severity::kError;
  SetWait(finding, waited_ms);
  finding.finding = culprits.finding;
  finding.certainty = culprits.certainty;
  finding.ranks = RankList(culprits.ranks);
  finding.evidence = culprits.evidence + (said.empty() ? "" : " " + said);
  finding.where = job.StacksOf(culprits.ranks);
  finding.help = culprits.help;
  job.has_watchdog_cause = true;
  job.is_unclear = job.is_unclear || culprits.certainty == Certainty::kCannotTell;
  job.Keep(std::move(finding));
}

}  // namespace

void AddTimeouts(JoinedJob& job) {
  const std::vector<const JobEvent*> timeouts = job.OfKind(LogKind::kTimeout);
  const std::optional<WatchdogCulprits> culprits = CompareWatchdogs(job.events);
  if (timeouts.empty()) {
    if (culprits.has_value()) AddWatchdogCulprits(job, *culprits, "", std::nullopt);
    return;
  }
  const std::vector<int32_t> ranks = RanksOfEvents(timeouts);
  const JobEvent& first = *timeouts.front();
  const std::string watchdogs =
      ranks.size() == 1 ? fmt::format("The watchdog of {}", RankWords(ranks))
      : ranks.empty()   ? "A watchdog"
                        : fmt::format("The watchdogs of {}", RankWords(ranks));
  const bool are_alike = std::all_of(timeouts.begin(), timeouts.end(), [&](const JobEvent* event) {
    return event->text == first.text;
  });
  const std::string said =
      are_alike
          ? fmt::format("{} reported that {} ({}).", watchdogs, first.text, job.PlaceOf(first))
          : fmt::format("{} reported that operations did not end, first that {} ({}).", watchdogs,
                        first.text, job.PlaceOf(first));
  const JobEvent& longest = LongestOf(timeouts);
  const std::optional<int64_t> waited_ms =
      longest.timeout.has_value() ? std::optional(longest.timeout->waited_ms) : std::nullopt;
  if (culprits.has_value()) {
    AddWatchdogCulprits(job, *culprits, said, waited_ms);
    return;
  }
  if (job.HasCause()) {
    Confirm(job, said);
    return;
  }
  JobFinding finding;
  finding.order = CauseRank::kHang;
  finding.severity = Severity::kError;
  SetWait(finding, waited_ms);
  finding.finding = kWatchdogAlone;
  finding.certainty = Certainty::kCannotTell;
  finding.ranks = RankList(ranks);
  std::vector<int32_t> silent = Silent(job, ranks);
  finding.where = job.StacksOf(silent);
  finding.evidence = said + DifferencesOf(timeouts) + ProgressOf(job, silent);
  for (const JobEvent* const event : job.OfKind(LogKind::kProgress)) {
    std::erase(silent, event->rank);
  }
  if (!silent.empty()) {
    finding.evidence += fmt::format(" Nothing was reported by {}.", RankWords(silent));
  }
  finding.help =
      "Dumps of the flight recorder say who was missing: TORCH_NCCL_DUMP_ON_TIMEOUT=1, "
      "TORCH_FR_BUFFER_SIZE=2000, and the files of TORCH_FR_DUMP_TEMP_FILE of all ranks.";
  job.is_unclear = true;
  job.Keep(std::move(finding));
}

// Ranks that an exception of another one names as those that did not come.
void AddBlamed(JoinedJob& job) {
  std::set<int32_t> blamed;
  const JobEvent* first = nullptr;
  for (const JobEvent& event : job.events) {
    for (const int32_t rank : event.blamed) {
      if (rank != event.rank && !event.is_no_end && event.desync == DesyncKind::kNone) {
        blamed.insert(rank);
        first = first == nullptr ? &event : first;
      }
    }
  }
  if (first == nullptr) {
    return;
  }
  const std::string evidence = fmt::format("{}: {}.", job.PlaceOf(*first), first->text);
  JobFinding* about = nullptr;
  for (const int32_t rank : blamed) {
    about = about == nullptr ? job.About(rank) : about;
  }
  if (about != nullptr) {
    about->evidence += " " + evidence;
    return;
  }
  JobFinding finding;
  finding.order = CauseRank::kHang;
  finding.finding = "Ranks did not come to a barrier";
  finding.severity = job.HasCause() ? Severity::kWarning : Severity::kError;
  finding.certainty = Certainty::kLikely;
  const std::vector<int32_t> ranks(blamed.begin(), blamed.end());
  finding.ranks = RankList(ranks);
  finding.evidence = evidence;
  finding.where = job.StacksOf(ranks);
  finding.help =
      "Their hosts are stuck in Python (a lock, data loading, input or output), ended, or were "
      "merely slow: read their logs, or `py-spy dump --pid PID` on these ranks before the job "
      "is killed.";
  job.has_watchdog_cause = true;
  job.Keep(std::move(finding));
}

// Where nothing else says anything, stacks of one moment may: most ranks are at one line, and
// some do not.
void AddStrays(JoinedJob& job) {
  if (job.HasCause() || !job.findings.empty()) {
    return;
  }
  std::map<int32_t, std::string_view> line_of;
  for (const JobEvent* const event : job.OfKind(LogKind::kStack)) {
    if (event->rank.has_value() && !event->program_line.empty()) {
      line_of[*event->rank] = event->program_line;
    }
  }
  std::map<std::string_view, std::vector<int32_t>> ranks_at;
  for (const auto& [rank, line] : line_of) ranks_at[line].push_back(rank);
  const auto most = std::max_element(
      ranks_at.begin(), ranks_at.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (ranks_at.size() < 2 || most->second.size() * 2 <= line_of.size()) {
    return;
  }
  std::vector<int32_t> strays;
  std::string where;
  constexpr size_t kMostShown = 4;
  for (const auto& [rank, line] : line_of) {
    if (line == most->first) {
      continue;
    }
    strays.push_back(rank);
    if (strays.size() <= kMostShown) {
      where += fmt::format("{}rank {} is at {}", where.empty() ? "" : "; ", rank, line);
    }
  }
  JobFinding finding;
  finding.order = CauseRank::kHang;
  finding.finding = "Ranks are at another line than the others";
  finding.severity = Severity::kWarning;
  finding.certainty = Certainty::kLikely;
  finding.ranks = RankList(strays);
  finding.evidence = fmt::format(
      "By their stacks {} {} at {}, and {} {} not. If the job hangs, the others may wait for {}.",
      RankWords(most->second), most->second.size() == 1 ? "is" : "are", most->first,
      RankWords(strays), strays.size() == 1 ? "is" : "are", strays.size() == 1 ? "it" : "these");
  finding.where = where;
  finding.help =
      "Write the stacks of all ranks again a minute later: a rank that is still there, while the "
      "others wait in a collective, keeps them from going on.";
  job.Keep(std::move(finding));
}

}  // namespace borescope::internal
