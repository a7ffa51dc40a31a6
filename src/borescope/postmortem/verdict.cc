#include "borescope/postmortem/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "borescope/postmortem/joined_job.h"
#include "borescope/postmortem/watchdog_join.h"

namespace borescope::internal {
namespace {

void JoinSnapshots(JoinedJob& job) {
  for (ReportedFailure& failure : job.failures) {
    const std::vector<int32_t>& failed = failure.failure.ranks;
    if (failure.failure.deaths.front().ending != Ending::kOutOfMemory) {
      continue;
    }
    const auto same = std::find_if(job.snapshots.begin(), job.snapshots.end(), [&](Place place) {
      const std::vector<int32_t> ranks = ReadRankList(job.At(place).ranks);
      return ranks.empty() || failed.empty() ||
             std::find_first_of(ranks.begin(), ranks.end(), failed.begin(), failed.end()) !=
                 ranks.end();
    });
    if (same != job.snapshots.end()) {
      job.At(*same).evidence += " " + failure.finding.evidence;
      job.At(*same).is_first = job.At(*same).is_first || failure.finding.is_first;
      job.snapshot_of[&failure] = *same;
    }
  }
}

void Explain(JoinedJob& job) {
  JoinSnapshots(job);
  for (const Place place : job.hangs) {
    JobFinding& hang = job.At(place);
    const std::vector<int32_t> ranks = ReadRankList(hang.ranks);
    std::vector<int32_t> failed;
    std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(failed), [&](int32_t rank) {
      return job.CauseOf(rank) != nullptr && job.IsExplainable(rank);
    });
    if (failed.empty()) {
      continue;
    }
    for (HangCulpritRow& row : job.culprits) {
      const bool is_of_these = std::binary_search(failed.begin(), failed.end(), row.rank) &&
                               row.kind == HangKindName(HangKind::kNoDump);
      if (is_of_these && job.TargetOf(*job.CauseOf(static_cast<int32_t>(row.rank))).certainty ==
                             Certainty::kCertain) {
        row.certainty = CertaintyName(Certainty::kCertain);  // it is known how it ended
      }
    }
    if (failed.size() < ranks.size()) {
      hang.evidence += fmt::format(" Of these, {} failed: see there.", RankWords(failed));
      continue;
    }
    // Of several that failed the first is the reason.
    const auto is_of_these = [&](const ReportedFailure& reported) {
      return reported.is_cause &&
             std::find_first_of(reported.failure.ranks.begin(), reported.failure.ranks.end(),
                                failed.begin(), failed.end()) != reported.failure.ranks.end();
    };
    JobFinding& cause =
        job.TargetOf(*std::find_if(job.failures.begin(), job.failures.end(), is_of_these));
    cause.evidence += " " + hang.evidence;
    if (!hang.where.empty() && !hang.where.starts_with("not recorded")) {
      cause.where += (cause.where.empty() ? "" : "; ") + hang.where;
    }
    job.gone.insert({place.source, place.finding});
  }
  std::erase_if(job.hangs,
                [&](Place place) { return job.gone.contains({place.source, place.finding}); });
}

void AddStacks(JoinedJob& job) {
  for (const JobEvent& event : job.events) {
    if (event.kind != LogKind::kStack || !event.rank.has_value() || event.program_line.empty()) {
      continue;
    }
    for (HangCulpritRow& row : job.culprits) {
      if (row.rank == *event.rank) {
        row.stack_line = event.program_line;
      }
    }
    if (JobFinding* const about = job.About(*event.rank)) {
      if (about->where.starts_with("not recorded")) {
        about->where.clear();
      }
      about->where += fmt::format("{}rank {} is at {}", about->where.empty() ? "" : "; ",
                                  *event.rank, event.program_line);
    }
  }
}

void WriteCulprits(JoinedJob& job) {
  if (job.culprit_table != nullptr && job.culprit_table->rows() > 0) {
    *job.culprit_table = MakeTable(job.culprits);
  }
}

// What an end from outside explains is neither a cause nor unclear.
void TakeBackCauses(SourceFindings& source) {
  const auto is_any = [&](bool is_unclear) {
    return std::any_of(source.findings.begin(), source.findings.end(),
                       [&](const JobFinding& finding) {
                         return finding.severity == Severity::kError &&
                                (finding.certainty == Certainty::kCannotTell) == is_unclear;
                       });
  };
  source.has_cause = source.has_cause && is_any(false);
  source.is_unclear = source.is_unclear && is_any(true);
}

SourceFindings ResultOf(JoinedJob& job) {
  SourceFindings result;
  for (ReportedFailure& failure : job.failures) {
    if (!job.snapshot_of.contains(&failure)) {
      result.findings.push_back(std::move(failure.finding));
    }
  }
  std::stable_sort(
      result.findings.begin(), result.findings.end(),
      [](const JobFinding& a, const JobFinding& b) { return a.severity > b.severity; });
  std::move(job.findings.begin(), job.findings.end(), std::back_inserter(result.findings));
  result.has_cause =
      std::any_of(result.findings.begin(), result.findings.end(), [](const JobFinding& finding) {
        return finding.severity == Severity::kError && finding.certainty != Certainty::kCannotTell;
      });
  result.is_unclear = job.is_unclear;
  for (size_t s = 0; s < job.sources.size(); ++s) {
    std::vector<JobFinding> stay;
    for (size_t f = 0; f < job.sources[s].findings.size(); ++f) {
      if (!job.gone.contains({s, f})) {
        stay.push_back(std::move(job.sources[s].findings[f]));
      }
    }
    job.sources[s].findings = std::move(stay);
    if (job.ended_sources.contains(s)) {
      TakeBackCauses(job.sources[s]);
    }
  }
  return result;
}

}  // namespace

void JoinLogs(LogPart logs, std::vector<SourceFindings>& sources) {
  JoinWatchdogs(logs.events, sources);
  JoinedJob job(logs, sources);
  ReportFailures(job);
  FindSurvivedRequests(job);
  Explain(job);
  JoinOutsideEnd(job);
  AddLastLines(job);
  AddStacks(job);
  AddXids(job);
  AddTimeouts(job);
  AddStrays(job);
  AddBlamed(job);
  AddRas(job);
  AddConsequences(job);
  AddOutlived(job);
  AddSystem(job);
  WriteCulprits(job);
  SourceFindings joined = ResultOf(job);
  joined.tables = std::move(logs.tables);
  joined.diagnostics = std::move(logs.diagnostics);
  sources.push_back(std::move(joined));
}

}  // namespace borescope::internal
