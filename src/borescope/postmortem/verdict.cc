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
#include "borescope/output/units/units.h"
#include "borescope/postmortem/failures.h"
#include "borescope/postmortem/hang_report.h"
#include "borescope/postmortem/logs/xid_catalog.h"
#include "borescope/postmortem/memory/oom.h"

namespace borescope::internal {
namespace {

struct EndingTexts {
  std::string_view finding;
  std::string_view help;
};
EndingTexts TextsOf(Ending ending) {
  switch (ending) {
    case Ending::kOutOfMemory:
      return {
          "Out of memory on the device",
          "A smaller batch or shorter sequences, checkpointing of activations, or states spread "
          "over more ranks; torch.cuda.memory._record_memory_history() and a snapshot in an "
          "observer of out of memory show what fills the device."};
    case Ending::kHostMemory:
      return {"Ranks were killed for lack of host memory",
              "Fewer workers of data loaders, less prefetching and pinned memory, or checkpoints "
              "written one rank at a time; else ask the scheduler for more memory."};
    case Ending::kException:
      return {"Ranks ended with an exception",
              "Start at this line, with what these ranks alone had: their data, their part of the "
              "model, their node."};
    case Ending::kSignal:
      return {"Ranks were ended by a signal",
              "Look at the kernel log of their host at that time; PYTHONFAULTHANDLER=1 shows the "
              "line of a crash in native code."};
    case Ending::kExit:
      break;
  }
  return {"Ranks ended with an exit code",
          "The code does not say why: read the log of these ranks, and put @record of "
          "torch.distributed.elastic.multiprocessing.errors on the main function, which keeps the "
          "exception."};
}

// How many, in words.
std::string Times(size_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

std::string SecondsApart(int64_t ns) {
  const double seconds = static_cast<double>(ns) / static_cast<double>(kSecondNs);
  return seconds < 100 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

// The middle of a range.
std::string Amount(const std::optional<postmortem::ByteRange>& range) {
  return range.has_value() ? FormatBytes(range->low + (range->high - range->low) / 2)
                           : "an amount that is not known";
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
    AddStacks();
    AddXids();
    AddTimeouts();
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
          return death.unix_ns != 0 && since_ns_ != 0 && death.unix_ns <= since_ns_ + kSameMomentNs;
        });
    return hangs_.empty() || is_of_culprit || is_earlier;
  }

  // Whether a request failed although the device had enough: the process may not have more.
  static bool IsOwnLimit(const JobEvent& event) {
    if (!event.out_of_memory.has_value()) {
      return false;
    }
    const postmortem::OomMessage& said = *event.out_of_memory;
    return said.allowed.has_value() && said.requested.has_value() && said.device_free.has_value() &&
           said.device_free->low >= said.requested->high;
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
    finding.help = HelpOf(first, texts);
    if (!reported.is_cause) {
      finding.evidence +=
          " Others waited before that, for other ranks: it may follow from the hang.";
    }
    return finding;
  }

  static std::string EvidenceOf(const Failure& failure) {
    const Death& first = failure.deaths.front();
    const JobEvent& event = *first.event;
    std::string text =
        event.out_of_memory.has_value() ? AmountsOf(*event.out_of_memory) : event.text;
    if (first.ending == Ending::kHostMemory && event.kind == LogKind::kExit) {
      text += ", and the kernel or the scheduler reports processes killed for lack of host memory";
    } else if (first.exit_code.has_value() && event.kind != LogKind::kExit) {
      text += first.exit_code < 0 ? fmt::format(" (signal {})", -*first.exit_code)
                                  : fmt::format(" (exit code {})", *first.exit_code);
    }
    if (first.unix_ns != 0) {
      text += fmt::format(" at {}", ClockTime(first.unix_ns));
    }
    if (failure.deaths.size() > 1) {
      text += fmt::format(", the same on {}",
                          Times(failure.deaths.size() - 1, "other rank", "other ranks"));
    }
    text = fmt::format("{}: {}.", PlaceOf(event), text);
    if (first.status != nullptr) {
      text += fmt::format(" The launcher names rank {} as the first that ended, with {}.",
                          first.status->rank.value_or(0), first.status->text);
    } else if (first.statuses > 0) {
      text +=
          fmt::format(" {} with an exit code.", Times(first.statuses, "rank ended", "ranks ended"));
    }
    if (first.outlived == &event) {
      text += " The log goes on after it, and nothing else says why a process failed.";
    } else if (first.outlived != nullptr) {
      text += fmt::format(" Earlier its log has {} ({}), after which it went on.",
                          first.outlived->text, PlaceOf(*first.outlived));
    }
    return text;
  }

