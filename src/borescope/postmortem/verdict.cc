#include "borescope/postmortem/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/ending_texts.h"
#include "borescope/postmortem/failures.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/logs/xid_catalog.h"
#include "borescope/postmortem/watchdog_join.h"
#include "borescope/postmortem/watchdogs.h"

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

class Joiner {
 public:
  Joiner(const LogPart& logs, std::vector<SourceFindings>& sources)
      : events_(logs.events), sources_(sources) {
    LearnNames();
    ReadCulprits();
  }

  SourceFindings Join() {
    for (Failure& failure : FindFailures(events_)) {
      failures_.push_back({.failure = std::move(failure)});
      ReportedFailure& reported = failures_.back();
      reported.is_cause = IsCause(reported.failure);
      reported.finding = FindingOf(reported);
    }
    PutInOrder();
    Explain();
    JoinOutsideEnd();
    AddStacks();
    AddXids();
    AddTimeouts();
    AddStrays();
    AddBlamed();
    AddConsequences();
    AddOutlived();
    AddSystem();
    WriteCulprits();
    return Result();
  }

 private:
  // ---- What the other sources say.

  void ReadCulprits() {
    for (size_t s = 0; s < sources_.size(); ++s) {
      for (Table& table : sources_[s].tables) {
        if (table.name == HangCulpritRow::kTable.name) {
          culprit_table_ = &table;
          culprits_ = ReadRows<HangCulpritRow>(table);
        }
      }
      for (size_t f = 0; f < sources_[s].findings.size(); ++f) {
        const JobFinding& finding = sources_[s].findings[f];
        if (finding.order == CauseRank::kHang && finding.severity == Severity::kError) {
          hangs_.push_back({s, f});
        } else if (finding.order == CauseRank::kOutOfMemory) {
          snapshots_.push_back({s, f});
        }
      }
    }
    for (const HangCulpritRow& row : culprits_) {
      const int64_t since = row.since_unix_ns.value_or(0);
      if (row.primary && since > 0 && (since_ns_ == 0 || since < since_ns_)) {
        since_ns_ = since;
      }
    }
  }

  JobFinding& At(Place place) { return sources_[place.source].findings[place.finding]; }

  // Whether a failure of the rank explains what the hang analysis says about it.
  bool IsExplainable(int32_t rank) const {
    return std::any_of(culprits_.begin(), culprits_.end(), [rank](const HangCulpritRow& row) {
      return row.rank == rank && (row.kind == HangKindName(HangKind::kNoDump) ||
                                  row.kind == HangKindName(HangKind::kNeverIssued) ||
                                  row.kind == HangKindName(HangKind::kDeviceStuck) ||
                                  row.kind == HangKindName(HangKind::kNotStarted));
    });
  }

  // ---- Ranks that failed.

  // Of a rank for which the others wait, or not later than they began to wait, or without a hang.
  bool IsCause(const Failure& failure) const {
    const bool is_of_culprit = std::any_of(failure.ranks.begin(), failure.ranks.end(),
                                           [&](int32_t rank) { return IsExplainable(rank); });
    const bool is_earlier =
        std::any_of(failure.deaths.begin(), failure.deaths.end(), [&](const Death& death) {
          return death.unix_ns != 0 && since_ns_ != 0 && !death.is_time_least &&
                 death.unix_ns <= since_ns_ + kSameMomentNs;
        });
    return hangs_.empty() || is_of_culprit || is_earlier;
  }

  JobFinding FindingOf(const ReportedFailure& reported) const {
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
    finding.evidence = EvidenceOf(failure);
    finding.where = first.event->program_line;
    finding.help = HelpOf(first);
    if (!reported.is_cause) {
      finding.evidence +=
          " Others waited before that, for other ranks: it may follow from the hang.";
    }
    return finding;
  }

