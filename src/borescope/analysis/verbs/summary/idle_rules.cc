// What lets devices idle: a finding for each cause that costs enough, with the time of that cause
// alone. Host and launch latency are one cause where short kernels wait for their launches, and one
// gap that stands out is a cause of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/analysis/verbs/summary/named_causes.h"
#include "borescope/analysis/verbs/summary/prices.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/summary/verdict.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

// Whether it is one event that lets devices wait for the host, such as code that is loaded at a
// first launch, or a pattern of the program. Pure.

struct LongGaps {
  int64_t devices = 0;            // that have one; 0: it is a pattern
  int64_t ns = 0;                 // of their gaps, as far as the host is to blame
  int64_t sync_ns = 0;            // of this after it had waited for the device
  int64_t span_ns = 0;            // of these devices, without what is left out of it (evidence.h)
  size_t longest = 0;             // row of idle_causes; of gaps as long the first
  std::vector<size_t> rows = {};  // of idle_causes: these devices

  double share() const;  // of the span
};

constexpr int64_t kSeveral = 5;

bool HasLongGap(const Table& idle_causes, size_t row) {
  const int64_t longest_ns = Ints(idle_causes, kLongestGap)[row];
  const int64_t others = SubtractSaturating(Ints(idle_causes, "gaps")[row], 1);
  const int64_t all_ns =
      AddSaturating(Ints(idle_causes, "host_ns")[row], Ints(idle_causes, "sync_ns")[row]);
  const int64_t others_ns = SubtractSaturating(all_ns, longest_ns);
  return others > 0 && longest_ns > others_ns && longest_ns / kSeveral > others_ns / others;
}

// Whether a gap is longer than what other devices of the process are not the reason of.
bool IsHeld(const Table& idle_causes, const HeldIdle& held, size_t row) {
  const int64_t held_ns =
      held.OfHost(Ints(idle_causes, "rank")[row], CellOrMissing(idle_causes, "gpu", row));
  const int64_t all_ns =
      AddSaturating(Ints(idle_causes, "host_ns")[row], Ints(idle_causes, "sync_ns")[row]);
  return Ints(idle_causes, kLongestGap)[row] > SubtractSaturating(all_ns, held_ns);
}

