// What the logs of a job say, beside what its dumps and snapshots show, while the two become one
// verdict: who failed, which findings there are about which rank, and what explains what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/postmortem/failures.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/logs/job_logs.h"

namespace borescope::internal {

// A failure, and the finding about it.
struct ReportedFailure {
  Failure failure;
  bool is_cause = false;
  JobFinding finding = {};
};

// A finding of another source.
struct Place {
  size_t source = 0;
  size_t finding = 0;
};

// Findings of the logs are added to it in the order of verdict.cc, as later ones depend on earlier
// ones. Not for several threads at once.
struct JoinedJob {
  JoinedJob(const LogPart& logs, std::vector<SourceFindings>& sources_of_job);

  JobFinding& At(Place place) { return sources[place.source].findings[place.finding]; }
  // Whether a failure of the rank explains what the hang analysis says about it.
  bool IsExplainable(int32_t rank) const;
  // "rank3.log:120"; of files of which several have one name with their folder: "3/error.json",
  // "3/stderr.log:10".
  std::string PlaceOf(const JobEvent& event) const;
  // The failure that is a cause and has this rank; of several the first.
  ReportedFailure* CauseOf(int32_t rank);
  // Where the evidence of a failure belongs: to the finding of a snapshot of the same rank, if
  // there is one.
  JobFinding& TargetOf(ReportedFailure& failure);
  // The finding that is about the rank: its failure, or the hang.
  JobFinding* About(int32_t rank);
  std::vector<const JobEvent*> OfKind(LogKind kind) const;
  bool HasCause() const;
  // Where these ranks are, as far as stacks say.
  std::string StacksOf(const std::vector<int32_t>& ranks) const;
  void Keep(JobFinding finding) { findings.push_back(std::move(finding)); }

  const std::vector<JobEvent>& events;
  const std::vector<EndOfLog>& ends;
  std::vector<SourceFindings>& sources;
  Table* culprit_table = nullptr;
  std::vector<HangCulpritRow> culprits;  // of that table
  std::vector<HangRankRow> hang_ranks;
  std::vector<int32_t> known_ranks;  // all that any file is of; ascending
  std::vector<Place> hangs;
  std::vector<Place> snapshots;
  int64_t since_ns = 0;                   // when the first rank began to wait; 0: not known
  std::vector<ReportedFailure> failures;  // the first first
  std::map<const ReportedFailure*, Place> snapshot_of;
  std::set<const JobEvent*> used;            // events that became evidence of a finding
  std::set<std::pair<size_t, size_t>> gone;  // places of findings that became evidence of others
  const JobEvent* end = nullptr;             // from outside, if it explains what the dumps show
  std::vector<int32_t> end_ranks;            // that it ended, as far as that is known
  std::string end_evidence;
  std::set<size_t> ended_sources;                         // about which it says more than they do
  std::map<std::string, std::set<std::string>> paths_of;  // by name of the file
  std::vector<JobFinding> findings;
  bool has_watchdog_cause = false;
  bool is_unclear = false;

 private:
  void ReadCulprits();
  void LearnNames();
};

// The ranks of events that have one, ascending.
std::vector<int32_t> RanksOfEvents(const std::vector<const JobEvent*>& events);

// What the evidence of a hang says where nothing shows how long it lasted.
inline constexpr std::string_view kAssumedHang =
    " That this is a hang is assumed: the dumps do not show how long it lasted.";

// The finding about watchdogs that do not show who was missing.
inline constexpr std::string_view kWatchdogAlone =
    "A watchdog gave up, and the logs do not say who was missing";

// The steps of the verdict, each of which adds findings, or evidence to those that there are.

// Ranks that failed, and which failed first (failure_findings.cc).
void ReportFailures(JoinedJob& job);
// Ranks that ended because others had, and failures after which the program went on.
void AddConsequences(JoinedJob& job);
void AddOutlived(JoinedJob& job);

// Requests in snapshots that failed, but ended nothing (survived_requests.cc); after the failures.
void FindSurvivedRequests(JoinedJob& job);
// How the logs of ranks end for which others wait; after what explains hangs.
void AddLastLines(JoinedJob& job);

// Ends from outside, which would have come to any job (outside_ends.cc).
void JoinOutsideEnd(JoinedJob& job);
// The end by the scheduler that counts: one with a reason, if there is one.
const JobEvent* Cancellation(const JoinedJob& job);
void AddCancelled(JoinedJob& job, bool is_explained);

// Watchdogs that gave up, ranks that did not come, and stacks of one moment
// (watchdog_findings.cc).
void AddTimeouts(JoinedJob& job);
void AddBlamed(JoinedJob& job);
void AddStrays(JoinedJob& job);

// What NCCL's RAS service reports (ras_findings.cc); after the watchdogs.
void AddRas(JoinedJob& job);

// Errors of GPUs and other lines of the kernel, NCCL and the scheduler (machine_findings.cc).
void AddXids(JoinedJob& job);
void AddSystem(JoinedJob& job);

}  // namespace borescope::internal