  std::string EvidenceOf(const Failure& failure) const {
    const Death& first = failure.deaths.front();
    const JobEvent& event = *first.event;
    std::string text =
        event.out_of_memory.has_value() ? AmountsOf(*event.out_of_memory) : event.text;
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
    text = fmt::format("{}: {}", PlaceOf(event), WithStop(text));
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
                          first.outlived->text, PlaceOf(*first.outlived));
    }
    return text;
  }

  // "the failure of rank 3", "the failure in job.log:12".
  std::string FailureWords(const Failure& failure) const {
    const Death& first = failure.deaths.front();
    return first.rank.has_value() ? fmt::format("the failure of rank {}", *first.rank)
                                  : fmt::format("the failure in {}", PlaceOf(*first.event));
  }

  std::string WhyLater(const FailureOrder& order, const Failure& first) const {
    switch (order.basis) {
      case OrderBasis::kTimes:
        return fmt::format("It came {} after {}", SecondsApart(order.apart_ns),
                           FailureWords(first));
      case OrderBasis::kLauncher:
        return fmt::format("The launcher names {} as the first", FailureWords(first));
      default:
        return fmt::format("It is after {} in the same log", FailureWords(first));
    }
  }

  // Failures that are shown to be later than the first may follow from it. Lack of memory is a
  // cause of its own. Where nothing shows the order, the finding about the first says so.
  void PutInOrder() {
    const auto first =
        std::find_if(failures_.begin(), failures_.end(),
                     [](const ReportedFailure& reported) { return reported.is_cause; });
    if (first == failures_.end()) {
      return;
    }
    std::vector<std::string> unordered;
    bool is_earliest = false;
    for (ReportedFailure& reported : failures_) {
      if (&reported == &*first || !reported.is_cause) {
        continue;
      }
      const FailureOrder order = OrderOf(first->failure, reported.failure);
      const bool is_shown = order.basis != OrderBasis::kNone && order.basis != OrderBasis::kNear &&
                            order.is_first_earlier;
      if (!is_shown) {
        unordered.push_back(FailureWords(reported.failure));
        continue;
      }
      is_earliest = true;
      const Ending ending = reported.failure.deaths.front().ending;
      const bool may_follow = ending != Ending::kOutOfMemory && ending != Ending::kHostMemory;
      reported.finding.evidence += fmt::format(
          " {}{}.", WhyLater(order, first->failure),
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

  // "rank3.log:120"; of files of which several have one name with their folder: "3/error.json",
  // "3/stderr.log:10".
  std::string PlaceOf(const JobEvent& event) const {
    const std::string& path = event.file;
    const size_t name = path.rfind('/');
    std::string place = path.substr(name == std::string::npos ? 0 : name + 1);
    const auto alike = paths_of_.find(place);
    const bool is_apart = event.line > 0 && (alike == paths_of_.end() || alike->second.size() < 2);
    if (!is_apart && name != std::string::npos && name != 0) {
      const size_t folder = path.rfind('/', name - 1);
      place = path.substr(folder == std::string::npos ? 0 : folder + 1);
    }
    return event.line > 0 ? fmt::format("{}:{}", place, event.line) : place;
  }

  // Which files have one name; two of each are enough to know.
  void LearnNames() {
    const std::string* last = nullptr;
    for (const JobEvent& event : events_) {
      if (last != nullptr && *last == event.file) {
        continue;
      }
      last = &event.file;
      std::set<std::string>& paths = paths_of_[event.file.substr(event.file.rfind('/') + 1)];
      if (paths.size() < 2) paths.insert(event.file);
    }
  }

  // ---- What explains what.

  // The failure that is a cause and has this rank; of several the first.
  ReportedFailure* CauseOf(int32_t rank) {
    const auto found =
        std::find_if(failures_.begin(), failures_.end(), [&](const ReportedFailure& f) {
          return f.is_cause &&
                 std::binary_search(f.failure.ranks.begin(), f.failure.ranks.end(), rank);
        });
    return found == failures_.end() ? nullptr : &*found;
  }

  void Explain() {
    JoinSnapshots();
    for (const Place place : hangs_) {
      JobFinding& hang = At(place);
      const std::vector<int32_t> ranks = ReadRankList(hang.ranks);
      std::vector<int32_t> failed;
      std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(failed),
                   [&](int32_t rank) { return CauseOf(rank) != nullptr && IsExplainable(rank); });
      if (failed.empty()) {
        continue;
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
      JobFinding& cause = TargetOf(*std::find_if(failures_.begin(), failures_.end(), is_of_these));
      cause.evidence += " " + hang.evidence;
      if (!hang.where.empty() && !hang.where.starts_with("not recorded")) {
        cause.where += (cause.where.empty() ? "" : "; ") + hang.where;
      }
      gone_.insert({place.source, place.finding});
    }
    std::erase_if(hangs_,
                  [&](Place place) { return gone_.contains({place.source, place.finding}); });
  }

  // Where the evidence of a failure belongs: to the finding of a snapshot of the same rank, if
  // there is one.
  JobFinding& TargetOf(ReportedFailure& failure) {
    const auto found = snapshot_of_.find(&failure);
    return found == snapshot_of_.end() ? failure.finding : At(found->second);
  }

  void JoinSnapshots() {
    for (ReportedFailure& failure : failures_) {
      const std::vector<int32_t>& failed = failure.failure.ranks;
      if (failure.failure.deaths.front().ending != Ending::kOutOfMemory) {
        continue;
      }
      const auto same = std::find_if(snapshots_.begin(), snapshots_.end(), [&](Place place) {
        const std::vector<int32_t> ranks = ReadRankList(At(place).ranks);
        return ranks.empty() || failed.empty() ||
               std::find_first_of(ranks.begin(), ranks.end(), failed.begin(), failed.end()) !=
                   ranks.end();
      });
      if (same != snapshots_.end()) {
        At(*same).evidence += " " + failure.finding.evidence;
        At(*same).is_first = At(*same).is_first || failure.finding.is_first;
        snapshot_of_[&failure] = *same;
      }
    }
  }

  // ---- Ends from outside, which would have come to any job.

  // A job arrives at its time limit because it hangs, and somebody cancels one that does; a node
  // that fails and nodes that another job takes have other reasons.
  static bool IsFromOutside(const JobEvent& event) {
    return event.text == kNodeFailure || event.text == kPreemption;
  }

  // The kinds of what the hang analysis says about ranks.
  bool AreAllOfKind(const std::vector<int32_t>& ranks, HangKind kind) const {
    return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), [&](int32_t rank) {
      return std::any_of(culprits_.begin(), culprits_.end(), [&](const HangCulpritRow& row) {
        return row.rank == rank && row.kind == HangKindName(kind);
      });
    });
  }

  // Whether nothing shows that the job hung before it was ended.
  bool IsAssumed(const std::vector<int32_t>& ranks) const {
    return OfKind(LogKind::kTimeout).empty() &&
           std::none_of(culprits_.begin(), culprits_.end(), [&](const HangCulpritRow& row) {
             return std::binary_search(ranks.begin(), ranks.end(),
                                       static_cast<int32_t>(row.rank)) &&
                    row.hang == HangShownName(HangShown::kShown);
           });
  }

  // Tasks that Slurm reports as killed; each is a rank where srun started the ranks.
  std::vector<int32_t> KilledTasks() const {
    std::vector<int32_t> tasks;
    for (const JobEvent* const event : OfKind(LogKind::kTaskFailed)) {
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

  // A node that failed explains that its ranks left no dump. Where nothing shows that the job hung,
  // an end from outside is the cause, and that ranks waited then need not mean anything.
  void JoinOutsideEnd() {
    const JobEvent* const end = Cancellation();
    const bool has_failure =
        std::any_of(failures_.begin(), failures_.end(),
                    [](const ReportedFailure& reported) { return reported.is_cause; });
    if (end == nullptr || !IsFromOutside(*end) || has_failure) {
      return;
    }
    const std::vector<int32_t> killed = KilledTasks();
    std::erase_if(hangs_, [&](Place place) {
      JobFinding& hang = At(place);
      const std::vector<int32_t> ranks = ReadRankList(hang.ranks);
      const bool is_assumed = IsAssumed(ranks);
      const bool is_killed =
          std::includes(killed.begin(), killed.end(), ranks.begin(), ranks.end());
      const bool is_explained = end->text == kNodeFailure &&
                                AreAllOfKind(ranks, HangKind::kNoDump) &&
                                (is_killed || is_assumed || killed.empty());
      if (is_explained) {
        if (is_killed) {
          end_ranks_.insert(end_ranks_.end(), ranks.begin(), ranks.end());
        }
        std::string said = hang.evidence;
        if (const size_t at = said.find(kAssumedHang); at != std::string::npos) {
          said.erase(at, kAssumedHang.size());
        }
        end_evidence_ += " " + said;
        if (!is_killed) {
          end_evidence_ += " It may follow from the failure of the node.";
        }
        gone_.insert({place.source, place.finding});
      } else if (is_assumed) {
        const bool is_normal = AreAllOfKind(ranks, HangKind::kNotFinished);
        hang.severity = is_normal ? Severity::kInfo : Severity::kWarning;
        hang.evidence +=
            " The job was ended from outside: ranks that wait for a moment look the same.";
      } else {
        return false;
      }
      ended_sources_.insert(place.source);
      end_ = end;
      return true;
    });
  }

  // The finding that is about the rank: its failure, or the hang.
  JobFinding* About(int32_t rank) {
    if (ReportedFailure* const failure = CauseOf(rank)) {
      return &TargetOf(*failure);
    }
    for (const Place place : hangs_) {
      const std::vector<int32_t> ranks = ReadRankList(At(place).ranks);
      if (std::binary_search(ranks.begin(), ranks.end(), rank)) {
        return &At(place);
      }
    }
    return nullptr;
  }

  void AddStacks() {
    for (const JobEvent& event : events_) {
      if (event.kind != LogKind::kStack || !event.rank.has_value() || event.program_line.empty()) {
        continue;
      }
      for (HangCulpritRow& row : culprits_) {
        if (row.rank == *event.rank) {
          row.stack_line = event.program_line;
        }
      }
      if (JobFinding* const about = About(*event.rank)) {
        if (about->where.starts_with("not recorded")) {
          about->where.clear();
        }
        about->where += fmt::format("{}rank {} is at {}", about->where.empty() ? "" : "; ",
                                    *event.rank, event.program_line);
      }
    }
  }

  // The failure whose text is that of a fault of the hardware, if there is one such.
  JobFinding* HardwareFailure() {
    ReportedFailure* found = nullptr;
    for (ReportedFailure& reported : failures_) {
      const JobEvent& event = *reported.failure.deaths.front().event;
      if (reported.is_cause && (IsHardwareText(event.text) || IsHardwareText(event.cause))) {
        if (found != nullptr) {
          return nullptr;
        }
        found = &reported;
      }
    }
    return found == nullptr ? nullptr : &TargetOf(*found);
  }

  // Errors of one GPU that nothing maps to a rank belong to the only failure of that kind.
  bool AddXidsToFailure() {
    std::set<std::string> devices;
    for (const JobEvent& event : events_) {
      if (event.kind == LogKind::kXid && !event.rank.has_value() && !event.is_consequence &&
          XidClassOf(*event.xid) == XidClass::kHardware) {
        devices.insert(event.device);
      }
    }
    JobFinding* const failure = devices.size() == 1 ? HardwareFailure() : nullptr;
    for (const JobEvent& event : events_) {
      if (failure != nullptr && event.kind == LogKind::kXid && event.device == *devices.begin() &&
          !event.is_consequence) {
        failure->evidence += fmt::format(" {}: {}.", PlaceOf(event), event.text);
      }
    }
    if (failure != nullptr) xid_device_ = *devices.begin();
    return failure != nullptr;
  }

  void AddXids() {
    std::map<int, std::vector<const JobEvent*>> apart;
    constexpr int kRecovery = 154;  // what to do about an error, which is another line
    const bool is_joined = AddXidsToFailure();
    for (const JobEvent& event : events_) {
      if (event.kind != LogKind::kXid || event.is_consequence ||
          (is_joined && !event.rank.has_value() && event.device == xid_device_)) {
        continue;
      }
      JobFinding* const about = event.rank.has_value() ? About(*event.rank) : nullptr;
      if (about == nullptr) {
        apart[*event.xid].push_back(&event);
        continue;
      }
      about->evidence +=
          fmt::format(" The kernel reports {}, of rank {}.", event.text, *event.rank);
      about->help = fmt::format("{} {}", XidHelp(XidClassOf(*event.xid)), about->help);
    }
    const auto recovery = apart.find(kRecovery);
    std::vector<const JobEvent*> advice;
    if (recovery != apart.end() && apart.size() > 1) {
      advice = std::move(recovery->second);
      apart.erase(recovery);
    }
    for (const auto& [xid, events] : apart) {
      // An advice without its error comes after one of the hardware or the driver.
      const XidClass of = xid == kRecovery ? XidClass::kHardware : XidClassOf(xid);
      JobFinding finding;
      finding.order = CauseRank::kSystem;
      finding.finding = "The kernel reports errors of a GPU";
      finding.severity = of == XidClass::kInformation ? Severity::kInfo
                         : of == XidClass::kUnknown   ? Severity::kWarning
                                                      : Severity::kError;
      finding.certainty = Certainty::kCertain;
      std::vector<int32_t> ranks = RanksOf(events);
      finding.ranks = RankList(ranks);
      finding.evidence = fmt::format("{}: {}", PlaceOf(*events.front()), events.front()->text);
      finding.evidence += events.size() == 1
                              ? "."
                              : fmt::format(", and {}.", Times(events.size() - 1, "more", "more"));
      const auto about = std::find_if(advice.begin(), advice.end(), [&](const JobEvent* event) {
        return event->device == events.front()->device;
      });
      if (about != advice.end()) {
        finding.evidence += fmt::format(" {}: {}.", PlaceOf(**about), (*about)->text);
      }
      finding.help = XidHelp(of);
      Keep(std::move(finding));
    }
  }

  static std::vector<int32_t> RanksOf(const std::vector<const JobEvent*>& events) {
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

  std::vector<const JobEvent*> OfKind(LogKind kind) const {
    std::vector<const JobEvent*> found;
    for (const JobEvent& event : events_) {
      if (event.kind == kind) {
        found.push_back(&event);
      }
    }
    return found;
  }

  bool HasCause() const {
    return !hangs_.empty() || end_ != nullptr || has_watchdog_cause_ ||
           std::any_of(failures_.begin(), failures_.end(),
                       [](const ReportedFailure& failure) { return failure.is_cause; });
  }

  // The longest wait that a watchdog reports.
  static const JobEvent& LongestOf(const std::vector<const JobEvent*>& timeouts) {
    return **std::max_element(timeouts.begin(), timeouts.end(),
                              [](const JobEvent* a, const JobEvent* b) {
                                const auto waited = [](const JobEvent* event) {
                                  return event->timeout.has_value() ? event->timeout->waited_ms : 0;
                                };
                                return waited(a) < waited(b);
                              });
  }

  void AddTimeouts() {
    const std::vector<const JobEvent*> timeouts = OfKind(LogKind::kTimeout);
    const std::optional<WatchdogCulprits> culprits = CompareWatchdogs(events_);
    if (timeouts.empty()) {
      if (culprits.has_value()) AddWatchdogCulprits(*culprits, "", std::nullopt);
      return;
    }
    const std::vector<int32_t> ranks = RanksOf(timeouts);
    const JobEvent& first = *timeouts.front();
    const std::string watchdogs =
        ranks.size() == 1 ? fmt::format("The watchdog of {}", RankWords(ranks))
        : ranks.empty()   ? "A watchdog"
                          : fmt::format("The watchdogs of {}", RankWords(ranks));
    const bool are_alike =
        std::all_of(timeouts.begin(), timeouts.end(),
                    [&](const JobEvent* event) { return event->text == first.text; });
    const std::string said =
        are_alike ? fmt::format("{} reported that {} ({}).", watchdogs, first.text, PlaceOf(first))
                  : fmt::format("{} reported that operations did not end, first that {} ({}).",
                                watchdogs, first.text, PlaceOf(first));
    const JobEvent& longest = LongestOf(timeouts);
    const std::optional<int64_t> waited_ms =
        longest.timeout.has_value() ? std::optional(longest.timeout->waited_ms) : std::nullopt;
    if (culprits.has_value()) {
      AddWatchdogCulprits(*culprits, said, waited_ms);
      return;
    }
    if (HasCause()) {
      Confirm(said);
      return;
    }
    JobFinding finding;
    finding.order = CauseRank::kHang;
    finding.severity = Severity::kError;
    SetWait(finding, waited_ms);
    finding.finding = "A watchdog gave up, and the logs do not say who was missing";
    finding.certainty = Certainty::kCannotTell;
    finding.ranks = RankList(ranks);
    std::vector<int32_t> silent = Silent(ranks);
    finding.where = StacksOf(silent);
    finding.evidence = said + DifferencesOf(timeouts) + ProgressOf(silent);
    for (const JobEvent* const event : OfKind(LogKind::kProgress)) {
      std::erase(silent, event->rank);
    }
    if (!silent.empty()) {
      finding.evidence += fmt::format(" Nothing was reported by {}.", RankWords(silent));
    }
    finding.help =
        "Dumps of the flight recorder say who was missing: TORCH_NCCL_DUMP_ON_TIMEOUT=1, "
        "TORCH_FR_BUFFER_SIZE=2000, and the files of TORCH_FR_DUMP_TEMP_FILE of all ranks.";
    is_unclear_ = true;
    Keep(std::move(finding));
  }

  static void SetWait(JobFinding& finding, std::optional<int64_t> waited_ms) {
    if (waited_ms.has_value()) {
      finding.value = static_cast<double>(*waited_ms) * 1e6;
      finding.unit = "ns";
    }
  }

  // Who was missing, as watchdogs and checks of PyTorch say.
  void AddWatchdogCulprits(const WatchdogCulprits& culprits, const std::string& said,
                           std::optional<int64_t> waited_ms) {
    if (HasCause()) {
      Confirm(culprits.evidence);
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
    finding.where = StacksOf(culprits.ranks);
    finding.help = culprits.help;
    has_watchdog_cause_ = true;
    is_unclear_ = is_unclear_ || culprits.certainty == Certainty::kCannotTell;
    Keep(std::move(finding));
  }

  // Operations that watchdogs name beside the first one.
  static std::string DifferencesOf(const std::vector<const JobEvent*>& timeouts) {
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
  std::string ProgressOf(const std::vector<int32_t>& ranks) const {
    constexpr size_t kMostNamed = 3;
    std::map<int32_t, const JobEvent*> newest;
    for (const JobEvent* const event : OfKind(LogKind::kProgress)) {
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

  // Ranks that an exception of another one names as those that did not come.
  void AddBlamed() {
    std::set<int32_t> blamed;
    const JobEvent* first = nullptr;
    for (const JobEvent& event : events_) {
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
    const std::string evidence = fmt::format("{}: {}.", PlaceOf(*first), first->text);
    JobFinding* about = nullptr;
    for (const int32_t rank : blamed) {
      about = about == nullptr ? About(rank) : about;
    }
    if (about != nullptr) {
      about->evidence += " " + evidence;
      return;
    }
    JobFinding finding;
    finding.order = CauseRank::kHang;
    finding.finding = "Ranks did not come to a barrier";
    finding.severity = HasCause() ? Severity::kWarning : Severity::kError;
    finding.certainty = Certainty::kLikely;
    const std::vector<int32_t> ranks(blamed.begin(), blamed.end());
    finding.ranks = RankList(ranks);
    finding.evidence = evidence;
    finding.where = StacksOf(ranks);
    finding.help =
        "Their hosts are stuck in Python (a lock, data loading, input or output), ended, or were "
        "merely slow: read their logs, or `py-spy dump --pid PID` on these ranks before the job "
        "is killed.";
    has_watchdog_cause_ = true;
    Keep(std::move(finding));
  }

  // Ranks of which logs speak, but whose watchdog did not report.
  std::vector<int32_t> Silent(const std::vector<int32_t>& reporting) const {
    std::vector<int32_t> silent;
    for (const JobEvent& event : events_) {
      if (event.rank.has_value() && event.kind != LogKind::kXid &&
          !std::binary_search(reporting.begin(), reporting.end(), *event.rank)) {
        silent.push_back(*event.rank);
      }
    }
    std::sort(silent.begin(), silent.end());
    silent.erase(std::unique(silent.begin(), silent.end()), silent.end());
    return silent;
  }

  // Where nothing else says anything, stacks of one moment may: most ranks are at one line, and
  // some do not.
  void AddStrays() {
    if (HasCause() || !findings_.empty()) {
      return;
    }
    std::map<int32_t, std::string_view> line_of;
    for (const JobEvent* const event : OfKind(LogKind::kStack)) {
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
    Keep(std::move(finding));
  }

  // Where these ranks are, as far as stacks say.
  std::string StacksOf(const std::vector<int32_t>& ranks) const {
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

  // A watchdog that gave up shows that it was a hang.
  void Confirm(const std::string& said) {
    bool is_told = false;
    const auto tell = [&](JobFinding& finding) {
      if (const size_t at = finding.evidence.find(kAssumedHang); at != std::string::npos) {
        finding.evidence.erase(at, kAssumedHang.size());
      }
      if (!is_told) {
        finding.evidence += " " + said;
      }
      is_told = true;
    };
    for (ReportedFailure& failure : failures_) {
      if (failure.is_cause) tell(TargetOf(failure));
    }
    for (const Place place : hangs_) {
      tell(At(place));
    }
    if (!is_told && end_ != nullptr) {
      end_evidence_ += " " + said;
    }
    for (HangCulpritRow& row : culprits_) {
      if (row.hang == HangShownName(HangShown::kAssumed)) {
        row.hang = HangShownName(HangShown::kShown);
      }
    }
  }

  void AddConsequences() {
    std::vector<const JobEvent*> reports;
    for (const JobEvent& event : events_) {
      const bool is_told = event.rank.has_value() && CauseOf(*event.rank) != nullptr;
      if (EndsProcess(event) && event.is_consequence && !event.is_no_end && !is_told) {
        reports.push_back(&event);
      }
    }
    if (reports.empty()) {
      return;
    }
    const bool is_explained = HasCause() || Cancellation() != nullptr;
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
    finding.ranks = RankList(RanksOf(reports));
    finding.evidence =
        fmt::format("{}: {}", PlaceOf(*reports.front()), WithStop(reports.front()->text));
    finding.help = is_explained ? "Nothing is to be done about these."
                   : is_from_outside
                       ? "Something sent SIGTERM: the scheduler, a time limit, the end of a "
                         "reservation, or a person; its log says which."
                       : "Look for the log, the error file and the dump of the rank that is not "
                         "among these.";
    Keep(std::move(finding));
  }

  // Exceptions after which the program went on are no deaths.
  void AddOutlived() {
    std::vector<const JobEvent*> outlived;
    for (const JobEvent& event : events_) {
      const bool is_used =
          std::any_of(failures_.begin(), failures_.end(), [&](const ReportedFailure& reported) {
            return std::any_of(reported.failure.deaths.begin(), reported.failure.deaths.end(),
                               [&](const Death& death) { return death.outlived == &event; });
          });
      if (event.is_no_end && event.goes_on_to > 0 && !is_used) {
        outlived.push_back(&event);
      }
    }
    if (outlived.empty()) {
      return;
    }
    const auto unclear = std::find_if(outlived.begin(), outlived.end(),
                                      [](const JobEvent* event) { return event->is_end_unclear; });
    if (unclear != outlived.end() && !HasCause()) {
      AddUnclear(**unclear);
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
    finding.ranks = RankList(RanksOf(outlived));
    finding.evidence = fmt::format("{}: {}; the log goes on with work, to line {}", PlaceOf(last),
                                   last.text, last.goes_on_to);
    finding.evidence +=
        outlived.size() == 1 ? "." : fmt::format("; {} more before that.", outlived.size() - 1);
    finding.where = last.program_line;
    finding.help = "They ended nothing: look at them if results or the speed are odd.";
    Keep(std::move(finding));
  }

  // Several processes write to a log that does not say which of them wrote a line.
  void AddUnclear(const JobEvent& event) {
    JobFinding finding;
    finding.order = CauseRank::kHang;
    finding.finding = "A process failed while others went on, or went on itself";
    finding.severity = Severity::kWarning;
    finding.certainty = Certainty::kCannotTell;
    finding.evidence = fmt::format(
        "{}: {}; the log goes on with work, to line {}. Several processes write to it, and it does "
        "not say which of them wrote a line.",
        PlaceOf(event), event.text, event.goes_on_to);
    finding.where = event.program_line;
    finding.help =
        "Let the launcher mark each line (`torchrun --tee 3`, `srun --label`), or write a log for "
        "each rank (`torchrun --log-dir --redirects 3`): then it shows whether that one went on.";
    is_unclear_ = true;
    Keep(std::move(finding));
  }

  // ---- Lines of NCCL, the kernel and the scheduler.

  void AddSystem() {
    const bool is_explained = HasCause();
    AddMachine();
    AddLines(LogKind::kNcclWarning, "NCCL warned", Severity::kWarning,
             "NCCL names the link or the call: look at the network devices of that host, and test "
             "the links (nccl-tests).");
    AddCancelled(is_explained);
    AddKilled(is_explained);
    AddLines(LogKind::kTaskFailed, "Slurm reports failed tasks",
             is_explained ? Severity::kInfo : Severity::kError,
             "Look at the logs and error files of these tasks; with --kill-on-bad-exit the others "
             "end at once.");
  }

  void AddMachine() {
    std::map<std::string_view, std::vector<const JobEvent*>> by_finding;
    for (const JobEvent* const event : OfKind(LogKind::kMachine)) {
      by_finding[TextsOf(event->fault).finding].push_back(event);
    }
    for (auto& [words, events] : by_finding) {
      // Of an NVSwitch a fatal error says more.
      std::stable_sort(events.begin(), events.end(), [](const JobEvent* a, const JobEvent* b) {
        return TextsOf(a->fault).is_error > TextsOf(b->fault).is_error;
      });
      const MachineTexts texts = TextsOf(events.front()->fault);
      JobFinding finding;
      finding.order = CauseRank::kSystem;
      finding.finding = words;
      finding.severity = texts.is_error ? Severity::kError : Severity::kWarning;
      finding.certainty = Certainty::kCertain;
      finding.evidence = fmt::format("{}: {}", PlaceOf(*events.front()), events.front()->text);
      finding.evidence +=
          events.size() == 1 ? "." : fmt::format(", and {} more.", events.size() - 1);
      finding.help = texts.help;
      Keep(std::move(finding));
    }
  }

  void AddLines(LogKind kind, std::string_view words, Severity severity, std::string_view help) {
    std::vector<const JobEvent*> lines = OfKind(kind);
    std::erase_if(lines, [](const JobEvent* event) {
      return event->is_consequence || IsKillOfTask(*event) || IsCrashOfTask(*event);
    });
    if (lines.empty()) {
      return;
    }
    JobFinding finding;
    finding.order = CauseRank::kSystem;
    finding.finding = words;
    finding.severity = severity;
    finding.certainty = Certainty::kCertain;
    finding.ranks = RankList(RanksOf(lines));
    finding.evidence = fmt::format("{}: {}", PlaceOf(*lines.front()), lines.front()->text);
    finding.evidence += lines.size() == 1 ? "." : fmt::format(", and {} more.", lines.size() - 1);
    finding.help = help;
    Keep(std::move(finding));
  }

  // A task that Slurm reports as out of memory was killed for lack of host memory.
  static bool IsKillOfTask(const JobEvent& event) {
    return event.kind == LogKind::kTaskFailed && event.text.ends_with("Out Of Memory");
  }

  void AddKilled(bool is_explained) {
    const bool is_told =
        std::any_of(failures_.begin(), failures_.end(), [](const ReportedFailure& reported) {
          return std::any_of(
              reported.failure.deaths.begin(), reported.failure.deaths.end(),
              [](const Death& death) { return death.ending == Ending::kHostMemory; });
        });
    std::vector<const JobEvent*> lines;
    std::vector<const JobEvent*> tasks;
    for (const JobEvent& event : events_) {
      if (event.kind == LogKind::kKilled && !event.rank.has_value()) lines.push_back(&event);
      if (IsKillOfTask(event)) tasks.push_back(&event);
    }
    if (lines.empty()) {
      lines.swap(tasks);
    }
    if (lines.empty() || is_told) {
      return;
    }
    JobFinding finding;
    finding.order = CauseRank::kSystem;
    finding.finding = "Processes were killed for lack of host memory";
    finding.severity = is_explained ? Severity::kWarning : Severity::kError;
    finding.certainty = Certainty::kCertain;
    finding.evidence = fmt::format("{}: {}.", PlaceOf(*lines.front()), lines.front()->text);
    if (!tasks.empty()) {
      finding.evidence += fmt::format(" {}: {}.", PlaceOf(*tasks.front()), tasks.front()->text);
    }
    finding.help = TextsOf(Ending::kHostMemory).help;
    Keep(std::move(finding));
  }

  // The end by the scheduler that counts: one with a reason, if there is one.
  const JobEvent* Cancellation() const {
    const JobEvent* found = nullptr;
    for (const JobEvent* const event : OfKind(LogKind::kCancelled)) {
      const bool is_better =
          found == nullptr || (found->text == "cancelled" && event->text != found->text);
      if (!event->is_consequence && is_better) {
        found = event;
      }
    }
    return found;
  }

  void AddCancelled(bool is_explained) {
    const JobEvent* const cancelled = Cancellation();
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
        {"hard time limit", "Grid Engine ended the job at its time limit", kMoreTime,
         "Grid Engine"},
        {"limit of time or memory", "Grid Engine ended the job at one of its limits",
         "Compare `qacct -j` (ru_wallclock, cpu, maxvmem) with what the job asked for (h_rt, "
         "h_cpu, h_vmem), and ask for more of what it used up.",
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
        const bool is_cause = cancelled == end_;
        finding.order = is_cause ? CauseRank::kDeath : CauseRank::kSystem;
        finding.finding = texts.finding;
        finding.severity = is_explained && !is_cause ? Severity::kInfo : Severity::kError;
        finding.certainty = Certainty::kCertain;
        finding.ranks = is_cause ? RankList(end_ranks_) : "";
        finding.evidence =
            event.text == "evicted"
                ? fmt::format("{}: Kubernetes evicted it{}.", PlaceOf(event),
                              event.cause.empty() ? "" : ", as the node lacks " + event.cause)
                : fmt::format("{}: {} says {}.", PlaceOf(event), texts.scheduler, event.text);
        if (const std::string followed = FailedAfterwards(); !followed.empty()) {
          finding.evidence += fmt::format(" That tasks ended follows from it ({}).", followed);
        }
        finding.evidence += is_cause ? end_evidence_ : "";
        finding.help = texts.help;
        Keep(std::move(finding));
      }
    }
  }

  // "task 3: Killed, and 2 more", of those that follow from something else.
  std::string FailedAfterwards() const {
    std::vector<const JobEvent*> tasks = OfKind(LogKind::kTaskFailed);
    std::erase_if(tasks, [](const JobEvent* event) { return !event->is_consequence; });
    return tasks.empty() ? std::string()
           : tasks.size() == 1
               ? tasks.front()->text
               : fmt::format("{}, and {} more", tasks.front()->text, tasks.size() - 1);
  }

  // ---- The answer.

  void Keep(JobFinding finding) { findings_.push_back(std::move(finding)); }

  void WriteCulprits() {
    if (culprit_table_ != nullptr && culprit_table_->rows() > 0) {
      *culprit_table_ = MakeTable(culprits_);
    }
  }

  SourceFindings Result() {
    SourceFindings result;
    for (ReportedFailure& failure : failures_) {
      if (!snapshot_of_.contains(&failure)) {
        result.findings.push_back(std::move(failure.finding));
      }
    }
    std::stable_sort(
        result.findings.begin(), result.findings.end(),
        [](const JobFinding& a, const JobFinding& b) { return a.severity > b.severity; });
    std::move(findings_.begin(), findings_.end(), std::back_inserter(result.findings));
    result.has_cause =
        std::any_of(result.findings.begin(), result.findings.end(), [](const JobFinding& finding) {
          return finding.severity == Severity::kError &&
                 finding.certainty != Certainty::kCannotTell;
        });
    result.is_unclear = is_unclear_;
    for (size_t s = 0; s < sources_.size(); ++s) {
      std::vector<JobFinding> stay;
      for (size_t f = 0; f < sources_[s].findings.size(); ++f) {
        if (!gone_.contains({s, f})) {
          stay.push_back(std::move(sources_[s].findings[f]));
        }
      }
      sources_[s].findings = std::move(stay);
      if (ended_sources_.contains(s)) {
        TakeBackCauses(sources_[s]);
      }
    }
    return result;
  }

  // What an end from outside explains is neither a cause nor unclear.
  static void TakeBackCauses(SourceFindings& source) {
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

  static constexpr std::string_view kNodeFailure = "node failure";
  static constexpr std::string_view kPreemption = "preemption";
  static constexpr std::string_view kAssumedHang =
      " That this is a hang is assumed: the dumps do not show how long it lasted.";

  const std::vector<JobEvent>& events_;
  std::vector<SourceFindings>& sources_;
  Table* culprit_table_ = nullptr;
  std::vector<HangCulpritRow> culprits_;
  std::vector<Place> hangs_;
  std::vector<Place> snapshots_;
  int64_t since_ns_ = 0;                   // when the first rank began to wait; 0: not known
  std::vector<ReportedFailure> failures_;  // the first first
  std::map<const ReportedFailure*, Place> snapshot_of_;
  std::set<std::pair<size_t, size_t>> gone_;
  const JobEvent* end_ = nullptr;   // from outside, if it explains what the dumps show
  std::vector<int32_t> end_ranks_;  // that it ended, as far as that is known
  std::string end_evidence_;
  std::set<size_t> ended_sources_;                         // about which it says more than they do
  std::map<std::string, std::set<std::string>> paths_of_;  // by name of the file
  std::vector<JobFinding> findings_;
  std::string xid_device_;  // of the GPU whose errors went to a failure
  bool has_watchdog_cause_ = false;
  bool is_unclear_ = false;
};

}  // namespace

std::vector<int32_t> ReadRankList(std::string_view list) {
  std::vector<int32_t> ranks;
  constexpr int32_t kMostRanks = 1 << 20;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    const size_t dots = part.find("..");
    const auto begin = ParseNumber<int32_t>(part.substr(0, dots));
    const auto end =
        dots == std::string_view::npos ? begin : ParseNumber<int32_t>(part.substr(dots + 2));
    if (!begin.has_value() || !end.has_value() || *begin < 0 || *end >= kMostRanks) {
      return {};
    }
    for (int32_t rank = *begin; rank <= *end; ++rank) {
      ranks.push_back(rank);
    }
    list.remove_prefix(std::min(part.size() + 1, list.size()));
  }
  return ranks;
}

void JoinLogs(LogPart logs, std::vector<SourceFindings>& sources) {
  JoinWatchdogs(logs.events, sources);
  SourceFindings joined = Joiner(logs, sources).Join();
  joined.tables = std::move(logs.tables);
  joined.diagnostics = std::move(logs.diagnostics);
  sources.push_back(std::move(joined));
}

}  // namespace borescope::internal