// The devices with a long gap that is not several times shorter than the longest, which is first.
std::vector<size_t> RowsWithLongGaps(const Table& idle_causes, const HeldIdle& held) {
  const IntValues& gaps_ns = Ints(idle_causes, kLongestGap);
  std::vector<size_t> rows;
  for (size_t row = 0; row < gaps_ns.size(); ++row) {
    if (HasLongGap(idle_causes, row) && !IsHeld(idle_causes, held, row)) {
      rows.push_back(row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return gaps_ns[a] > gaps_ns[b]; });
  std::erase_if(rows, [&, longest_ns = rows.empty() ? 0 : gaps_ns[rows.front()]](size_t row) {
    return gaps_ns[row] <= longest_ns / kSeveral;
  });
  return rows;
}

// The observed span of the device of a row of idle_causes.
int64_t SpanOf(const SummaryTables& tables, size_t row) {
  const Table& idle_causes = tables.idle_causes;
  const Table& breakdown = tables.breakdown;
  const int64_t rank = Ints(idle_causes, "rank")[row];
  const int64_t gpu = Ints(idle_causes, "gpu")[row];
  for (size_t i = 0; i < breakdown.rows(); ++i) {
    if (Ints(breakdown, "rank")[i] == rank && Ints(breakdown, "gpu")[i] == gpu) {
      return SubtractSaturating(Ints(breakdown, "span_ns")[i], tables.left_out[row].all_ns());
    }
  }
  return 0;
}

double LongGaps::share() const { return ShareOf(ns, span_ns); }

// A device has a long gap where one makes up most of what the host is to blame for on it, in
// synchronisation or not, and is several times as long as the others there. Devices that wait for
// one thing each have their own, about as long. Together they must be most of what the host is to
// blame for on all devices: beside the pattern of the others a gap that stands out on its own
// device is nothing.
LongGaps FindLongGaps(const SummaryTables& tables, const HeldIdle& held) {
  const Table& idle_causes = tables.idle_causes;
  LongGaps gaps{.rows = RowsWithLongGaps(idle_causes, held)};
  for (const size_t row : gaps.rows) {
    gaps.devices += 1;
    gaps.ns = AddSaturating(gaps.ns, Ints(idle_causes, kLongestGap)[row]);
    gaps.sync_ns = AddSaturating(gaps.sync_ns, Ints(idle_causes, kLongestGapSync)[row]);
    gaps.span_ns = AddSaturating(gaps.span_ns, SpanOf(tables, row));
  }
  gaps.longest = gaps.rows.empty() ? 0 : gaps.rows.front();
  const int64_t blamed_ns = SubtractSaturating(
      AddSaturating(SumOf(idle_causes, "host_ns"), SumOf(idle_causes, "sync_ns")),
      AddSaturating(held.In("host_ns"), held.In("sync_ns")));
  return gaps.ns > SubtractSaturating(blamed_ns, gaps.ns) ? gaps : LongGaps{};
}

constexpr size_t kMostIdleFindings = 3;

struct CauseRow {
  std::string_view column;  // of idle_causes; empty: made of several
  std::string_view words;   // in the evidence
  std::string_view title;
  std::string_view help;
  std::string_view help_others = {};  // of programs without PyTorch; empty: the same
  std::string_view help_graphs = {};  // where most work is launched by graphs; empty: the same
};

constexpr CauseRow kCauses[] = {
    {"host_ns", "next work not launched yet", "The device idles while the host is busy",
     "Take what the host does in between out of the step: `borescope gaps` shows before which work "
     "it is late, `borescope ops` what it does.",
     "Launch ahead of the device, and move what the host does in between elsewhere: `borescope "
     "gaps` shows before which work it is late, `borescope idle` what it does."},
    {"sync_ns", "host had waited for the device", "The device idles after synchronisation",
     "Avoid .item(), .cpu(), print of tensors and torch.cuda.synchronize() inside the step, so "
     "that launches run ahead of the device: `borescope gaps` shows which work follows.",
     "Wait less often, and launch the next work before waiting for the last: events and streams "
     "instead of waits for the device, asynchronous copies from page-locked memory. `borescope "
     "gaps` shows which work follows."},
    {"data_ns", "host loading data", "The device waits for data",
     "More DataLoader workers, pin_memory=True, prefetch_factor; move preprocessing off the step. "
     "`borescope annotations` shows how long loading takes.",
     "Read and prepare the next data on other threads while the device works. `borescope "
     "annotations` shows how long loading takes."},
    {"launch_call_ns", "inside long launch calls", "The device idles during long launch calls",
     "A launch that takes this long loads code, allocates memory or instantiates a graph, mostly "
     "once: warm up before recording. `borescope gaps` shows which work follows."},
    {"latency_ns",
     "launch latency",
     "The device idles for the latency of launches",
     "Launch ahead of the device, and less: fuse small kernels or use CUDA graphs. `borescope "
     "launches` shows how long launches take.",
     {},
     "Launch ahead of the device, and less: fewer, larger graphs, and as a part of them what is "
     "launched beside them. `borescope graphs` shows what they do."},
    {"device_ns",
     "between work already launched",
     "The device idles between work already launched",
     "Dependencies between streams, and the time between queued kernels: fuse small kernels or use "
     "CUDA graphs. `borescope gaps` shows between which work.",
     {},
     "The time between the kernels of a graph, and dependencies between its branches: fewer, "
     "larger kernels (fused ones, larger batches). `borescope graphs` shows the gaps of each "
     "graph."},
    {"unrecorded_ns", "launched work held back by what was not recorded",
     "Launched work waits for something that was not recorded",
     "Work from before the recording, other processes, other devices or the host may have kept it "
     "waiting: record these as well. `borescope gaps` shows which work it is."},
    {kLateBegin, "the first work launched, and not begun",
     "The device begins late, for an unknown reason",
     "The first work was launched long before it began, and nothing that was recorded held it "
     "back. Work that was not recorded may have: from before the recording, of another process, "
     "the loading of code. Wait for the device before the recording begins; if the delay is there "
     "again, it is the program's. `borescope launches` shows how long work waits after its "
     "launch."},
    {kUntraced, "host in calls that copy, without a record of the copy",
     "Copies were not recorded, and may be what the device did",
     "Until they are, nobody can say whether the device idled."},
    {"head_ns", "before the first launch", "The device idles before its first work",
     "Select the part you mean with --step or --annotation; profile after warm-up. Work from "
     "before the recording may have run. `borescope idle` shows it for each device."},
    {"tail_ns", "after the last device work", "The device idles after its last work",
     "Select the part you mean with --step or --annotation. `borescope idle` shows it for each "
     "device."},
    {"unknown_ns", "launch not recorded", "The device idles, and launches are not recorded",
     "Record the host as well: ProfilerActivity.CPU in PyTorch's profiler. `borescope gaps` shows "
     "which work it is about.",
     "Record the host as well: its calls of CUDA or HIP. `borescope gaps` shows which work it is "
     "about."},
};

// Where the host was recorded, but not these launches.
constexpr std::string_view kHelpWithoutLaunches =
    "The host was recorded, but not the calls that launched this work: it was launched before the "
    "recording began, or in a way that the profiler does not record. `borescope gaps` shows which "
    "work it is about.";

constexpr CauseRow kLongGapCause = {
    "", "in one gap", "The device idles in one long gap",
    "What happens once, such as loading code at a first launch, is left out by warming up before "
    "recording, or with --step. `borescope idle` lists the longest gaps, and what the host did "
    "then.",
    "What happens once, such as loading code at a first launch, is left out with --begin and "
    "--end. `borescope idle` lists the longest gaps, and what the host did then."};

constexpr CauseRow kLaunchBoundCause = {
    "",
    "waits for launches of less than 100 us each",
    "Launch-bound: short kernels, slow launches",
    "Fewer, larger kernels: torch.compile, CUDA graphs, larger batches, foreach or fused "
    "optimizers. `borescope launches` shows how long launches take.",
    "Fewer, larger kernels: fuse them, give each more to do, or launch many at once as a CUDA or "
    "HIP graph. `borescope launches` shows how long launches take.",
    "Fewer, larger kernels: fuse them, give each more to do, and launch as a part of the graphs "
    "what is launched beside them. `borescope graphs` shows what they do."};

constexpr CauseRow kSeveralCauses = {
    "", "", "The device idles for several reasons",
    "No cause alone costs much; `borescope idle` shows the part of each."};

constexpr const char* kFewHelp =
    " Most of it is not in a pattern, but in a few times: look at these first (`borescope idle` "
    "lists the longest gaps).";

struct CauseTime {
  const CauseRow* row;
  int64_t ns;               // without what recording costs, as estimated
  int64_t recorded_ns = 0;  // as recorded: of the tables of the page
  int64_t least_ns = 0;     // what is left of it where recording costs most
};

// All idle time, and what is known of it.
class IdleTime {
 public:
  explicit IdleTime(const SummaryTables& tables)
      : tables_(tables),
        left_out_(FindLeftOut(tables)),
        span_ns_(SubtractSaturating(SumOf(tables.breakdown, "span_ns"), left_out_.all_ns())),
        idle_ns_(SubtractSaturating(SumOf(tables.breakdown, "idle_ns"), left_out_.all_ns())),
        held_(IdleOfDevices(tables)),
        cost_(FindRecordingCost(tables)) {}

  std::vector<Finding> Findings() {
    if (share().recorded < kIdleWord || SumOf(tables_.overview, &OverviewRow::device_events) == 0) {
      return {};
    }
    FindCauses();
    if (share().recorded < kIdleWord) {
      return {};  // all but a little of it is of causes with a name
    }
    if (cost_.is_known()) {
      // Causes that recording cannot be the reason of are kept, whatever is not known of others.
      const bool are_some_sure = KeepSureCauses();
      if (!are_some_sure && share().low < kIdleWord) {
        return OfRecording();
      }
    }
    std::vector<Finding> findings{First()};
    for (size_t i = 1; i < std::min(causes_.size(), kMostIdleFindings) && IsNotable(i); ++i) {
      findings.push_back(FindingOf(causes_[i]));
    }
    return findings;
  }

 private:
  // What is estimated competes with what was measured by as much as it is at least.
  int64_t Certain(int64_t ns) const {
    const int64_t estimate_ns = SubtractSaturating(rest_ns(), OfRest(cost_.estimate_ns));
    const int64_t least_ns = SubtractSaturating(rest_ns(), OfRest(cost_.most_ns));
    return cost_.is_known() && least_ns < estimate_ns
               ? TruncateSaturating(static_cast<double>(ns) * ShareOf(least_ns, estimate_ns))
               : ns;
  }
  // Without causes that have a name, and findings of their own.
  TrueShare share() const { return ShareWithoutRecording(cost_, rest_ns(), span_ns_, rest_cost_); }
  TrueShare AllIdle() const { return ShareWithoutRecording(cost_, idle_ns_, span_ns_, 1); }
  // What of the cost of recording is not in causes that have a name.
  int64_t OfRest(int64_t cost_ns) const {
    return TruncateSaturating(static_cast<double>(cost_ns) * rest_cost_);
  }
  // Without causes that have a name.
  int64_t rest_ns() const { return SubtractSaturating(idle_ns_, named_ns_); }
  double ShareOfTrueSpan(int64_t ns) const {
    return ShareOf(ns, SubtractSaturating(span_ns_, cost_.estimate_ns));
  }
  bool IsNotable(size_t i) const { return IsNotableTime(causes_[i]); }
  bool IsSure(const CauseTime& cause) const {
    return ShareOf(cause.least_ns, SubtractSaturating(span_ns_, cost_.most_ns)) >= kIdleWord;
  }
  // Leaves out what may be nothing without the profiler, unless all may be; whether it is not.
  bool KeepSureCauses() {
    const bool are_some = std::any_of(causes_.begin(), causes_.end(),
                                      [this](const CauseTime& cause) { return IsSure(cause); });
    if (are_some) {
      std::erase_if(causes_, [this](const CauseTime& cause) {
        return IsNotableTime(cause) && !IsSure(cause);
      });
    }
    return are_some;
  }
  bool IsNotableTime(const CauseTime& cause) const {
    return ShareOfTrueSpan(cause.ns) >= kIdleWord;
  }

  // What is idle may be so because it is recorded.
  std::vector<Finding> OfRecording() const {
    const TrueShare idle = share();
    const bool is_withdrawn = idle.high < kIdleWord;
    if (is_withdrawn && idle.recorded < kIdleWarning) {
      return {};
    }
    return {
        {is_withdrawn ? "The device idles because it is recorded"
                      : "This recording does not show whether the device idles",
         "info",
         fmt::format("idle {}{}{}{}", PartOf(rest_ns(), span_ns_),
                     named_ns_ > 0 ? " beside the causes that have a name" : "",
                     WordsOfTrueShare(cost_, idle), left_out_.Words()),
         idle.estimate, "share",
         is_withdrawn
             ? "Recording slows the host, and the device waits for it: the table true_time says "
               "how long a step takes without the profiler."
             : "Recording slows the host, and the device waits for it. Time a few steps without "
               "the profiler, or record with less: devices alone, no shapes, no stacks.",
         0}};
  }

  void FindCauses() {
    for (const CauseRow& row : kCauses) {
      const int64_t ns =
          SubtractSaturating(SumOf(tables_.idle_causes, row.column), left_out_.Of(row.column));
      causes_.push_back({&row, ns, ns});
    }
    for (const std::string_view part : {kLateBegin, kUntraced}) {
      int64_t& unrecorded_ns = TimeOf("unrecorded_ns");
      unrecorded_ns = SubtractSaturating(unrecorded_ns, TimeOf(part));
    }
    MoveNamed();
    MoveHeld();
    MoveLongGaps();
    MoveLaunches();
    MoveLatencyOfSync();
    TakeCost();
    std::stable_sort(causes_.begin(), causes_.end(),
                     [](const CauseTime& a, const CauseTime& b) { return a.ns > b.ns; });
  }

  CauseTime& CauseOf(std::string_view column) {
    return *std::find_if(causes_.begin(), causes_.end(),
                         [column](const CauseTime& one) { return one.row->column == column; });
  }
  int64_t& TimeOf(std::string_view column) { return CauseOf(column).ns; }

  // Recording slows the host: what it costs is time in which the host is late, and where a gap
  // closes without it, the latency of the launch that was in the gap as well. How much of which,
  // the replay says.
  void TakeCost() {
    for (CauseTime& cause : causes_) {
      cause.recorded_ns = cause.least_ns = cause.ns;
    }
    Take(OfRest(cost_.estimate_ns), cost_.estimate_parts, &CauseTime::ns);
    Take(OfRest(cost_.most_ns), cost_.most_parts, &CauseTime::least_ns);
  }

  // What does not fit is of the others of these causes.
  void Take(int64_t cost_ns, const CostParts& parts, int64_t CauseTime::* time_ns) {
    int64_t rest_ns = cost_ns;
    const auto take = [&](CauseTime& cause, int64_t ns) {
      const int64_t taken_ns = std::min({cause.*time_ns, ns, rest_ns});
      cause.*time_ns = SubtractSaturating(cause.*time_ns, taken_ns);
      rest_ns = SubtractSaturating(rest_ns, taken_ns);
    };
    const auto of_cost = [&](double part) {
      return TruncateSaturating(part * static_cast<double>(cost_ns));
    };
    CauseTime& host = CauseOf("host_ns");
    CauseTime& latency = CauseOf("latency_ns");
    const auto bound = std::find_if(causes_.begin(), causes_.end(), [](const CauseTime& cause) {
      return cause.row == &kLaunchBoundCause;
    });
    if (bound == causes_.end()) {
      take(host, of_cost(parts.long_late + parts.short_late));
      take(latency, of_cost(parts.latency));
    } else {
      take(host, of_cost(parts.long_late));
      take(*bound, of_cost(parts.short_late + parts.latency));
    }
    take(host, rest_ns);
    for (CauseTime& cause : causes_) {
      if (cause.row == &kLaunchBoundCause || cause.row == latency.row) {
        take(cause, rest_ns);
      }
    }
  }

  // Causes with a name have findings of their own.
  void MoveNamed() {
    // The launches of an optimizer are slowed by recording as all others are.
    rest_cost_ = 1 - ShareOf(IdleOfNamedCauses(tables_, "idle_ns", kOptimizerLaunches), idle_ns_);
    for (CauseTime& cause : causes_) {
      const bool is_of_division = cause.row->column != kLateBegin && cause.row->column != kUntraced;
      const int64_t named_ns =
          is_of_division ? std::min(cause.ns, IdleOfNamedCauses(tables_, cause.row->column)) : 0;
      cause.ns = SubtractSaturating(cause.ns, named_ns);
      AddSaturatingTo(named_ns_, named_ns);
      is_sync_whole_ = is_sync_whole_ && (cause.row->column != "sync_ns" || named_ns == 0);
    }
  }

  // So do devices of one process that wait for each other.
  void MoveHeld() {
    for (CauseTime& cause : causes_) {
      const int64_t held_ns = std::min(cause.ns, held_.In(cause.row->column));
      cause.ns = SubtractSaturating(cause.ns, held_ns);
      AddSaturatingTo(named_ns_, held_ns);
    }
  }

  // One event is no pattern of the program.
  void MoveLongGaps() {
    gaps_ = FindLongGaps(tables_, held_);
    if (gaps_.devices == 0 || gaps_.share() < kIdleWord) {
      gaps_ = {};
      return;
    }
    int64_t& host_ns = TimeOf("host_ns");
    int64_t& sync_ns = TimeOf("sync_ns");
    if (SubtractSaturating(gaps_.ns, gaps_.sync_ns) > host_ns || gaps_.sync_ns > sync_ns) {
      gaps_ = {};  // another finding has it
      return;
    }
    host_ns = SubtractSaturating(host_ns, SubtractSaturating(gaps_.ns, gaps_.sync_ns));
    sync_ns = SubtractSaturating(sync_ns, gaps_.sync_ns);
    causes_.push_back({&kLongGapCause, gaps_.ns});
  }

  // Where most kernels are short, and the host is late by no more than it takes to launch,
  // launching alone is what they wait for.
  void MoveLaunches() {
    if (!MostKernelsAreShort(tables_)) {
      return;
    }
    int64_t& host_ns = TimeOf("host_ns");
    int64_t& latency_ns = TimeOf("latency_ns");
    // What the host is late for in an optimizer is short, too, and has a finding of its own.
    const int64_t named_ns = IdleOfNamedCauses(tables_, "host_ns", kOptimizerLaunches);
    const int64_t short_ns =
        std::min(host_ns, SubtractSaturating(SumOf(tables_.idle_causes, kShortHost), named_ns));
    const int64_t bound_ns = AddSaturating(short_ns, latency_ns);
    host_ns = SubtractSaturating(host_ns, short_ns);
    latency_ns = 0;
    causes_.push_back({&kLaunchBoundCause, bound_ns});
  }

  // A launch that a host which does not wait would have made before the gap leaves no latency in
  // it. Where launches alone are what kernels wait for, they wait for these, too.
  void MoveLatencyOfSync() {
    int64_t& latency_ns = TimeOf("latency_ns");
    latency_of_sync_ns_ = std::min(latency_ns, SumOf(tables_.idle_causes, kLatencyOfSync));
    latency_ns = SubtractSaturating(latency_ns, latency_of_sync_ns_);
    AddSaturatingTo(TimeOf("sync_ns"), latency_of_sync_ns_);
  }

  // It is as grave as all idle time, so that a cause of many is no less of a warning. A small part
  // of it is not named as the cause.
  Finding First() const {
    const int64_t true_rest_ns = SubtractSaturating(rest_ns(), OfRest(cost_.estimate_ns));
    const bool are_several =
        !IsNotable(0) && causes_[0].ns < SubtractSaturating(true_rest_ns, causes_[0].ns);
    Finding finding =
        FindingOf(are_several ? CauseTime{&kSeveralCauses, true_rest_ns, rest_ns()} : causes_[0]);
    finding.severity = share().low >= kIdleWarning ? "warning" : finding.severity;
    finding.evidence += are_several ? "" : "; idle " + PartOf(idle_ns_, span_ns_);
    finding.evidence += WordsOfTrueShare(cost_, AllIdle());
    AddOthers(are_several ? 0 : 1, finding.evidence);
    finding.evidence += left_out_.Words();
    return finding;
  }

  void AddOthers(size_t first, std::string& evidence) const {
    for (size_t i = first; i < std::min<size_t>(causes_.size(), 3) && causes_[i].ns > 0; ++i) {
      evidence += fmt::format("{} {}: {}", i == first ? ";" : ",", causes_[i].row->words,
                              FormatTime(causes_[i].recorded_ns));
    }
  }

  Finding FindingOf(const CauseTime& cause) const {
    if (cause.row == &kLongGapCause) {
      return LongGap();
    }
    const double share = ShareOfTrueSpan(cause.ns);
    return {std::string(cause.row->title),
            SeverityOfShare(share),
            EvidenceOf(cause),
            share,
            "share",
            HelpOf(cause) + (FewPieces(*cause.row) ? kFewHelp : ""),
            Certain(cause.ns),
            LeverOf(*cause.row),
            PlaceOf(*cause.row)};
  }

  // The place of the cause with most of the time. What a finding does not count is no place of it.
  FindingPlace PlaceOf(const CauseRow& row) const {
    if (&row == &kSeveralCauses) {
      return PlaceOf(*causes_[0].row);
    }
    if (&row == &kLongGapCause) {
      return PlaceOfIdleOn(tables_, kLongestGap, gaps_.longest);
    }
    if (held_.In(row.column) > 0) {
      return {};  // the longest time may be another device's doing
    }
    return PlaceOfIdle(tables_, &row == &kLaunchBoundCause ? "latency_ns" : row.column, gaps_.rows);
  }

  static Lever LeverOf(const CauseRow& row) {
    return row.column == "host_ns"                                    ? Lever::kHost
           : row.column == "sync_ns"                                  ? Lever::kWaits
           : row.column == "data_ns"                                  ? Lever::kData
           : row.column == "latency_ns" || &row == &kLaunchBoundCause ? Lever::kGraphs
                                                                      : Lever::kNone;
  }

  std::string EvidenceOf(const CauseTime& cause) const {
    const std::string part = PartOf(cause.recorded_ns, span_ns_);
    if (cause.row == &kSeveralCauses) {
      return "idle " + part;
    }
    std::string evidence = fmt::format("{}: {}", cause.row->words, part);
    if (cause.row->column == "head_ns") {
      evidence += MostlyInLongest(tables_.idle_causes, "head_ns", kHeadEvent);
    } else if (cause.row->column == "host_ns" &&
               cause.recorded_ns == SumOf(tables_.idle_causes, "host_ns")) {
      evidence += MostlyInLongest(tables_.idle_causes, "host_ns", kHostEvent);
    } else if (cause.row == &kLaunchBoundCause) {
      return evidence +
             fmt::format("; {} of {} kernels are shorter than 10 us",
                         FormatCount(SumOf(tables_.overview, &OverviewRow::short_kernels)),
                         FormatCount(SumOf(tables_.overview, &OverviewRow::kernels)));
    }
    if (cause.row->column == "sync_ns") {
      evidence += latency_of_sync_ns_ > 0 ? fmt::format(", with {} for the launches after it",
                                                        FormatTime(latency_of_sync_ns_))
                                          : std::string();
      evidence += is_sync_whole_ && held_.In("sync_ns") == 0 ? WordsOfWaits(tables_) : "";
    }
    const std::optional<FewOfMany> few = FewPieces(*cause.row);
    return few ? evidence + "; " + few->Words(tables_, "gaps") : evidence;
  }

  // Where one to three of many times make up most of a cause. What a finding of its own is about
  // is no part of it.
  std::optional<FewOfMany> FewPieces(const CauseRow& row) const {
    const bool is_whole =
        gaps_.devices == 0 || (row.column != "host_ns" && row.column != "sync_ns");
    const bool is_sum = row.column != "unrecorded_ns" ||
                        (TimeOfColumn(kLateBegin) == 0 && TimeOfColumn(kUntraced) == 0);
    return is_whole && is_sum && !row.column.empty() && held_.In(row.column) == 0
               ? FindFewOfMany(tables_, row.column)
               : std::nullopt;
  }

  int64_t TimeOfColumn(std::string_view column) const { return SumOf(tables_.idle_causes, column); }

  // Whoever selected a part already knows how.
  std::string HelpOf(const CauseTime& cause) const {
    const CauseRow& row = *cause.row;
    const bool is_at_an_end = row.column == "head_ns" || row.column == "tail_ns";
    if (tables_.selects && is_at_an_end) {
      return "A host that runs ahead launches in one step what runs in the next: `borescope "
             "critical-path` of the same part shows what the device waits for.";
    }
    if (row.column == kUntraced) {
      return HelpOfCheck(tables_.quality, "untraced-copies").value_or(std::string()) + " " +
             std::string(row.help);
    }
    if (row.column == "unknown_ns" && SumOf(tables_.overview, &OverviewRow::host_events) > 0) {
      return std::string(kHelpWithoutLaunches);
    }
    if (!row.help_graphs.empty() && IsMostlyGraphs(tables_)) {
      return std::string(row.help_graphs);
    }
    return row.help_others.empty() ? std::string(row.help)
                                   : AdviceFor(tables_, row.help, row.help_others);
  }

  // All its numbers are about the devices that have such a gap.
  Finding LongGap() const {
    const Table& causes = tables_.idle_causes;
    const std::string where =
        gaps_.devices == 1 ? "on" : fmt::format("on each of {} devices, longest on", gaps_.devices);
    std::string evidence =
        fmt::format("{} in one gap {} rank {}, GPU {}{}", PartOf(gaps_.ns, gaps_.span_ns), where,
                    Ints(causes, "rank")[gaps_.longest], Ints(causes, "gpu")[gaps_.longest],
                    MostlyIn(causes, kLongestGapEvent, gaps_.longest));
    if (gaps_.sync_ns > 0) {
      evidence += fmt::format("; host had waited for the device: {}", FormatTime(gaps_.sync_ns));
    }
    return {std::string(kLongGapCause.title),
            SeverityOfShare(gaps_.share()),
            std::move(evidence),
            gaps_.share(),
            "share",
            AdviceFor(tables_, kLongGapCause.help, kLongGapCause.help_others),
            gaps_.ns,
            Lever::kNone,
            PlaceOf(kLongGapCause)};
  }

  const SummaryTables& tables_;
  const LeftOut left_out_;
  const int64_t span_ns_;
  const int64_t idle_ns_;
  const HeldIdle held_;
  LongGaps gaps_;
  int64_t named_ns_ = 0;
  bool is_sync_whole_ = true;  // none of it is in named_ns_
  double rest_cost_ = 1;       // part of the cost of recording
  RecordingCost cost_;
  int64_t latency_of_sync_ns_ = 0;  // moved from latency
  std::vector<CauseTime> causes_;
};

}  // namespace

std::vector<Finding> IdleFindings(const SummaryTables& tables) {
  // No device was observed over time, as in a report of counters.
  return tables.breakdown.rows() == 0 ? std::vector<Finding>() : IdleTime(tables).Findings();
}

}  // namespace borescope::internal
