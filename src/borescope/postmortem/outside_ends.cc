#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/postmortem/joined_job.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kNodeFailure = "node failure";
constexpr std::string_view kPreemption = "preemption";

// A job arrives at its time limit because it hangs, and somebody cancels one that does; a node
// that fails and nodes that another job takes have other reasons.
bool IsFromOutside(const JobEvent& event) {
  return event.text == kNodeFailure || event.text == kPreemption;
}

// The kinds of what the hang analysis says about ranks.
bool AreAllOfKind(const JoinedJob& job, const std::vector<int32_t>& ranks, HangKind kind) {
  return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), [&](int32_t rank) {
    return std::any_of(job.culprits.begin(), job.culprits.end(), [&](const HangCulpritRow& row) {
      return row.rank == rank && row.kind == HangKindName(kind);
    });
  });
}

// Whether nothing shows that the job hung before it was ended.
bool IsAssumed(const JoinedJob& job, const std::vector<int32_t>& ranks) {
  return job.OfKind(LogKind::kTimeout).empty() &&
         std::none_of(job.culprits.begin(), job.culprits.end(), [&](const HangCulpritRow& row) {
           return std::binary_search(ranks.begin(), ranks.end(), static_cast<int32_t>(row.rank)) &&
                  row.hang == HangShownName(HangShown::kShown);
         });
}

// Tasks that Slurm reports as killed; each is a rank where srun started the ranks.
std::vector<int32_t> KilledTasks(const JoinedJob& job) {
  std::vector<int32_t> tasks;
  for (const JobEvent* const event : job.OfKind(LogKind::kTaskFailed)) {
    const std::string_view text = event->text;
    const size_t begin = text.find(' ');
    const size_t end = text.find(':');
    if (!text.ends_with(": Killed") || begin >= end) {
      continue;
    }
    std::string list;  // as RankList writes it
    for (const char c : text.substr(begin + 1, end - begin - 1)) {
      list += c == '-' ? std::string("..") : std::string(1, c);
    }
    const std::vector<int32_t> some = ReadRankList(list);
    tasks.insert(tasks.end(), some.begin(), some.end());
  }
  std::sort(tasks.begin(), tasks.end());
  return tasks;
}

// "task 3: Killed, and 2 more", of those that follow from something else.
std::string FailedAfterwards(const JoinedJob& job) {
  std::vector<const JobEvent*> tasks = job.OfKind(LogKind::kTaskFailed);
  std::erase_if(tasks, [](const JobEvent* event) { return !event->is_consequence; });
  return tasks.empty() ? std::string()
         : tasks.size() == 1
             ? tasks.front()->text
             : fmt::format("{}, and {} more", tasks.front()->text, tasks.size() - 1);
}

}  // namespace

// A node that failed explains that its ranks left no dump. Where nothing shows that the job hung,
// an end from outside is the cause, and that ranks waited then need not mean anything.
void JoinOutsideEnd(JoinedJob& job) {
  const JobEvent* const end = Cancellation(job);
  const bool has_failure =
      std::any_of(job.failures.begin(), job.failures.end(),
                  [](const ReportedFailure& reported) { return reported.is_cause; });
  if (end == nullptr || !IsFromOutside(*end) || has_failure) {
    return;
  }
  const std::vector<int32_t> killed = KilledTasks(job);
  std::erase_if(job.hangs, [&](Place place) {
    JobFinding& hang = job.At(place);
    const std::vector<int32_t> ranks = ReadRankList(hang.ranks);
    const bool is_assumed = IsAssumed(job, ranks);
    const bool is_killed = std::includes(killed.begin(), killed.end(), ranks.begin(), ranks.end());
    const bool is_explained = end->text == kNodeFailure &&
                              AreAllOfKind(job, ranks, HangKind::kNoDump) &&
                              (is_killed || is_assumed || killed.empty());
    if (is_explained) {
      if (is_killed) {
        job.end_ranks.insert(job.end_ranks.end(), ranks.begin(), ranks.end());
      }
      std::string said = hang.evidence;
      if (const size_t at = said.find(kAssumedHang); at != std::string::npos) {
        said.erase(at, kAssumedHang.size());
      }
      job.end_evidence += " " + said;
      if (!is_killed) {
        job.end_evidence += " It may follow from the failure of the node.";
      }
      job.gone.insert({place.source, place.finding});
    } else if (is_assumed) {
      const bool is_normal = AreAllOfKind(job, ranks, HangKind::kNotFinished);
      hang.severity = is_normal ? Severity::kInfo : Severity::kWarning;
      hang.evidence +=
          " The job was ended from outside: ranks that wait for a moment look the same.";
    } else {
      return false;
    }
    job.ended_sources.insert(place.source);
    job.end = end;
    return true;
  });
}

