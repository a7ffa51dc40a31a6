#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/time/idle_causes.h"
#include "borescope/analysis/verbs/summary/long_gaps.h"
#include "borescope/analysis/verbs/summary/verdict_rules.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

// Shares of the span from which something is worth a word, and worth a warning.
constexpr double kIdleWord = 0.05;
constexpr double kIdleWarning = 0.10;
constexpr double kExposedWord = 0.03;
constexpr double kExposedWarning = 0.10;
// Share of kernel time from which one kernel, or short kernels, are worth a word.
constexpr double kDominantKernel = 0.30;
constexpr double kShortKernels = 0.10;
constexpr int64_t kManyKernels = 20;  // fewer are no pattern
// By how much the longest step exceeds the median.
constexpr double kStepSpread = 1.2;

// "3.1 s of 10.2 s (30.4 %)".
std::string PartOf(int64_t part_ns, int64_t whole_ns) {
  return fmt::format("{} of {} ({})", FormatTime(part_ns), FormatTime(whole_ns),
                     FormatShare(ShareOf(part_ns, whole_ns)));
}

std::string Shorten(std::string_view name) {
  constexpr size_t kLongest = 60;
  return ShortenedName(name, kLongest);
}

// ---- Idle time ----

struct CauseRow {
  std::string_view column;  // of idle_causes
  std::string_view words;   // in the evidence
  std::string_view title;
  std::string_view help;
};

constexpr CauseRow kCauses[] = {
    {"host_ns", "next work not launched yet", "The device idles while the host is busy",
     "Find what the host does in between with `borescope ops`; take Python work out of the step."},
    {"sync_ns", "host had waited for the device", "The device idles after synchronisation",
     "Avoid .item(), .cpu(), print of tensors and torch.cuda.synchronize() inside the step, so "
     "that launches run ahead of the device."},
    {"data_ns", "host loading data", "The device waits for data",
     "More DataLoader workers, pin_memory=True, prefetch_factor; move preprocessing off the step."},
    {"launch_call_ns", "inside long launch calls", "The device idles during long launch calls",
     "A launch that takes this long loads code, allocates memory or instantiates a graph, mostly "
     "once: warm up before recording. `borescope gaps` shows which work follows."},
    {"latency_ns", "launch latency", "The device idles for the latency of launches",
     "Launch ahead of the device, and less: fuse small kernels or use CUDA graphs."},
    {"device_ns", "between work already launched", "The device idles between work already launched",
     "Dependencies between streams, and the time between queued kernels: fuse small kernels or use "
     "CUDA graphs."},
    {"unrecorded_ns", "launched work held back by what was not recorded",
     "Launched work waits for something that was not recorded",
     "Work from before the recording, other processes, other devices or the host may have kept it "
     "waiting: record these as well. `borescope gaps` shows which work it is."},
    {"head_ns", "before the first launch", "The device idles before its first work",
     "Select the part you mean with --step or --annotation; profile after warm-up."},
    {"tail_ns", "after the last device work", "The device idles after its last work",
     "Select the part you mean with --step or --annotation."},
    {"unknown_ns", "launch not recorded", "The device idles, and launches are not recorded",
     "Record the host as well: ProfilerActivity.CPU in PyTorch's profiler."},
};

struct CauseTime {
  const CauseRow* row;
  int64_t ns;
};

// Time that says nothing about the devices: what a clock jumped over at an end, what is missing
// after the end of a file, and the time in which a device worked on what was not recorded.
struct TimeOfFiles {
  int64_t head_ns = 0;
  int64_t tail_ns = 0;
  int64_t before_recording_ns = 0;

  int64_t all_ns() const {
    return AddSaturating(AddSaturating(head_ns, tail_ns), before_recording_ns);
  }
  int64_t Of(std::string_view column) const {
    return column == "head_ns" ? head_ns : column == "tail_ns" ? tail_ns : 0;
  }
};

int64_t SumOnRanks(const Table& table, std::string_view column, std::vector<int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const IntValues& rank = Ints(table, "rank");
  const IntValues& values = Ints(table, column);
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (std::binary_search(ranks.begin(), ranks.end(), rank[row])) {
      sum = AddSaturating(sum, values[row]);
    }
  }
  return sum;
}

TimeOfFiles FindTimeOfFiles(const SummaryTables& tables) {
  const std::vector<int64_t> jumped = RanksOfCheck(tables.quality, "clock-jump");
  std::vector<int64_t> cut = RanksOfCheck(tables.quality, "truncated-file");
  cut.insert(cut.end(), jumped.begin(), jumped.end());
  return {SumOnRanks(tables.idle_causes, "head_ns", jumped),
          SumOnRanks(tables.idle_causes, "tail_ns", std::move(cut)),
          SumOf(tables.idle_causes, "before_recording_ns")};
}

