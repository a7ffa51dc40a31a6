// Requests for memory in snapshots that ended nothing: the program caught the exception, or it was
// at another time than what the dumps and logs show.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/postmortem/joined_job.h"
#include "borescope/postmortem/logs/log_lines.h"

namespace borescope::internal {
namespace {

constexpr int64_t kOneDayNs = 86'400 * kSecondNs;
// So long after a request failed a program may still clean up, and issue operations for that.
constexpr int64_t kCleanUpNs = 60 * kSecondNs;
// An attempt whose ranks issue operations so long after one of them died is another one.
constexpr int64_t kOtherAttemptNs = 600 * kSecondNs;

// What shows that a failed request ended nothing.
struct Survival {
  std::string evidence = {};
  bool is_after_hang = false;  // it may have ended the rank, but the others waited before
};

// "2026-11-01 10:00:01.000 UTC".
std::string DateTime(int64_t unix_ns) {
  const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(unix_ns)));
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02} {}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     ClockTime(unix_ns));
}

// Both times, with their dates where these may differ.
std::string TimeBeside(int64_t unix_ns, int64_t other_ns) {
  const bool is_apart = unix_ns / kOneDayNs != other_ns / kOneDayNs;
  return is_apart ? DateTime(unix_ns) : ClockTime(unix_ns);
}

const HangRankRow* RowOf(const JoinedJob& job, std::optional<int32_t> rank) {
  const auto row = std::find_if(
      job.hang_ranks.begin(), job.hang_ranks.end(),
      [&](const HangRankRow& one) { return rank.has_value() && one.rank == *rank && one.dump; });
  return row == job.hang_ranks.end() ? nullptr : &*row;
}

bool IsCulprit(const JoinedJob& job, std::optional<int32_t> rank) {
  return std::any_of(job.culprits.begin(), job.culprits.end(), [&](const HangCulpritRow& row) {
    return row.primary && (!rank.has_value() || row.rank == *rank);
  });
}

// Whether a log reports how a rank ended, at that time or at one that is not known.
bool HasDeath(const JoinedJob& job, std::optional<int32_t> rank, int64_t failed_ns,
              std::optional<Ending> ending = std::nullopt) {
  return std::any_of(
      job.failures.begin(), job.failures.end(), [&](const ReportedFailure& reported) {
        return std::any_of(
            reported.failure.deaths.begin(), reported.failure.deaths.end(),
            [&](const Death& death) {
              const bool is_of_it =
                  !rank.has_value() || !death.rank.has_value() || death.rank == rank;
              const bool is_such = !ending.has_value() || death.ending == *ending;
              return is_of_it && is_such &&
                     (death.unix_ns == 0 || death.unix_ns < failed_ns + kOtherAttemptNs);
            });
      });
}

// The newest operation that the dumps have, and the oldest of the newest of their ranks.
struct DumpTimes {
  int64_t newest_ns = 0;
  int64_t least_ns = 0;
};
DumpTimes TimesOfDumps(const JoinedJob& job) {
  DumpTimes times;
  for (const HangRankRow& row : job.hang_ranks) {
    if (const int64_t issued = row.last_issue_unix_ns.value_or(0); issued > 0) {
      times.newest_ns = std::max(times.newest_ns, issued);
      times.least_ns = times.least_ns == 0 ? issued : std::min(times.least_ns, issued);
    }
  }
  return times;
}

