#include "borescope/postmortem/joined_job.h"

#include <fmt/format.h>

#include <algorithm>

namespace borescope::internal {

JoinedJob::JoinedJob(const LogPart& logs, std::vector<SourceFindings>& sources_of_job)
    : events(logs.events), ends(logs.ends), sources(sources_of_job) {
  LearnNames();
  ReadCulprits();
}

void JoinedJob::ReadCulprits() {
  for (size_t s = 0; s < sources.size(); ++s) {
    for (Table& table : sources[s].tables) {
      if (table.name == HangCulpritRow::kTable.name) {
        culprit_table = &table;
        culprits = ReadRows<HangCulpritRow>(table);
      } else if (table.name == HangRankRow::kTable.name) {
        hang_ranks = ReadRows<HangRankRow>(table);
      }
    }
    for (size_t f = 0; f < sources[s].findings.size(); ++f) {
      const JobFinding& finding = sources[s].findings[f];
      if (finding.order == CauseRank::kHang && finding.severity == Severity::kError) {
        hangs.push_back({s, f});
      } else if (finding.order == CauseRank::kOutOfMemory) {
        snapshots.push_back({s, f});
      }
    }
  }
  std::set<int32_t> known;
  for (const HangRankRow& row : hang_ranks) {
    known.insert(static_cast<int32_t>(row.rank));
  }
  for (const EndOfLog& log : ends) {
    if (log.rank.has_value()) known.insert(*log.rank);
  }
  for (const JobEvent& event : events) {
    if (event.rank.has_value()) known.insert(*event.rank);
  }
  known_ranks.assign(known.begin(), known.end());
  for (const HangCulpritRow& row : culprits) {
    const int64_t since = row.since_unix_ns.value_or(0);
    if (row.primary && since > 0 && (since_ns == 0 || since < since_ns)) {
      since_ns = since;
    }
  }
}

// Which files have one name; two of each are enough to know.
void JoinedJob::LearnNames() {
  const std::string* last = nullptr;
  for (const JobEvent& event : events) {
    if (last != nullptr && *last == event.file) {
      continue;
    }
    last = &event.file;
    std::set<std::string>& paths = paths_of[event.file.substr(event.file.rfind('/') + 1)];
    if (paths.size() < 2) paths.insert(event.file);
  }
}

bool JoinedJob::IsExplainable(int32_t rank) const {
  return std::any_of(culprits.begin(), culprits.end(), [rank](const HangCulpritRow& row) {
    return row.rank == rank && (row.kind == HangKindName(HangKind::kNoDump) ||
                                row.kind == HangKindName(HangKind::kNeverIssued) ||
                                row.kind == HangKindName(HangKind::kDeviceStuck) ||
                                row.kind == HangKindName(HangKind::kNotStarted));
  });
}

std::string JoinedJob::PlaceOf(const JobEvent& event) const {
  const std::string& path = event.file;
  const size_t name = path.rfind('/');
  std::string place = path.substr(name == std::string::npos ? 0 : name + 1);
  const auto alike = paths_of.find(place);
  const bool is_apart = event.line > 0 && (alike == paths_of.end() || alike->second.size() < 2);
  if (!is_apart && name != std::string::npos && name != 0) {
    const size_t folder = path.rfind('/', name - 1);
    place = path.substr(folder == std::string::npos ? 0 : folder + 1);
  }
  return event.line > 0 ? fmt::format("{}:{}", place, event.line) : place;
}

ReportedFailure* JoinedJob::CauseOf(int32_t rank) {
  const auto found = std::find_if(failures.begin(), failures.end(), [&](const ReportedFailure& f) {
    return f.is_cause && std::binary_search(f.failure.ranks.begin(), f.failure.ranks.end(), rank);
  });
  return found == failures.end() ? nullptr : &*found;
}

JobFinding& JoinedJob::TargetOf(ReportedFailure& failure) {
  const auto found = snapshot_of.find(&failure);
  return found == snapshot_of.end() ? failure.finding : At(found->second);
}

JobFinding* JoinedJob::About(int32_t rank) {
  if (ReportedFailure* const failure = CauseOf(rank)) {
    return &TargetOf(*failure);
  }
  for (const Place place : hangs) {
    const std::vector<int32_t> ranks = ReadRankList(At(place).ranks);
    if (std::binary_search(ranks.begin(), ranks.end(), rank)) {
      return &At(place);
    }
  }
  return nullptr;
}

std::vector<const JobEvent*> JoinedJob::OfKind(LogKind kind) const {
  std::vector<const JobEvent*> found;
  for (const JobEvent& event : events) {
    if (event.kind == kind) {
      found.push_back(&event);
    }
  }
  return found;
}

bool JoinedJob::HasCause() const {
  return !hangs.empty() || end != nullptr || has_watchdog_cause ||
         std::any_of(failures.begin(), failures.end(),
                     [](const ReportedFailure& failure) { return failure.is_cause; });
}

std::string JoinedJob::StacksOf(const std::vector<int32_t>& ranks) const {
  std::string where;
  for (const JobEvent* const event : OfKind(LogKind::kStack)) {
    if (event->rank.has_value() && !event->program_line.empty() &&
        std::binary_search(ranks.begin(), ranks.end(), *event->rank)) {
      where += fmt::format("{}rank {} is at {}", where.empty() ? "" : "; ", *event->rank,
                           event->program_line);
    }
  }
  return where;
}

std::vector<int32_t> RanksOfEvents(const std::vector<const JobEvent*>& events) {
  std::vector<int32_t> ranks;
  for (const JobEvent* const event : events) {
    if (event->rank.has_value()) {
      ranks.push_back(*event->rank);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace borescope::internal
