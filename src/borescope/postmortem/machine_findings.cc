#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/postmortem/ending_texts.h"
#include "borescope/postmortem/joined_job.h"
#include "borescope/postmortem/logs/xid_catalog.h"

namespace borescope::internal {
namespace {

// The failure whose text is that of a fault of the hardware, if there is one such.
JobFinding* HardwareFailure(JoinedJob& job) {
  ReportedFailure* found = nullptr;
  for (ReportedFailure& reported : job.failures) {
    const JobEvent& event = *reported.failure.deaths.front().event;
    if (reported.is_cause && (IsHardwareText(event.text) || IsHardwareText(event.cause))) {
      if (found != nullptr) {
        return nullptr;
      }
      found = &reported;
    }
  }
  return found == nullptr ? nullptr : &job.TargetOf(*found);
}

// Errors of one GPU that nothing maps to a rank belong to the only failure of that kind: the device
// of which that is so, if there is one.
std::optional<std::string> AddXidsToFailure(JoinedJob& job) {
  std::set<std::string> devices;
  for (const JobEvent& event : job.events) {
    if (event.kind == LogKind::kXid && !event.rank.has_value() && !event.is_consequence &&
        XidClassOf(*event.xid) == XidClass::kHardware) {
      devices.insert(event.device);
    }
  }
  JobFinding* const failure = devices.size() == 1 ? HardwareFailure(job) : nullptr;
  for (const JobEvent& event : job.events) {
    if (failure != nullptr && event.kind == LogKind::kXid && event.device == *devices.begin() &&
        !event.is_consequence) {
      failure->evidence += fmt::format(" {}: {}.", job.PlaceOf(event), event.text);
    }
  }
  return failure == nullptr ? std::nullopt : std::optional(*devices.begin());
}

void AddMachine(JoinedJob& job) {
  std::map<std::string_view, std::vector<const JobEvent*>> by_finding;
  for (const JobEvent* const event : job.OfKind(LogKind::kMachine)) {
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
    finding.evidence = fmt::format("{}: {}", job.PlaceOf(*events.front()), events.front()->text);
    finding.evidence += events.size() == 1 ? "." : fmt::format(", and {} more.", events.size() - 1);
    finding.help = texts.help;
    job.Keep(std::move(finding));
  }
}

// A task that Slurm reports as out of memory was killed for lack of host memory.
bool IsKillOfTask(const JobEvent& event) {
  return event.kind == LogKind::kTaskFailed && event.text.ends_with("Out Of Memory");
}

void AddLines(JoinedJob& job, LogKind kind, std::string_view words, Severity severity,
              std::string_view help) {
  std::vector<const JobEvent*> lines = job.OfKind(kind);
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
  finding.ranks = RankList(RanksOfEvents(lines));
  finding.evidence = fmt::format("{}: {}", job.PlaceOf(*lines.front()), lines.front()->text);
  finding.evidence += lines.size() == 1 ? "." : fmt::format(", and {} more.", lines.size() - 1);
  finding.help = help;
  job.Keep(std::move(finding));
}

void AddKilled(JoinedJob& job, bool is_explained) {
  const bool is_told =
      std::any_of(job.failures.begin(), job.failures.end(), [](const ReportedFailure& reported) {
        return std::any_of(reported.failure.deaths.begin(), reported.failure.deaths.end(),
                           [](const Death& death) { return death.ending == Ending::kHostMemory; });
      });
  std::vector<const JobEvent*> lines;
  std::vector<const JobEvent*> tasks;
  for (const JobEvent& event : job.events) {
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
  finding.evidence = fmt::format("{}: {}.", job.PlaceOf(*lines.front()), lines.front()->text);
  if (!tasks.empty()) {
    finding.evidence += fmt::format(" {}: {}.", job.PlaceOf(*tasks.front()), tasks.front()->text);
  }
  finding.help = TextsOf(Ending::kHostMemory).help;
  job.Keep(std::move(finding));
}

}  // namespace

void AddXids(JoinedJob& job) {
  std::map<int, std::vector<const JobEvent*>> apart;
  constexpr int kRecovery = 154;  // what to do about an error, which is another line
  const std::optional<std::string> joined = AddXidsToFailure(job);
  for (const JobEvent& event : job.events) {
    if (event.kind != LogKind::kXid || event.is_consequence ||
        (!event.rank.has_value() && joined == event.device)) {
      continue;
    }
    JobFinding* const about = event.rank.has_value() ? job.About(*event.rank) : nullptr;
    if (about == nullptr) {
      apart[*event.xid].push_back(&event);
      continue;
    }
    about->evidence += fmt::format(" The kernel reports {}, of rank {}.", event.text, *event.rank);
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
    std::vector<int32_t> ranks = RanksOfEvents(events);
    finding.ranks = RankList(ranks);
    finding.evidence = fmt::format("{}: {}", job.PlaceOf(*events.front()), events.front()->text);
    finding.evidence += events.size() == 1 ? "." : fmt::format(", and {} more.", events.size() - 1);
    const auto about = std::find_if(advice.begin(), advice.end(), [&](const JobEvent* event) {
      return event->device == events.front()->device;
    });
    if (about != advice.end()) {
      finding.evidence += fmt::format(" {}: {}.", job.PlaceOf(**about), (*about)->text);
    }
    finding.help = XidHelp(of);
    job.Keep(std::move(finding));
  }
}

void AddSystem(JoinedJob& job) {
  const bool is_explained = job.HasCause();
  AddMachine(job);
  AddLines(job, LogKind::kNcclWarning, "NCCL warned", Severity::kWarning,
           "NCCL names the link or the call: look at the network devices of that host, and test "
           "the links (nccl-tests).");
  AddCancelled(job, is_explained);
  AddKilled(job, is_explained);
  AddLines(job, LogKind::kTaskFailed, "Slurm reports failed tasks",
           is_explained ? Severity::kInfo : Severity::kError,
           "Look at the logs and error files of these tasks; with --kill-on-bad-exit the others "
           "end at once.");
}

}  // namespace borescope::internal