// By the dumps of the flight recorder.
std::optional<Survival> ByDumps(const JoinedJob& job, std::optional<int32_t> rank, int64_t failed) {
  const DumpTimes times = TimesOfDumps(job);
  if (times.newest_ns == 0) {
    return std::nullopt;
  }
  const bool is_day_apart =
      failed + kOneDayNs < times.newest_ns || times.newest_ns + kOneDayNs < failed;
  if (is_day_apart) {
    return Survival{
        fmt::format("It was at {}, and the newest operation of the dumps is of {}: the "
                    "snapshot is of another job or attempt.",
                    DateTime(failed), DateTime(times.newest_ns))};
  }
  const HangRankRow* const row = RowOf(job, rank);
  const int64_t own = row == nullptr ? 0 : row->last_issue_unix_ns.value_or(0);
  // What others wait for may be what the failed request left undone.
  const bool is_at_fault = IsCulprit(job, rank);
  const bool has_died = HasDeath(job, rank, failed, Ending::kOutOfMemory);
  if (!has_died &&
      own > failed + (job.hangs.empty() || is_at_fault ? kOtherAttemptNs : kSameMomentNs)) {
    return Survival{
        fmt::format("It was at {}; the dump of rank {} has operations issued after "
                    "that, the last at {}.",
                    TimeBeside(failed, own), *rank, TimeBeside(own, failed))};
  }
  if (job.since_ns > failed + kOtherAttemptNs && times.least_ns > failed + kOtherAttemptNs) {
    return Survival{
        fmt::format("It was at {}; all ranks with a dump issued operations until {} or "
                    "later: the program caught it, or it was in an earlier attempt.",
                    TimeBeside(failed, times.least_ns), TimeBeside(times.least_ns, failed))};
  }
  const bool has_waited = own > 0 && own + kSameMomentNs < failed && job.since_ns > 0 &&
                          job.since_ns + kSameMomentNs < failed && row->waits_for.has_value();
  if (has_waited && !is_at_fault && !job.hangs.empty()) {
    Survival after;
    after.is_after_hang = true;
    after.evidence = fmt::format(
        "It was at {}; rank {} has waited for rank {} since {}: it may follow from the hang.",
        TimeBeside(failed, own), *rank, *row->waits_for, TimeBeside(own, failed));
    return after;
  }
  return std::nullopt;
}

// The log of a rank; where the rank is not known, the only log that there is.
const EndOfLog* LogOf(const JoinedJob& job, std::optional<int32_t> rank) {
  const auto log = std::find_if(job.ends.begin(), job.ends.end(), [&](const EndOfLog& one) {
    return rank.has_value() && one.rank == rank && one.line > 0;
  });
  if (log != job.ends.end()) {
    return &*log;
  }
  const bool is_only = job.ends.size() == 1 && (!rank.has_value() || !job.ends[0].rank.has_value());
  return is_only && job.ends[0].line > 0 ? job.ends.data() : nullptr;
}

// Whether a moment lies between the first and the last time of a log, if its times are UTC.
bool IsWithin(const EndOfLog& log, int64_t unix_ns) {
  const int64_t year_ns = YearNsOf(DateTime(unix_ns));
  return log.first_year_ns != 0 && log.last_year_ns != 0 && year_ns != 0 &&
         YearNsBetween(log.first_year_ns, year_ns) >= -kSameMomentNs &&
         YearNsBetween(year_ns, log.last_year_ns) > kCleanUpNs;
}

std::string NameOf(const EndOfLog& log) { return log.file.substr(log.file.rfind('/') + 1); }

