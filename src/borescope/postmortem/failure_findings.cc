#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/ending_texts.h"
#include "borescope/postmortem/joined_job.h"

namespace borescope::internal {
namespace {

// How many, in words.
std::string Times(size_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

// A text that is part of a sentence, without the stop that it ends with.
std::string_view WithoutStop(std::string_view text) {
  return text.ends_with("...") ? text : text.substr(0, text.find_last_not_of(". ") + 1);
}

// The text with one stop; one that was cut has its three.
std::string WithStop(std::string_view text) {
  return fmt::format("{}{}", WithoutStop(text), text.ends_with("...") ? "" : ".");
}

std::string SecondsApart(int64_t ns) {
  const double seconds = static_cast<double>(ns) / static_cast<double>(kSecondNs);
  return seconds < 100 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

// Whether a death came after the first rank began to wait, by its time.
bool IsLater(const JoinedJob& job, const Death& death) {
  return death.unix_ns != 0 && job.since_ns != 0 && death.unix_ns > job.since_ns + kSameMomentNs;
}

// Of a rank for which the others wait, or not later than they began to wait, or without a hang.
bool IsCause(const JoinedJob& job, const Failure& failure) {
  const bool is_of_culprit = std::any_of(failure.ranks.begin(), failure.ranks.end(),
                                         [&](int32_t rank) { return job.IsExplainable(rank); });
  const bool is_earlier =
      std::any_of(failure.deaths.begin(), failure.deaths.end(), [&](const Death& death) {
        return death.unix_ns != 0 && job.since_ns != 0 && !death.is_time_least &&
               death.unix_ns <= job.since_ns + kSameMomentNs;
      });
  return job.hangs.empty() || is_of_culprit || is_earlier;
}

// Ctrl-C, as it comes to a process.
bool IsInterruption(const Death& death) {
  constexpr int kInterrupted = -2;  // SIGINT
  return death.event->text.starts_with("KeyboardInterrupt") ||
         (death.ending == Ending::kSignal && death.exit_code == kInterrupted);
}

// Whether somebody interrupted a job that hung: not where the times show that it came before others
// began to wait, nor where nothing but ranks for which they wait was interrupted, as far as is
// known.
bool IsInterruptionOfHang(const JoinedJob& job, std::span<const Failure> failures) {
  if (job.hangs.empty()) {
    return false;
  }
  bool is_shown = false;
  for (const Failure& failure : failures) {
    for (const Death& death : failure.deaths) {
      if (!IsInterruption(death)) {
        continue;
      }
      const bool has_time = death.unix_ns != 0 && job.since_ns != 0 && !death.is_time_least;
      if (has_time && !IsLater(job, death)) {
        return false;
      }
      is_shown = is_shown || IsLater(job, death) || !death.rank.has_value() ||
                 !job.IsExplainable(*death.rank);
    }
  }
  return is_shown;
}

// Takes the interruptions of a job that hung from its failures: they say where each rank was.
void TakeInterruptions(JoinedJob& job, std::vector<Failure>& failures) {
  if (!IsInterruptionOfHang(job, failures)) {
    return;
  }
  JobFinding finding;
  std::vector<int32_t> ranks;
  for (const Failure& failure : failures) {
    for (const Death& death : failure.deaths) {
      if (!IsInterruption(death)) {
        continue;
      }
      if (finding.evidence.empty()) {
        finding.evidence =
            fmt::format("{}: {}{}.", job.PlaceOf(*death.event), WithoutStop(death.event->text),
                        death.unix_ns == 0 ? "" : fmt::format(" at {}", ClockTime(death.unix_ns)));
      }
      if (!death.rank.has_value()) {
        continue;
      }
      ranks.push_back(*death.rank);
      JobFinding* const about = job.About(*death.rank);
      if (about == nullptr || death.event->program_line.empty()) {
        continue;
      }
      if (about->where.starts_with("not recorded")) {
        about->where.clear();
      }
      about->where +=
          fmt::format("{}rank {} was interrupted at {}", about->where.empty() ? "" : "; ",
                      *death.rank, death.event->program_line);
    }
  }
  for (Failure& failure : failures) {
    std::erase_if(failure.deaths, IsInterruption);
    failure.ranks.clear();
    for (const Death& death : failure.deaths) {
      if (death.rank.has_value()) failure.ranks.push_back(*death.rank);
    }
    std::sort(failure.ranks.begin(), failure.ranks.end());
  }
  std::erase_if(failures, [](const Failure& failure) { return failure.deaths.empty(); });
  std::sort(ranks.begin(), ranks.end());
  finding.order = CauseRank::kNothing;
  finding.finding = "The job was interrupted while it hung";
  finding.severity = Severity::kInfo;
  finding.certainty = Certainty::kLikely;
  finding.ranks = RankList(ranks);
  finding.help =
      "Somebody or something sent SIGINT, as Ctrl-C does: nothing is to be done about it.";
  job.Keep(std::move(finding));
}

// Where the others wait for one rank, and of one failure nothing says whose it is, it is likely
// that rank's.
void GiveRank(const JoinedJob& job, std::vector<Failure>& failures) {
  std::set<int32_t> waited_for;
  for (const HangCulpritRow& row : job.culprits) {
    const bool is_host = row.kind == HangKindName(HangKind::kNeverIssued) ||
                         row.kind == HangKindName(HangKind::kNoDump);
    if (row.primary) {
      waited_for.insert(is_host ? static_cast<int32_t>(row.rank) : -1);
    }
  }
  const auto is_nameless = [](const Failure& failure) {
    const Ending ending = failure.deaths.front().ending;
    return failure.ranks.empty() &&
           (ending == Ending::kException || ending == Ending::kOutOfMemory);
  };
  // What only says that communication failed any rank that waits may have raised.
  const auto is_alone = [](const Failure& failure) {
    const Death& death = failure.deaths.front();
    return failure.deaths.size() == 1 && death.status == nullptr && death.statuses == 0 &&
           death.outlived == nullptr && !Contains(death.event->text, "torch.distributed.Dist");
  };
  const bool is_known = std::any_of(failures.begin(), failures.end(), [&](const Failure& failure) {
    return std::any_of(failure.ranks.begin(), failure.ranks.end(),
                       [&](int32_t rank) { return waited_for.contains(rank); });
  });
  const auto found = std::find_if(failures.begin(), failures.end(), is_nameless);
  if (waited_for.size() != 1 || *waited_for.begin() < 0 || is_known ||
      std::count_if(failures.begin(), failures.end(), is_nameless) != 1 || !is_alone(*found)) {
    return;
  }
  Death& death = found->deaths.front();
  death.rank = *waited_for.begin();
  death.is_rank_concluded = true;
  death.is_certain = false;
  found->ranks = {*death.rank};
}

// What nothing shows of a failure that may be why others wait, or follow from that.
std::string WhatIsUnknown(const JoinedJob& job, const Failure& failure) {
  const bool is_later = std::any_of(failure.deaths.begin(), failure.deaths.end(),
                                    [&](const Death& death) { return IsLater(job, death); });
  if (is_later && !failure.ranks.empty()) {
    return " Others waited before that, for other ranks: it may follow from the hang.";
  }
  return fmt::format(" Nothing shows {}{}{}: it may be why they wait, or follow from it.",
                     failure.ranks.empty() ? "of which rank it is" : "",
                     failure.ranks.empty() && !is_later ? ", or " : "",
                     is_later ? "" : "whether it came before the others began to wait");
}

std::string EvidenceOf(const JoinedJob& job, const Failure& failure) {
  const Death& first = failure.deaths.front();
  const JobEvent& event = *first.event;
  std::string text = event.out_of_memory.has_value() ? AmountsOf(*event.out_of_memory) : event.text;
  if (!event.cause.empty()) {
    text = fmt::format("{}, caused by {}", WithoutStop(text), WithoutStop(event.cause));
  }
  if (first.ending == Ending::kHostMemory && event.kind == LogKind::kExit) {
    text += ", and the kernel or the scheduler reports processes killed for lack of host memory";
  } else if (first.exit_code.has_value() && event.kind != LogKind::kExit) {
    text += first.exit_code < 0 ? fmt::format(" (signal {})", -*first.exit_code)
                                : fmt::format(" (exit code {})", *first.exit_code);
  }
  if (first.unix_ns != 0) {
    text += fmt::format(" {} {}", first.is_time_least ? "after" : "at", ClockTime(first.unix_ns));
  }
  if (!first.rank.has_value() && !event.host.empty()) {
    text += fmt::format(", on {}", WithoutSecrets(event.host));
  }
  if (failure.deaths.size() > 1) {
    text += fmt::format(", the same on {}",
                        Times(failure.deaths.size() - 1, "other rank", "other ranks"));
  }
  text = fmt::format("{}: {}", job.PlaceOf(event), WithStop(text));
  if (first.is_rank_concluded) {
    text += fmt::format(" Nothing says whose it is; rank {} is the one for which the others wait.",
                        *first.rank);
  }
  if (first.status != nullptr) {
    text += fmt::format(" The launcher names rank {} as the first that ended, with {}.",
                        first.status->rank.value_or(0), first.status->text);
  } else if (first.statuses > 0) {
    text +=
        fmt::format(" {} with an exit code.", Times(first.statuses, "rank ended", "ranks ended"));
  }
  if (event.writers_after < event.writers_before) {
    text += fmt::format(
        " Before it each step was in the log {} times, afterwards {}: one process did not go on.",
        event.writers_before,
        event.writers_after == 1 ? "once" : fmt::format("{} times", event.writers_after));
  }
  if (first.outlived == &event && event.goes_on_to > 0) {
    text += " The log goes on after it, and nothing else says why a process failed.";
  } else if (first.outlived != nullptr && first.outlived != &event) {
    text += fmt::format(" Earlier its log has {} ({}), after which it went on.",
                        first.outlived->text, job.PlaceOf(*first.outlived));
  }
  return text;
}

JobFinding FindingOf(const JoinedJob& job, const ReportedFailure& reported) {
  const Failure& failure = reported.failure;
  const Death& first = failure.deaths.front();
  const EndingTexts texts = TextsOf(first.ending);
  JobFinding finding;
  finding.order = !reported.is_cause                     ? CauseRank::kHang
                  : first.ending == Ending::kOutOfMemory ? CauseRank::kOutOfMemory
                                                         : CauseRank::kDeath;
  finding.finding =
      IsOwnLimit(*first.event) ? "Out of memory: the process's own limit" : texts.finding;
  finding.severity = reported.is_cause ? Severity::kError : Severity::kWarning;
  const bool is_certain = std::all_of(failure.deaths.begin(), failure.deaths.end(),
                                      [](const Death& death) { return death.is_certain; });
  finding.certainty = is_certain && reported.is_cause ? Certainty::kCertain : Certainty::kLikely;
  finding.ranks = RankList(failure.ranks);
  finding.evidence = EvidenceOf(job, failure);
  finding.where = first.event->program_line;
  const bool has_all = failure.ranks.size() > 1 && failure.ranks == job.known_ranks;
  finding.help = has_all ? HelpForAll(first) : HelpOf(first);
  if (!reported.is_cause) {
    finding.evidence += WhatIsUnknown(job, failure);
  }
  return finding;
}

// "the failure of rank 3", "the failure in job.log:12".
std::string FailureWords(const JoinedJob& job, const Failure& failure) {
  const Death& first = failure.deaths.front();
  return first.rank.has_value() ? fmt::format("the failure of rank {}", *first.rank)
                                : fmt::format("the failure in {}", job.PlaceOf(*first.event));
}

std::string WhyLater(const JoinedJob& job, const FailureOrder& order, const Failure& first) {
  switch (order.basis) {
    case OrderBasis::kTimes:
      return fmt::format("It came {} after {}", SecondsApart(order.apart_ns),
                         FailureWords(job, first));
    case OrderBasis::kLauncher:
      return fmt::format("The launcher names {} as the first", FailureWords(job, first));
    default:
      return fmt::format("It is after {} in the same log", FailureWords(job, first));
  }
}

// Failures that are shown to be later than the first may follow from it. Lack of memory is a
// cause of its own. Where nothing shows the order, the finding about the first says so.
void PutInOrder(JoinedJob& job) {
  const auto first =
      std::find_if(job.failures.begin(), job.failures.end(),
                   [](const ReportedFailure& reported) { return reported.is_cause; });
  if (first == job.failures.end()) {
    return;
  }
  std::vector<std::string> unordered;
  bool is_earliest = false;
  for (ReportedFailure& reported : job.failures) {
    if (&reported == &*first || !reported.is_cause) {
      continue;
    }
    const FailureOrder order = OrderOf(first->failure, reported.failure);
    const bool is_shown = order.basis != OrderBasis::kNone && order.basis != OrderBasis::kNear &&
                          order.is_first_earlier;
    if (!is_shown) {
      unordered.push_back(FailureWords(job, reported.failure));
      continue;
    }
    is_earliest = true;
    const Ending ending = reported.failure.deaths.front().ending;
    const bool may_follow = ending != Ending::kOutOfMemory && ending != Ending::kHostMemory;
    reported.finding.evidence += fmt::format(
        " {}{}.", WhyLater(job, order, first->failure),
        may_follow ? ": it may follow from that" : ", but lack of memory is a cause of its own");
    if (may_follow) {
      reported.finding.order = CauseRank::kHang;
      reported.finding.severity = Severity::kWarning;
      reported.finding.certainty = Certainty::kLikely;
    }
  }
  if (!unordered.empty()) {
    constexpr size_t kMostNamed = 3;
    std::string names = unordered.front();
    for (size_t i = 1; i < unordered.size() && i < kMostNamed; ++i) {
      names += (i + 1 == unordered.size() ? " or " : ", ") + unordered[i];
    }
    names += unordered.size() > kMostNamed
                 ? fmt::format(" or {} more", unordered.size() - kMostNamed)
                 : "";
    first->finding.evidence += fmt::format(" Nothing shows whether it or {} came first.", names);
  }
  first->finding.is_first = is_earliest && unordered.empty();
}

// Several processes write to a log that does not say which of them wrote a line.
void AddUnclear(JoinedJob& job, const JobEvent& event) {
  JobFinding finding;
  finding.order = CauseRank::kHang;
  finding.finding = "A process failed while others went on, or went on itself";
  finding.severity = Severity::kWarning;
  finding.certainty = Certainty::kCannotTell;
  finding.evidence = fmt::format(
      "{}: {}; the log goes on with work, to line {}. Several processes write to it, and it does "
      "not say which of them wrote a line.",
      job.PlaceOf(event), event.text, event.goes_on_to);
  finding.where = event.program_line;
  finding.help =
      "Let the launcher mark each line (`torchrun --tee 3`, `srun --label`), or write a log for "
      "each rank (`torchrun --log-dir --redirects 3`): then it shows whether that one went on.";
  job.is_unclear = true;
  job.Keep(std::move(finding));
}

}  // namespace

void ReportFailures(JoinedJob& job) {
  std::vector<Failure> failures = FindFailures(job.events);
  TakeInterruptions(job, failures);
  GiveRank(job, failures);
  for (Failure& failure : failures) {
    job.failures.push_back({.failure = std::move(failure)});
    ReportedFailure& reported = job.failures.back();
    reported.is_cause = IsCause(job, reported.failure);
    reported.finding = FindingOf(job, reported);
  }
  PutInOrder(job);
}

void AddConsequences(JoinedJob& job) {
  std::vector<const JobEvent*> reports;
  for (const JobEvent& event : job.events) {
    const bool is_told = event.rank.has_value() && job.CauseOf(*event.rank) != nullptr;
    if (EndsProcess(event) && event.is_consequence && !event.is_no_end && !is_told) {
      reports.push_back(&event);
    }
  }
  if (reports.empty()) {
    return;
  }
  const bool is_explained = job.HasCause() || Cancellation(job) != nullptr;
  // A launcher that got the signal itself: it ended all ranks, and none of them failed.
  const bool is_from_outside =
      !is_explained && std::all_of(reports.begin(), reports.end(), [](const JobEvent* event) {
        return Contains(event->text, "ot signal: 15") || event->exit_code == -15;
      });
  JobFinding finding;
  finding.order = is_explained ? CauseRank::kNothing : CauseRank::kHang;
  finding.finding = is_explained      ? "Ranks ended because others failed or did not come"
                    : is_from_outside ? "The job was ended from outside"
                                      : "Ranks report that another one failed or did not come";
  finding.severity = is_explained ? Severity::kInfo : Severity::kWarning;
  finding.certainty = is_explained ? Certainty::kLikely : Certainty::kCannotTell;
  finding.ranks = RankList(RanksOfEvents(reports));
  finding.evidence =
      fmt::format("{}: {}", job.PlaceOf(*reports.front()), WithStop(reports.front()->text));
  finding.help = is_explained ? "Nothing is to be done about these."
                 : is_from_outside
                     ? "Something sent SIGTERM: the scheduler, a time limit, the end of a "
                       "reservation, or a person; its log says which."
                     : "Look for the log, the error file and the dump of the rank that is not "
                       "among these.";
  job.Keep(std::move(finding));
}

// Exceptions after which the program went on are no deaths.
void AddOutlived(JoinedJob& job) {
  std::vector<const JobEvent*> outlived;
  for (const JobEvent& event : job.events) {
    const bool is_used =
        std::any_of(job.failures.begin(), job.failures.end(), [&](const ReportedFailure& reported) {
          return std::any_of(reported.failure.deaths.begin(), reported.failure.deaths.end(),
                             [&](const Death& death) { return death.outlived == &event; });
        });
    if (event.is_no_end && event.goes_on_to > 0 && !is_used && !job.used.contains(&event)) {
      outlived.push_back(&event);
    }
  }
  if (outlived.empty()) {
    return;
  }
  const auto unclear = std::find_if(outlived.begin(), outlived.end(),
                                    [](const JobEvent* event) { return event->is_end_unclear; });
  if (unclear != outlived.end() && !job.HasCause()) {
    AddUnclear(job, **unclear);
    outlived.erase(unclear);
  }
  if (outlived.empty()) {
    return;
  }
  const JobEvent& last = *outlived.back();
  JobFinding finding;
  finding.order = CauseRank::kNothing;
  finding.finding = "Failures after which the program went on";
  finding.severity = Severity::kInfo;
  finding.certainty = Certainty::kLikely;
  finding.ranks = RankList(RanksOfEvents(outlived));
  finding.evidence = fmt::format("{}: {}; the log goes on with work, to line {}", job.PlaceOf(last),
                                 last.text, last.goes_on_to);
  finding.evidence +=
      outlived.size() == 1 ? "." : fmt::format("; {} more before that.", outlived.size() - 1);
  finding.where = last.program_line;
  finding.help = "They ended nothing: look at them if results or the speed are odd.";
  job.Keep(std::move(finding));
}

}  // namespace borescope::internal