// The time of all devices about which something is known: a share of it is that of a cost.
int64_t ObservedSpan(const SummaryTables& tables) {
  return SubtractSaturating(SumOf(tables.breakdown, "span_ns"),
                            SumOf(tables.idle_causes, "before_recording_ns"));
}

std::vector<CauseTime> CausesByTime(const Table& idle_causes, const TimeOfFiles& file) {
  std::vector<CauseTime> causes;
  for (const CauseRow& row : kCauses) {
    causes.push_back(
        {&row, SubtractSaturating(SumOf(idle_causes, row.column), file.Of(row.column))});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const CauseTime& a, const CauseTime& b) { return a.ns > b.ns; });
  return causes;
}

std::string_view IdleSeverity(double share) { return share >= kIdleWarning ? "warning" : "info"; }

bool MostKernelsAreShort(const SummaryTables& tables) {
  return ShareOf(SumOf(tables.overview, "short_kernels"), SumOf(tables.overview, "kernels")) > 0.5;
}

bool IsOfTheHost(const CauseTime& cause) {
  return cause.row->column == "host_ns" || cause.row->column == "sync_ns";
}

bool IsOfLaunches(const CauseTime& cause) {
  return cause.row->column == "host_ns" || cause.row->column == "latency_ns";
}

// ", mostly in `preprocess`", of what the host did; nothing if it is not known.
std::string MostlyIn(const Table& idle_causes, std::string_view column, size_t row) {
  const std::string& event = Texts(idle_causes, column)[row];
  return event.empty() ? std::string() : fmt::format(", the host mostly in `{}`", Shorten(event));
}

// The gaps alone must be as grave as all idle time is: a hint must not stand for a warning.
bool AreGrave(const LongGaps& gaps, double idle_share) {
  return gaps.share() >= (idle_share >= kIdleWarning ? kIdleWarning : kIdleWord);
}

// The finding is about the gaps, so that all its numbers are, too.
void DescribeLongGaps(const LongGaps& gaps, const Table& idle_causes, Finding& finding) {
  const int64_t rank = Ints(idle_causes, "rank")[gaps.longest];
  const int64_t gpu = Ints(idle_causes, "gpu")[gaps.longest];
  const std::string where =
      gaps.devices == 1 ? "on" : fmt::format("on each of {} devices, longest on", gaps.devices);
  finding.title = "The device idles in one long gap";
  finding.severity = IdleSeverity(gaps.share());
  finding.evidence = fmt::format(
      "{} in one gap {} rank {}, GPU {}{}; {}", PartOf(gaps.ns, gaps.span_ns), where, rank, gpu,
      MostlyIn(idle_causes, kLongestGapEvent, gaps.longest), finding.evidence);
  finding.value = gaps.share();
  finding.stake_ns = gaps.ns;
  finding.help =
      "`borescope gaps` tells between which work. What happens once, such as loading code at a "
      "first launch, is left out by warming up before recording, or with --step.";
}

void DescribeLaunchBound(const SummaryTables& tables, Finding& finding) {
  finding.title = "Launch-bound: short kernels, slow launches";
  finding.help =
      "Fewer, larger kernels: torch.compile, CUDA graphs, larger batches, foreach or "
      "fused optimizers.";
  finding.evidence += fmt::format("; {} of {} kernels are shorter than 10 us",
                                  FormatCount(SumOf(tables.overview, "short_kernels")),
                                  FormatCount(SumOf(tables.overview, "kernels")));
}

// What the devices idle for, and the three causes that cost most.
std::string IdleEvidence(int64_t idle, int64_t span, const std::vector<CauseTime>& causes) {
  std::string evidence = "idle " + PartOf(idle, span);
  for (size_t i = 0; i < 3 && causes[i].ns > 0; ++i) {
    evidence += fmt::format("{} {}: {}", i == 0 ? ";" : ",", causes[i].row->words,
                            FormatTime(causes[i].ns));
  }
  return evidence;
}

// What the host did before the first work of the device that waited longest for it.
std::string HeadEvidence(const Table& idle_causes) {
  const IntValues& head_ns = Ints(idle_causes, "head_ns");
  const auto longest = std::max_element(head_ns.begin(), head_ns.end());
  return MostlyIn(idle_causes, kHeadEvent, static_cast<size_t>(longest - head_ns.begin()));
}

std::string LeftOut(int64_t before_recording_ns) {
  return before_recording_ns == 0
             ? std::string()
             : fmt::format("; without {} in which work from before the recording ran",
                           FormatTime(before_recording_ns));
}

bool IsAtAnEnd(const CauseTime& cause) {
  return cause.row->column == "head_ns" || cause.row->column == "tail_ns";
}