  // "the failure of rank 3", "the failure in job.log:12".
  static std::string FailureWords(const Failure& failure) {
    const Death& first = failure.deaths.front();
    return first.rank.has_value() ? fmt::format("the failure of rank {}", *first.rank)
                                  : fmt::format("the failure in {}", PlaceOf(*first.event));
  }

  static std::string WhyLater(const FailureOrder& order, const Failure& first) {
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

  // "rank3.log:120"; of error files, which all have one name, "3/error.json".
  static std::string PlaceOf(const JobEvent& event) {
    const std::string& path = event.file;
    const size_t name = path.rfind('/');
    if (event.line > 0 || name == std::string::npos || name == 0) {
      return fmt::format("{}{}", path.substr(name + 1),
                         event.line > 0 ? fmt::format(":{}", event.line) : "");
    }
    const size_t folder = path.rfind('/', name - 1);
    return path.substr(folder == std::string::npos ? 0 : folder + 1);
  }

  static std::string AmountsOf(const postmortem::OomMessage& said) {
    std::string text = fmt::format("{} requested", Amount(said.requested));
    if (said.device_free.has_value() && said.total.has_value()) {
      text += fmt::format("; {} of {} free on the device", Amount(said.device_free),
                          Amount(said.total));
    }
    if (said.allowed.has_value()) {
      text += fmt::format("; {} allowed to the process", Amount(said.allowed));
    }
    if (said.allocated.has_value()) {
      text += fmt::format("; {} allocated", Amount(said.allocated));
    }
    if (said.unallocated.has_value()) {
      text += fmt::format("; {} reserved and free", Amount(said.unallocated));
    }
    if (const uint64_t others = said.other_processes_bytes; others > 0) {
      text += fmt::format("; {} of other processes", Amount(postmortem::ByteRange{others, others}));
    }
    return text;
  }

  static std::string HelpOf(const Death& death, const EndingTexts& texts) {
    const JobEvent& event = *death.event;
    if (death.ending == Ending::kException && Contains(event.text, "CUDA error")) {
      return "CUDA reports errors late: CUDA_LAUNCH_BLOCKING=1 shows the line of the kernel, "
             "compute-sanitizer the access.";
    }
    if (event.out_of_memory.has_value() && event.out_of_memory->requested.has_value()) {
      const postmortem::OomMessage& said = *event.out_of_memory;
      const uint64_t requested = said.requested->high;
      const auto least = [](const std::optional<postmortem::ByteRange>& range) {
        return range.has_value() ? range->low : 0;
      };
      if (IsOwnLimit(event)) {
        return "The process's own limit forbade it: raise "
               "torch.cuda.set_per_process_memory_fraction.";
      }
      if (least(said.unallocated) >= requested) {
        return "Enough is reserved and free, but in pieces: try "
               "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
      }
      if (said.other_processes_bytes >= requested) {
        return "Other processes hold enough of this device: look at `nvidia-smi`, and give the "
               "job devices of its own.";
      }
    }
    return std::string(texts.help);
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

  void AddXids() {
    std::map<int, std::vector<const JobEvent*>> apart;
    for (const JobEvent& event : events_) {
      if (event.kind != LogKind::kXid || event.is_consequence) {
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
    for (const auto& [xid, events] : apart) {
      const XidClass of = XidClassOf(xid);
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
    return !hangs_.empty() ||
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
    if (timeouts.empty()) {
      return;
    }
    const std::vector<int32_t> ranks = RanksOf(timeouts);
    const JobEvent& first = *timeouts.front();
    const std::string watchdogs =
        ranks.size() == 1 ? fmt::format("The watchdog of {}", RankWords(ranks))
        : ranks.empty()   ? "A watchdog"
                          : fmt::format("The watchdogs of {}", RankWords(ranks));
    const std::string said =
        fmt::format("{} reported that {} ({}).", watchdogs, first.text, PlaceOf(first));
    if (HasCause()) {
      Confirm(said);
      return;
    }
    JobFinding finding;
    finding.order = CauseRank::kHang;
    finding.finding = "A watchdog gave up, and the logs do not say who was missing";
    finding.severity = Severity::kError;
    finding.certainty = Certainty::kCannotTell;
    finding.ranks = RankList(ranks);
    const std::vector<int32_t> silent = Silent(ranks);
    finding.evidence = said;
    if (!silent.empty()) {
      finding.evidence += fmt::format(" {} reported nothing.", RankWords(silent));
    }
    finding.where = StacksOf(silent);
    finding.help =
        "Dumps of the flight recorder say who was missing: TORCH_NCCL_DUMP_ON_TIMEOUT=1, "
        "TORCH_FR_BUFFER_SIZE=2000, and the files of TORCH_FR_DUMP_TEMP_FILE of all ranks.";
    if (const JobEvent& longest = LongestOf(timeouts); longest.timeout.has_value()) {
      finding.value = static_cast<double>(longest.timeout->waited_ms) * 1e6;
      finding.unit = "ns";
    }
    is_unclear_ = true;
    Keep(std::move(finding));
  }

  // Ranks of which logs speak, but whose watchdog did not report.
  std::vector<int32_t> Silent(const std::vector<int32_t>& reporting) const {
    std::vector<int32_t> silent;
    for (const JobEvent& event : events_) {
      if (event.rank.has_value() &&
          !std::binary_search(reporting.begin(), reporting.end(), *event.rank)) {
        silent.push_back(*event.rank);
      }
    }
    std::sort(silent.begin(), silent.end());
    silent.erase(std::unique(silent.begin(), silent.end()), silent.end());
    return silent;
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
    constexpr std::string_view kAssumed =
        " That this is a hang is assumed: the dumps do not show how long it lasted.";
    bool is_told = false;
    const auto tell = [&](JobFinding& finding) {
      if (const size_t at = finding.evidence.find(kAssumed); at != std::string::npos) {
        finding.evidence.erase(at, kAssumed.size());
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
    JobFinding finding;
    finding.order = is_explained ? CauseRank::kNothing : CauseRank::kHang;
    finding.finding = is_explained ? "Ranks ended because others failed or did not come"
                                   : "Ranks report that another one failed or did not come";
    finding.severity = is_explained ? Severity::kInfo : Severity::kWarning;
    finding.certainty = is_explained ? Certainty::kLikely : Certainty::kCannotTell;
    finding.ranks = RankList(RanksOf(reports));
    finding.evidence = fmt::format("{}: {}.", PlaceOf(*reports.front()), reports.front()->text);
    finding.help = is_explained
                       ? "Nothing is to be done about these."
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
    const JobEvent& last = *outlived.back();
    JobFinding finding;
    finding.order = CauseRank::kNothing;
    finding.finding = "Exceptions after which the program went on";
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

  // ---- Lines of NCCL, the kernel and the scheduler.

  void AddSystem() {
    const bool is_explained = HasCause();
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
        {"preemption", "Slurm took the nodes for another job",
         "Write checkpoints at the signal that comes before it (--signal), and requeue the job."},
        {"node failure", "A node of the job failed",
         "Leave that node out (--exclude), and tell its administrators."},
        {"cancelled", "The job was cancelled",
         "Somebody or something cancelled it: `sacct` and the log of the scheduler say who."}};
    for (const Cancelled& texts : kCancelled) {
      if (event.text == texts.text) {
        JobFinding finding;
        finding.order = CauseRank::kSystem;
        finding.finding = texts.finding;
        finding.severity = is_explained ? Severity::kInfo : Severity::kError;
        finding.certainty = Certainty::kCertain;
        finding.evidence =
            fmt::format("{}: {} says {}.", PlaceOf(event), texts.scheduler, event.text);
        if (const std::string followed = FailedAfterwards(); !followed.empty()) {
          finding.evidence += fmt::format(" That tasks ended follows from it ({}).", followed);
        }
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
    }
    return result;
  }

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
  std::vector<JobFinding> findings_;
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
  SourceFindings joined = Joiner(logs, sources).Join();
  joined.tables = std::move(logs.tables);
  joined.diagnostics = std::move(logs.diagnostics);
  sources.push_back(std::move(joined));
}

}  // namespace borescope::internal