// The end by the scheduler that counts: one with a reason, if there is one.
const JobEvent* Cancellation(const JoinedJob& job) {
  const JobEvent* found = nullptr;
  for (const JobEvent* const event : job.OfKind(LogKind::kCancelled)) {
    const bool is_better =
        found == nullptr || (found->text == "cancelled" && event->text != found->text);
    if (!event->is_consequence && is_better) {
      found = event;
    }
  }
  return found;
}

void AddCancelled(JoinedJob& job, bool is_explained) {
  const JobEvent* const cancelled = Cancellation(job);
  if (cancelled == nullptr) {
    return;
  }
  const JobEvent& event = *cancelled;
  struct Cancelled {
    std::string_view text;
    std::string_view finding;
    std::string_view help;
    std::string_view scheduler = "Slurm";
  };
  static constexpr std::string_view kMoreTime =
      "Was it still making progress? Then ask for more time, and write checkpoints; else look at "
      "the hang.";
  static constexpr Cancelled kCancelled[] = {
      {"time limit", "Slurm cancelled the job at its time limit", kMoreTime},
      {"walltime limit", "PBS ended the job at its time limit", kMoreTime, "PBS"},
      {"run time limit", "LSF ended the job at its time limit", kMoreTime, "LSF"},
      {"hard time limit", "Grid Engine ended the job at its time limit", kMoreTime, "Grid Engine"},
      {"limit of time or memory", "Grid Engine ended the job at one of its limits",
       "Compare `qacct -j` (ru_wallclock, cpu, maxvmem) with what the job asked for (h_rt, h_cpu, "
       "h_vmem), and ask for more of what it used up.",
       "Grid Engine"},
      {kPreemption, "Slurm took the nodes for another job",
       "Write checkpoints at the signal that comes before it (--signal), and requeue the job."},
      {kNodeFailure, "A node of the job failed",
       "Leave that node out (--exclude), and tell its administrators."},
      {"cancelled", "The job was cancelled",
       "Somebody or something cancelled it: `sacct` and the log of the scheduler say who."},
      {"evicted", "Kubernetes evicted a pod of the job",
       "The node had too little of this resource: request what the job needs of it, write less "
       "to the container's own disk, and give the pods a priority."}};
  for (const Cancelled& texts : kCancelled) {
    if (event.text == texts.text) {
      JobFinding finding;
      // What it explains comes after it.
      const bool is_cause = cancelled == job.end;
      finding.order = is_cause ? CauseRank::kDeath : CauseRank::kSystem;
      finding.finding = texts.finding;
      finding.severity = is_explained && !is_cause ? Severity::kInfo : Severity::kError;
      finding.certainty = Certainty::kCertain;
      finding.ranks = is_cause ? RankList(job.end_ranks) : "";
      finding.evidence =
          event.text == "evicted"
              ? fmt::format("{}: Kubernetes evicted it{}.", job.PlaceOf(event),
                            event.cause.empty() ? "" : ", as the node lacks " + event.cause)
              : fmt::format("{}: {} says {}.", job.PlaceOf(event), texts.scheduler, event.text);
      if (const std::string followed = FailedAfterwards(job); !followed.empty()) {
        finding.evidence += fmt::format(" That tasks ended follows from it ({}).", followed);
      }
      finding.evidence += is_cause ? job.end_evidence : "";
      finding.help = texts.help;
      job.Keep(std::move(finding));
    }
  }
}

}  // namespace borescope::internal