// Whoever selected a part already knows how.
std::string IdleHelp(const SummaryTables& tables, const CauseTime& cause) {
  return tables.selects && IsAtAnEnd(cause)
             ? "`borescope critical-path` of the same part tells what the device waits for; a host "
               "that runs ahead launches in one step what runs in the next."
             : std::string(cause.row->help);
}

std::optional<Finding> Idle(const SummaryTables& tables) {
  const TimeOfFiles file = FindTimeOfFiles(tables);
  const int64_t span = SubtractSaturating(SumOf(tables.breakdown, "span_ns"), file.all_ns());
  const int64_t idle = SubtractSaturating(SumOf(tables.breakdown, "idle_ns"), file.all_ns());
  const double share = ShareOf(idle, span);
  if (share < kIdleWord || SumOf(tables.overview, "device_events") == 0) {
    return std::nullopt;
  }
  const std::vector<CauseTime> causes = CausesByTime(tables.idle_causes, file);
  Finding finding{std::string(causes[0].row->title),
                  IdleSeverity(share),
                  IdleEvidence(idle, span, causes),
                  share,
                  "share",
                  IdleHelp(tables, causes[0]),
                  idle};
  if (causes[0].row->column == "head_ns") {
    finding.evidence += HeadEvidence(tables.idle_causes);
  }
  finding.evidence += LeftOut(file.before_recording_ns);
  const LongGaps gaps = FindLongGaps(tables.idle_causes, tables.breakdown);
  const bool is_an_event = gaps.devices > 0;
  if (is_an_event && IsOfTheHost(causes[0]) && AreGrave(gaps, share)) {
    DescribeLongGaps(gaps, tables.idle_causes, finding);
  } else if (!is_an_event && IsOfLaunches(causes[0]) && MostKernelsAreShort(tables)) {
    DescribeLaunchBound(tables, finding);
  }
  return finding;
}

// ---- Exposed communication and copies ----

std::optional<Finding> ExposedCommunication(const SummaryTables& tables) {
  const int64_t span = ObservedSpan(tables);
  const int64_t exposed = SumOf(tables.breakdown, "exposed_comm_ns");
  const int64_t comm = SumOf(tables.breakdown, "comm_ns");
  const double share = ShareOf(exposed, span);
  if (share < kExposedWord) {
    return std::nullopt;
  }
  return Finding{
      "Communication is not hidden behind compute",
      share >= kExposedWarning ? "warning" : "info",
      fmt::format("exposed {}; all communication {}", PartOf(exposed, span), FormatTime(comm)),
      share,
      "share",
      "Overlap it: larger gradient buckets, prefetching (FSDP), asynchronous collectives; "
      "a collective also lasts while it waits for the slowest rank.",
      exposed};
}

std::optional<Finding> ExposedCopies(const SummaryTables& tables) {
  const int64_t span = ObservedSpan(tables);
  const int64_t exposed = SumOf(tables.breakdown, "exposed_copy_ns");
  const double share = ShareOf(exposed, span);
  if (share < kExposedWord || tables.copies.rows() == 0) {
    return std::nullopt;
  }
  const std::string& name = Texts(tables.copies, "name")[0];
  const bool pageable = Contains(name, "Pageable");
  return Finding{"Copies are not hidden behind compute",
                 share >= kExposedWarning ? "warning" : "info",
                 fmt::format("exposed {}; most in {}: {}, {}", PartOf(exposed, span), name,
                             FormatCount(Ints(tables.copies, "count")[0], "copy", "copies"),
                             FormatTime(Ints(tables.copies, "total_ns")[0])),
                 share,
                 "share",
                 pageable ? "Pageable memory makes copies slow and blocking: pin_memory=True and "
                            ".to(device, non_blocking=True)."
                          : "Copy on another stream, ahead of use, or keep the data on the device.",
                 exposed};
}

// ---- Kernels ----

std::string DominantHelp(const SummaryTables& tables) {
  if (Texts(tables.kernels, "class")[0] != KernelClassName(KernelClass::kCollective)) {
    return "What is won here is won almost one to one; `borescope kernels --by op` names the "
           "operator behind it.";
  }
  const std::string part = "Part of it is waiting for the slowest rank: before tuning the network ";
  return part + (tables.overview.rows() > 1
                     ? "let `borescope stragglers` look for it."
                     : "give the files of all ranks, of which `borescope stragglers` finds it.");
}