// By what the log of the rank has after it. No log has to have its times with their zone.
std::optional<Survival> ByLogs(JoinedJob& job, std::optional<int32_t> rank, int64_t failed) {
  if (HasDeath(job, rank, failed)) {
    return std::nullopt;
  }
  for (const JobEvent& event : job.events) {
    const bool is_of_it = !rank.has_value() || event.rank == rank;
    if (event.kind == LogKind::kOutOfMemory && event.is_no_end && event.goes_on_to > 0 &&
        is_of_it && !job.used.contains(&event)) {
      job.used.insert(&event);
      return Survival{
          fmt::format("It was at {}; the log of the rank has it ({}), and goes on with "
                      "work to line {}.",
                      ClockTime(failed), job.PlaceOf(event), event.goes_on_to)};
    }
  }
  const EndOfLog* const log = LogOf(job, rank);
  if (log == nullptr) {
    return std::nullopt;
  }
  if (log->retry_line > 0) {
    return Survival{
        fmt::format("It was at {}; {}:{} says that the program tries again after lack "
                    "of memory, and the log goes on to line {}.",
                    ClockTime(failed), NameOf(*log), log->retry_line, log->line)};
  }
  if (log->last_unix_ns > failed + kCleanUpNs) {
    return Survival{fmt::format("It was at {}; {} goes on until {}.",
                                TimeBeside(failed, log->last_unix_ns), NameOf(*log),
                                TimeBeside(log->last_unix_ns, failed))};
  }
  const JobEvent* const end = Cancellation(job);
  const bool has_other_end = log->has_finished || (end != nullptr && end->file == log->file);
  if (has_other_end && IsWithin(*log, failed)) {
    return Survival{
        fmt::format("It was at {}, within the times of {} if these are UTC, which goes "
                    "on without a failure to line {}: \"{}\".",
                    ClockTime(failed), NameOf(*log), log->line, log->text)};
  }
  return std::nullopt;
}

void Demote(JobFinding& finding, const Survival& survival) {
  finding.order = survival.is_after_hang ? CauseRank::kSystem : CauseRank::kNothing;
  finding.evidence = fmt::format("{} {}: {}", survival.evidence, finding.finding, finding.evidence);
  finding.finding = survival.is_after_hang
                        ? "A request for memory failed while the rank waited for others"
                        : "A request for memory failed, and the program went on";
  finding.severity = survival.is_after_hang ? Severity::kWarning : Severity::kInfo;
  finding.certainty = Certainty::kLikely;
  finding.is_first = false;
  finding.help =
      "It ended nothing of what the other findings are about. Should it not happen "
      "again: oom_fixes has what would have helped.";
}

constexpr size_t kMostCited = 3;

}  // namespace

void FindSurvivedRequests(JoinedJob& job) {
  std::erase_if(job.snapshots, [&](Place place) {
    JobFinding& finding = job.At(place);
    if (!finding.failed_unix_ns.has_value()) {
      return false;
    }
    const std::vector<int32_t> ranks = ReadRankList(finding.ranks);
    const std::optional<int32_t> rank = ranks.empty() ? std::nullopt : std::optional(ranks.front());
    std::optional<Survival> survival = ByDumps(job, rank, *finding.failed_unix_ns);
    if (!survival.has_value() || survival->is_after_hang) {
      if (std::optional<Survival> by_logs = ByLogs(job, rank, *finding.failed_unix_ns)) {
        survival = std::move(by_logs);
      }
    }
    if (!survival.has_value()) {
      return false;
    }
    Demote(finding, *survival);
    job.ended_sources.insert(place.source);
    return true;
  });
}

void AddLastLines(JoinedJob& job) {
  for (const Place place : job.hangs) {
    JobFinding& hang = job.At(place);
    const std::vector<int32_t> ranks = ReadRankList(hang.ranks);
    size_t cited = 0;
    size_t finished = 0;
    for (const int32_t rank : ranks) {
      const EndOfLog* log = nullptr;  // of several that which was written to last
      for (const EndOfLog& one : job.ends) {
        const bool is_later =
            log == nullptr || YearNsBetween(log->last_year_ns, one.last_year_ns) > 0;
        if (one.rank == rank && one.line > 0 && is_later) log = &one;
      }
      if (log == nullptr || !job.IsExplainable(rank)) {
        continue;
      }
      finished += log->has_finished ? 1 : 0;
      if (cited < kMostCited) {
        ++cited;
        hang.evidence += fmt::format(" The log of rank {} ends with \"{}\" ({}:{}).", rank,
                                     log->text, NameOf(*log), log->line);
      }
    }
    if (finished > 0 && finished == ranks.size()) {
      hang.help =
          "By its log its program ended well while others still waited for it: give all ranks as "
          "many steps (drop_last=True, a sampler that pads), or use "
          "torch.distributed.algorithms.Join.";
    }
  }
}

}  // namespace borescope::internal
