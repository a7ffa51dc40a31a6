#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/postmortem/joined_job.h"

namespace borescope::internal {
namespace {

std::vector<int32_t> NamedBy(const JobEvent& event) {
  std::vector<int32_t> ranks;
  std::set_union(event.ras->behind.begin(), event.ras->behind.end(), event.ras->missing.begin(),
                 event.ras->missing.end(), std::back_inserter(ranks));
  return ranks;
}

// The texts of a finding about one communicator.
JobFinding FindingOf(const JobEvent& event, bool is_stuck) {
  JobFinding finding;
  const RasText& ras = *event.ras;
  finding.order = CauseRank::kHang;
  finding.severity = Severity::kError;
  finding.certainty = Certainty::kLikely;
  finding.ranks = RankList(ras.is_missing ? ras.missing : ras.behind);
  if (ras.is_missing) {
    finding.finding = "Processes do not answer NCCL's RAS service";
    finding.help =
        "They died, or are stopped as a whole: look at their logs and exit codes, at the kernel "
        "log of their hosts (out of memory, Xid), and at what stops processes there.";
  } else if (!is_stuck) {
    finding.finding = "Ranks launched fewer collectives than others";
    finding.severity = Severity::kWarning;
    finding.certainty = Certainty::kCannotTell;
    finding.help =
        "Ask ncclras again ten seconds later: where the counts stay as they are the job hangs, and "
        "the others wait for these ranks; where they grow it runs.";
  } else if (ras.has_other_kinds) {
    finding.finding = "Ranks called different operations";
    finding.help =
        "Make all members of the group call the same collectives in the same order: look for a "
        "branch that depends on the rank or on its data.";
  } else {
    finding.finding = "Ranks stopped issuing work";
    finding.help =
        "Their hosts are stuck in Python (a lock, data loading, input or output), or were merely "
        "slow: `py-spy dump --pid PID` on these ranks before the job is killed; look at what only "
        "these ranks do.";
  }
  return finding;
}

// What watchdogs said becomes evidence of a finding that says who was missing.
void TakeWatchdogs(JoinedJob& job, JobFinding& finding) {
  const auto found =
      std::find_if(job.findings.begin(), job.findings.end(),
                   [](const JobFinding& other) { return other.finding == kWatchdogAlone; });
  if (found == job.findings.end()) {
    return;
  }
  finding.evidence += " " + found->evidence;
  finding.value = found->value;
  finding.unit = found->unit;
  job.findings.erase(found);
  job.is_unclear = false;
}

}  // namespace

void AddRas(JoinedJob& job) {
  const bool is_hang = !job.OfKind(LogKind::kTimeout).empty();
  // By what they say; processes that do not answer first, as they say most.
  std::map<std::pair<bool, std::string_view>, const JobEvent*> apart;
  // Reports of a running job differ from one to the next; where a later one says the same, nothing
  // moves.
  std::map<std::string_view, uint64_t> said;
  for (const JobEvent* const event : job.OfKind(LogKind::kRas)) {
    said[event->text] += event->count;
    const std::string evidence = fmt::format("{}: {}.", job.PlaceOf(*event), event->text);
    JobFinding* about = nullptr;
    for (const int32_t rank : NamedBy(*event)) {
      about = about == nullptr ? job.About(rank) : about;
    }
    if (about == nullptr) {
      apart.try_emplace({!event->ras->is_missing, event->text}, event);
    } else if (about->evidence.find(event->text) == std::string::npos) {
      about->evidence += " " + evidence;
    }
  }
  for (const auto& [key, event] : apart) {
    const bool is_stuck = is_hang || said[event->text] > 1;
    JobFinding finding = FindingOf(*event, is_stuck);
    finding.evidence = fmt::format("{}: {}.", job.PlaceOf(*event), event->text);
    finding.where = job.StacksOf(NamedBy(*event));
    const bool is_new_cause = finding.severity == Severity::kError && !job.HasCause();
    if (is_new_cause) {
      finding.evidence +=
          is_hang || event->ras->is_missing ? "" : " A later report says the same: nothing moves.";
      TakeWatchdogs(job, finding);
      job.has_watchdog_cause = true;
    } else if (finding.severity == Severity::kError) {
      finding.severity = Severity::kWarning;  // it may follow from what is known
    }
    job.Keep(std::move(finding));
  }
}

}  // namespace borescope::internal