std::optional<Finding> DominantKernel(const SummaryTables& tables) {
  if (tables.kernels.rows() < 2) {
    return std::nullopt;
  }
  const int64_t total = Ints(tables.kernels, "total_ns")[0];
  const int64_t all = SumOf(tables.kernels, "total_ns");
  if (ShareOf(total, all) < kDominantKernel) {
    return std::nullopt;
  }
  return Finding{"One kernel takes a large part of the kernel time",
                 "info",
                 fmt::format("{} ({}): {}, {}", Shorten(Texts(tables.kernels, "name")[0]),
                             Texts(tables.kernels, "class")[0], PartOf(total, all),
                             FormatCount(Ints(tables.kernels, "count")[0], "launch", "launches")),
                 ShareOf(total, all),
                 "share",
                 DominantHelp(tables),
                 total};
}

std::optional<Finding> ShortKernels(const SummaryTables& tables) {
  const int64_t short_ns = SumOf(tables.overview, "short_kernel_time_ns");
  const int64_t all_ns = SumOf(tables.overview, "kernel_time_ns");
  const bool are_many = SumOf(tables.overview, "short_kernels") >= kManyKernels;
  if (!are_many || ShareOf(short_ns, all_ns) < kShortKernels || !MostKernelsAreShort(tables)) {
    return std::nullopt;
  }
  return Finding{
      "Many short kernels",
      "info",
      fmt::format("{} of {} kernels are shorter than 10 us and take {} of kernel time",
                  FormatCount(SumOf(tables.overview, "short_kernels")),
                  FormatCount(SumOf(tables.overview, "kernels")), PartOf(short_ns, all_ns)),
      ShareOf(short_ns, all_ns),
      "share",
      "Fusion (torch.compile) and CUDA graphs save launches and memory traffic.",
      short_ns};
}

// ---- Steps and ranks ----

std::optional<Finding> StepSpread(const SummaryTables& tables) {
  const Table& spread = tables.step_spread;
  size_t worst = spread.rows();
  double ratio = kStepSpread;
  for (size_t row = 0; row < spread.rows(); ++row) {
    const double here = ShareOf(Ints(spread, "max_ns")[row], Ints(spread, "median_ns")[row]);
    if (Ints(spread, "steps")[row] >= 3 && here >= ratio) {
      ratio = here;
      worst = row;
    }
  }
  if (worst == spread.rows()) {
    return std::nullopt;
  }
  return Finding{"Steps differ in length",
                 "info",
                 fmt::format("step {} of rank {} takes {} on the host, {:.2f} x the median of {}",
                             Ints(spread, "slowest_step")[worst], Ints(spread, "rank")[worst],
                             FormatTime(Ints(spread, "max_ns")[worst]), ratio,
                             FormatTime(Ints(spread, "median_ns")[worst])),
                 ratio,
                 "ratio",
                 "Compare them: `borescope breakdown --by step`, `borescope ops --by step`. A slow "
                 "first step is often warm-up: profile later.",
                 Ints(spread, "above_median_ns")[worst]};
}

// ---- When there is nothing to say about cost ----

// A recording that could hold no device work at all, which no check misses.
Finding MemoryOnly(const SummaryTables& tables) {
  return Finding{"Only memory over time was recorded",
                 "info",
                 fmt::format("memory over {}, 0 host events, 0 kernels, memcpys and memsets",
                             FormatTime(SumOf(tables.overview, "span_ns"))),
                 0,
                 "count",
                 "`borescope memory` shows the peak, and what it consists of.",
                 0};
}

std::optional<Finding> NoDeviceWork(const SummaryTables& tables) {
  if (SumOf(tables.overview, "device_events") > 0) {
    return std::nullopt;
  }
  const std::optional<std::string> help = HelpOfCheck(tables.quality, "no-device-work");
  if (!tables.selects && !help.has_value()) {
    return MemoryOnly(tables);
  }
  return Finding{
      tables.selects ? "No device work in the selected part" : "No device work was recorded",
      "warning",
      fmt::format("{}, 0 kernels, memcpys and memsets",
                  FormatCount(SumOf(tables.overview, "host_events"), "host event", "host events")),
      0,
      "count",
      tables.selects ? "`borescope info` tells what was recorded: select more of it." : *help,
      0};
}

std::optional<Finding> WellUsed(const SummaryTables& tables) {
  const int64_t span = ObservedSpan(tables);
  const int64_t compute = SumOf(tables.breakdown, "compute_ns");
  if (ShareOf(compute, span) < 1 - kIdleWarning) {
    return std::nullopt;
  }
  return Finding{"The device is well used",
                 "ok",
                 "computing " + PartOf(compute, span),
                 ShareOf(compute, span),
                 "share",
                 "What is left to gain is in the kernels themselves: `borescope kernels`.",
                 compute};
}

constexpr Rule kTimeRules[] = {NoDeviceWork, Idle,           ExposedCommunication, ExposedCopies,
                               StepSpread,   DominantKernel, ShortKernels,         WellUsed};

}  // namespace

std::span<const Rule> TimeRules() { return kTimeRules; }

}  // namespace borescope::internal
