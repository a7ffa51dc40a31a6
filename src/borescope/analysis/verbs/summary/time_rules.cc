#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/summary/call_times.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/analysis/verbs/summary/prices.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/summary/verdict.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

namespace {

// Shares of the span from which something is worth a word, and worth a warning.
constexpr double kExposedWord = 0.03;
constexpr double kExposedWarning = 0.10;
// Share of kernel time from which one kernel, or short kernels, are worth a word.
constexpr double kDominantKernel = 0.30;
constexpr double kShortKernels = 0.10;
constexpr double kMostOfCompute = 0.5;
constexpr double kFewLaunches = 0.15;      // half of the first
constexpr int64_t kManyKernels = 20;       // fewer are no pattern
constexpr double kMemoryBoundWord = 0.05;  // of the span
// By how much the longest step exceeds the median.
constexpr double kStepSpread = 1.2;
// Share of the steps without device work from which they are worth a word, and worth a warning.
constexpr double kIdleSteps = 0.1;
constexpr double kMostSteps = 0.5;
constexpr int64_t kManySteps = 4;

// ---- Exposed communication and copies ----

// What few events make up of a sum of exposed time, and what is left of it and of the span.
struct ExposedTime {
  int64_t span_ns = 0;
  int64_t own_ns = 0;  // not what is lost to one rank, which has a finding of its own
  std::optional<FewOfMany> few;

  int64_t few_ns() const { return few ? std::min(few->ns, own_ns) : 0; }
  int64_t rest_ns() const { return SubtractSaturating(own_ns, few_ns()); }
  int64_t rest_span_ns() const { return SubtractSaturating(span_ns, few_ns()); }
};

ExposedTime ExposedOf(const SummaryTables& tables, std::string_view column, std::string_view what,
                      int64_t elsewhere_ns) {
  return {ObservedSpan(tables), SubtractSaturating(SumOf(tables.breakdown, column), elsewhere_ns),
          FindFewOfMany(tables, what)};
}

ExposedTime CommunicationOf(const SummaryTables& tables) {
  return ExposedOf(tables, "exposed_comm_ns", kExposedCommPlace, LostToWaiting(tables));
}

ExposedTime CopiesOf(const SummaryTables& tables) {
  return ExposedOf(tables, "exposed_copy_ns", kExposedCopyPlace, 0);
}

// "; without the 1 of 64 that takes most of it"; nothing if there is none.
std::string WithoutFew(const ExposedTime& time) {
  return !time.few ? std::string()
                   : fmt::format("; without {}, which a finding of its own is about",
                                 FormatTime(time.few_ns()));
}

std::optional<Finding> FewExposed(const SummaryTables& tables, const ExposedTime& time,
                                  std::string_view what, std::string_view title,
                                  std::string_view help) {
  const double share = ShareOf(time.few_ns(), time.span_ns);
  if (!time.few || share < kExposedWord) {
    return std::nullopt;
  }
  return Finding{std::string(title),
                 share >= kExposedWarning ? "warning" : "info",
                 fmt::format("exposed {}; {}; without {} {}", PartOf(time.own_ns, time.span_ns),
                             time.few->Words(tables, what),
                             time.few->events * time.few->devices == 1 ? "it" : "them",
                             PartOf(time.rest_ns(), time.rest_span_ns())),
                 share,
                 "share",
                 std::string(help),
                 time.few_ns(),
                 Lever::kNone,
                 time.few->place};
}

std::optional<Finding> FewCollectives(const SummaryTables& tables) {
  const ExposedTime time = CommunicationOf(tables);
  const std::string_view reason =
      time.few && time.few->is_first
          ? "It is the first of the recording: the ranks arrive at different times, as profilers "
            "start at different times. Warm up and wait for all ranks (a barrier) before "
            "recording, or leave it out with --begin."
          : "A collective that takes so much longer than the others waits for a rank that comes "
            "late once (a checkpoint, a log, loading of code): `borescope waits` of the files of "
            "all ranks shows which. --begin and --end leave it out.";
  return FewExposed(tables, time, "collectives", "A few collectives take most of the communication",
                    reason);
}

std::optional<Finding> FewCopies(const SummaryTables& tables) {
  return FewExposed(tables, CopiesOf(tables), "copies",
                    "A few copies take most of the time of copies",
                    "What is copied once, such as weights or a checkpoint, is no pattern of the "
                    "program: leave it out with --begin and --end, or look at it alone. `borescope "
                    "bandwidth` shows sizes and rates.");
}

std::string CommunicationHelp(const SummaryTables& tables) {
  if (IsMostlyPointToPoint(tables)) {
    return "Overlap it: send and receive ahead of use, on streams of their own; a receive also "
           "lasts while it waits for the rank that sends.";
  }
  const std::string overlap = AdviceFor(
      tables, "verlap it: larger gradient buckets, prefetching (FSDP), asynchronous collectives",
      "verlap it: asynchronous collectives on a stream of their own");
  const int64_t absent = WorldSize(tables) - static_cast<int64_t>(tables.overview.size());
  return absent <= 0
             ? "O" + overlap + "; a collective also lasts while it waits for the slowest rank."
             : fmt::format(
                   "A collective also lasts while it waits for the slowest rank, and of {} ranks "
                   "{} {} not here: give the files of all first. If it is no waiting, o{}.",
                   WorldSize(tables), absent, absent == 1 ? "is" : "are", overlap);
}

// Waiting for a late rank is not communication: that has findings of its own.
std::optional<Finding> ExposedCommunication(const SummaryTables& tables) {
  const ExposedTime time = CommunicationOf(tables);
  const int64_t exposed = SumOf(tables.breakdown, "exposed_comm_ns");
  const int64_t comm = SumOf(tables.breakdown, "comm_ns");
  const int64_t waiting = LostToWaiting(tables);
  const double share = ShareOf(time.rest_ns(), time.rest_span_ns());
  if (share < kExposedWord) {
    return std::nullopt;
  }
  const std::string without =
      waiting == 0
          ? ""
          : fmt::format("; without waiting for {} {} ({})",
                        LostToLateRanks(tables) == waiting ? "late ranks" : "other ranks",
                        FormatTime(time.own_ns), FormatShare(ShareOf(time.own_ns, time.span_ns)));
  return Finding{
      "Communication is not hidden behind compute",
      share >= kExposedWarning ? "warning" : "info",
      fmt::format("exposed {}{}; all communication {}{}",
                  PartOf(SubtractSaturating(exposed, time.few_ns()), time.rest_span_ns()), without,
                  FormatTime(comm), WithoutFew(time)),
      share,
      "share",
      CommunicationHelp(tables) + " `borescope overlap` shows how much of it is hidden.",
      time.rest_ns(),
      Lever::kComm,
      PlaceOfWork(tables, kExposedCommPlace)};
}

// `name`: of the copies that take most time.
std::string CopiesHelp(const SummaryTables& tables, std::string_view name) {
  const bool are_pageable = Contains(name, "Pageable");
  if (FindRoundTrips(tables)) {
    return "The same array goes to the device before kernels and back after them, again and again "
           "(by the sizes of copies): keep it on the device, and copy what the host needs once. "
           "Faster copies, as from pinned memory, save less. `borescope bandwidth` shows their "
           "sizes and rates.";
  }
  // "Memcpy DtoD (Device -> Device)" of PyTorch, "CopyDeviceToDevice" of ROCm: on one device.
  if (Contains(name, "DtoD") || Contains(name, "DeviceToDevice")) {
    return AdviceFor(tables,
                     "These copies stay on the device: .contiguous(), .clone(), torch.cat. "
                     "Avoid them with views, work in place, and outputs that are allocated "
                     "once; a fused kernel (torch.compile) writes to the right place at once.",
                     "These copies stay on the device: let kernels write to the right place at "
                     "once, or work in place.") +
           " `borescope bandwidth` shows their sizes and rates.";
  }
  const std::string advice =
      are_pageable
          ? AdviceFor(tables,
                      "Pageable memory makes copies slow and blocking: pin_memory=True and "
                      ".to(device, non_blocking=True).",
                      "Pageable memory makes copies slow and blocking: copy asynchronously, from "
                      "and to page-locked memory (cudaMallocHost, cudaHostRegister, "
                      "hipHostMalloc).")
          : "Copy on another stream, ahead of use, or keep the data on the device.";
  return advice + " `borescope bandwidth` shows their sizes and rates.";
}

std::optional<Finding> ExposedCopies(const SummaryTables& tables) {
  const ExposedTime time = CopiesOf(tables);
  const double share = ShareOf(time.rest_ns(), time.rest_span_ns());
  if (share < kExposedWord || tables.copies.rows() == 0) {
    return std::nullopt;
  }
  const std::string& name = Texts(tables.copies, "name")[0];
  const std::optional<RoundTrips> rounds = FindRoundTrips(tables);
  // They take as long without the profiler, and the steps less.
  const RecordingCost cost = FindRecordingCost(tables);
  const TrueShare true_share = ShareWithoutRecording(cost, time.rest_ns(), time.rest_span_ns(), 0);
  return Finding{
      "Copies are not hidden behind compute",
      share >= kExposedWarning ? "warning" : "info",
      fmt::format("exposed {}{}; most in {}: {}, {}{}", PartOf(time.rest_ns(), time.rest_span_ns()),
                  WordsOfTrueShare(cost, true_share), name,
                  FormatCount(Ints(tables.copies, "count")[0], "copy", "copies"),
                  FormatTime(Ints(tables.copies, "total_ns")[0]),
                  WithoutFew(time) + (rounds ? "; " + rounds->Words() : "")),
      true_share.estimate,
      "share",
      CopiesHelp(tables, name),
      time.rest_ns(),
      Lever::kCopies,
      PlaceOfWork(tables, kExposedCopyPlace)};
}

// ---- Kernels ----

// Before the network is tuned: how much of the time in collectives is none of it.
std::string WaitingHelp(const SummaryTables& tables) {
  constexpr double kHardlyAny = 0.05;
  if (IsMostlyPointToPoint(tables)) {
    return "Before tuning the network: a receive also lasts while it waits for the rank that "
           "sends. `borescope collectives` has sizes and rates.";
  }
  if (tables.overview.size() < 2) {
    return "Part of it may be waiting for the slowest rank: before tuning the network give the "
           "files of all ranks, of which `borescope stragglers` finds it.";
  }
  if (tables.stragglers.empty()) {
    return "Part of it may be waiting for the slowest rank, which is not known, as no collective "
           "was found on several ranks. `borescope collectives` has sizes and rates.";
  }
  const CollectiveWaiting inside = WaitingInCollectives(tables);
  const double share = ShareOf(inside.waiting_ns, inside.all_ns);
  if (share < kHardlyAny) {
    return fmt::format(
        "{} of the time in collectives is waiting for other ranks: it is the transfer. `borescope "
        "collectives` has sizes and rates, `borescope waits` what transfers of this job take.",
        inside.waiting_ns == 0 ? "None" : "Only " + FormatShare(share));
  }
  return fmt::format(
      "{} of the time in collectives is waiting for other ranks: before tuning the network let "
      "`borescope stragglers` look for them.",
      FormatShare(share));
}

std::string DominantHelp(const SummaryTables& tables) {
  if (!HasTimeline(tables)) {
    return "`borescope counters` has what was counted of it, and in speed_of_light how near it "
           "came to "
           "the peaks of the device, where that was measured; `borescope flame` shows where it is "
           "launched.";
  }
  if (Texts(tables.kernels, "class")[0] != KernelClassName(KernelClass::kCollective)) {
    return AdviceFor(
        tables,
        "`borescope whatif` says what a faster one would bring, `borescope kernels --by op` names "
        "the operator that launches it.",
        "`borescope whatif` says what a faster one would bring, `borescope flame` shows where it "
        "is launched.");
  }
  return WaitingHelp(tables);
}

// A kernel most of whose time is in one to three launches. Collectives have a finding of their own.
std::optional<Finding> FewLaunches(const SummaryTables& tables, const FewOfMany& few,
                                   const std::string& evidence) {
  const int64_t all = SumOf(tables.kernels, "total_ns");
  const bool is_said =
      Texts(tables.kernels, "class")[0] == KernelClassName(KernelClass::kCollective) &&
      FewCollectives(tables).has_value();
  if (is_said || ShareOf(few.ns, all) < kFewLaunches) {
    return std::nullopt;
  }
  return Finding{
      "A few launches take a large part of the kernel time",
      "info",
      fmt::format("{}; {}", evidence, few.Words(tables, "launches")),
      ShareOf(few.ns, all),
      "share",
      HasTimeline(tables)
          ? "The other launches of this kernel are much shorter: these had more to do, waited, "
            "or were disturbed. `borescope variability` compares launches of one size; --begin "
            "and --end leave them out."
          : "The other launches of this kernel are much shorter: these had more to do. `borescope "
            "counters` has the size and the counters of each.",
      few.ns,
      Lever::kNone,
      few.place};
}

std::optional<Finding> DominantKernel(const SummaryTables& tables) {
  if (tables.kernels.rows() == 0) {
    return std::nullopt;
  }
  const int64_t total = Ints(tables.kernels, "total_ns")[0];
  const int64_t all = SumOf(tables.kernels, "total_ns");
  if (ShareOf(total, all) < kDominantKernel) {
    return std::nullopt;
  }
  const std::string& name = Texts(tables.kernels, "name")[0];
  const std::string evidence = fmt::format(
      "{} ({}): {}, {}", Shorten(name), Texts(tables.kernels, "class")[0], PartOf(total, all),
      FormatCount(Ints(tables.kernels, "count")[0], "launch", "launches"));
  if (std::optional<FewOfMany> few = FindFewOfMany(tables, kKernelPlace, name)) {
    few->name.clear();  // it is said already
    return FewLaunches(tables, *few, evidence);
  }
  if (tables.kernels.rows() == 1) {
    return std::nullopt;  // the only one has all of it
  }
  return Finding{"One kernel takes a large part of the kernel time",
                 "info",
                 evidence,
                 ShareOf(total, all),
                 "share",
                 DominantHelp(tables),
                 total,
                 Lever::kKernel,
                 PlaceOfKernel(tables, name)};
}

std::optional<Finding> ShortKernels(const SummaryTables& tables) {
  const int64_t short_ns = SumOf(tables.overview, &OverviewRow::short_kernel_time_ns);
  const int64_t all_ns = SumOf(tables.overview, &OverviewRow::kernel_time_ns);
  const bool are_many = SumOf(tables.overview, &OverviewRow::short_kernels) >= kManyKernels;
  if (!are_many || ShareOf(short_ns, all_ns) < kShortKernels || !MostKernelsAreShort(tables)) {
    return std::nullopt;
  }
  return Finding{
      "Many short kernels",
      "info",
      fmt::format("{} of {} kernels are shorter than 10 us and take {} of kernel time",
                  FormatCount(SumOf(tables.overview, &OverviewRow::short_kernels)),
                  FormatCount(SumOf(tables.overview, &OverviewRow::kernels)),
                  PartOf(short_ns, all_ns)),
      ShareOf(short_ns, all_ns),
      "share",
      (IsMostlyGraphs(tables)
           ? std::string("Fused kernels save memory traffic, and the time between the kernels of a "
                         "graph.")
           : AdviceFor(tables,
                       "Fusion (torch.compile) and CUDA graphs save launches and memory traffic.",
                       "Fused kernels save memory traffic, and CUDA or HIP graphs launches.")) +
          " `borescope kernels` lists them.",
      short_ns};
}

// Compares calls whose bytes are known with the bandwidth of their devices.
std::optional<Finding> MemoryBound(const SummaryTables& tables) {
  const std::optional<double> share = MemoryBoundShare(tables);
  if (!share.has_value()) {
    return std::nullopt;
  }
  const Table& table = tables.memory_bound;
  const IntValues& op_ns = Ints(table, "op_ns");
  const auto most =
      static_cast<size_t>(std::max_element(op_ns.begin(), op_ns.end()) - op_ns.begin());
  const int64_t bound_ns = SumOf(table, "memory_bound_ns");
  return Finding{
      "Kernels are bound by memory bandwidth",
      "info",
      fmt::format(
          "{}, most in {}; they move at least {:.0f} GB/s of {:.0f}; {:.0f} % of the kernel "
          "time is modelled",
          PartOf(bound_ns, ObservedSpan(tables)), Shorten(Texts(table, "op")[most]),
          ShareOf(SumOf(table, "bytes"), SumOf(table, "calls_ns")),
          Floats(table, "peak_gbps")[most],
          100 * ShareOf(SumOf(table, "modelled_ns"), SumOf(table, "kernel_ns"))),
      *share,
      "share",
      AdviceFor(tables,
                "Only moving less makes them faster: fuse element-wise operators (torch.compile), "
                "smaller types, fewer copies.",
                "Only moving less makes them faster: fused kernels, smaller types, fewer copies.") +
          " `borescope roofline` compares every operator with the device, and with counters "
          "(`borescope counters --help`) what it moves with what it must.",
      bound_ns};
}

// Operators whose kernels, by counters of another run, did more or other work than their models
// say.
std::optional<Finding> MoreWorkThanModelled(const SummaryTables& tables) {
  constexpr double kWorthWords = 0.05;  // of the kernel time
  int64_t all_ns = 0;
  int64_t differing_ns = 0;
  const CountedOpRow* most = nullptr;
  for (const CountedOpRow& row : tables.counted_ops) {
    AddSaturatingTo(all_ns, row.total_ns);
    const std::string_view flops = row.flops_verdict.value_or("");
    const std::string_view bytes = row.bytes_verdict.value_or("");
    if (flops != "more work" && bytes != "more traffic") continue;
    AddSaturatingTo(differing_ns, row.total_ns);
    if (most == nullptr || row.total_ns > most->total_ns) most = &row;
  }
  if (most == nullptr || ShareOf(differing_ns, all_ns) < kWorthWords) return std::nullopt;
  const bool is_traffic = most->bytes_verdict == "more traffic" && most->read_ratio.has_value();
  const double ratio = is_traffic ? *most->read_ratio : most->flops_ratio.value_or(0);
  return Finding{
      "Hardware does more work than the model",
      "info",
      fmt::format("{}, most in {}, which by counters {} {:.2f} times {}",
                  PartOf(differing_ns, all_ns), Shorten(most->op),
                  is_traffic ? "reads" : "computes", ratio,
                  is_traffic ? "the bytes it must" : "the FLOPs of its model"),
      ShareOf(differing_ns, all_ns),
      "share",
      "Tiles that are read again, several passes, padding: `borescope counters` with the "
      "report compares every operator with its model.",
      0};
}

// ---- Steps and ranks ----

// Kernels that become slower for good, on any device.

constexpr double kSlowerWord = 0.05;  // of the span, of all devices

// The device where it costs most; nullptr: it is none, or costs too little.
const SlowerRow* MostSlower(const SummaryTables& tables) {
  const auto most = std::max_element(
      tables.slower.begin(), tables.slower.end(),
      [](const SlowerRow& a, const SlowerRow& b) { return a.lost_ns < b.lost_ns; });
  const double share = ShareOf(SumOf(tables.slower, &SlowerRow::lost_ns), ObservedSpan(tables));
  return most == tables.slower.end() || share < kSlowerWord ? nullptr : &*most;
}

int64_t CountDevices(const SummaryTables& tables) {
  return static_cast<int64_t>(tables.idle_causes.rows());  // without those that are hardly used
}

std::optional<Finding> SlowerFromThen(const SummaryTables& tables) {
  const SlowerRow* const most = MostSlower(tables);
  if (most == nullptr) {
    return std::nullopt;
  }
  const int64_t lost_ns = SumOf(tables.slower, &SlowerRow::lost_ns);
  const double share = ShareOf(lost_ns, ObservedSpan(tables));
  const int64_t devices = CountDevices(tables);
  int64_t begin_ns = 0;
  for (const OverviewRow& row : tables.overview) {
    begin_ns = row.rank == most->rank ? row.recording_begin_ns : begin_ns;
  }
  return Finding{
      "The same kernels become slower",
      SeverityOfShare(share),
      fmt::format("from {} on they take {:.2f} times as long{}, those of the same sizes compared "
                  "({}, {} of their time); at the speed of before {} would be saved",
                  Offset(SubtractSaturating(most->from_ns, begin_ns)), most->ratio,
                  devices == 1 ? ""
                               : fmt::format(" on rank {}, GPU {}, and become slower on {} of {} "
                                             "devices",
                                             most->rank, most->gpu.value_or(0),
                                             tables.slower.size(), devices),
                  FormatCount(most->launches, "launch", "launches"),
                  FormatShare(ShareOf(most->compared_ns, most->all_ns)),
                  PartOf(lost_ns, ObservedSpan(tables))),
      share,
      "share",
      "Nothing else that was recorded of these kernels changed. Clocks that fall for heat or power "
      "look like this, and so does another program on the device: while it runs, `nvidia-smi -q -d "
      "PERFORMANCE,CLOCK` (AMD: `rocm-smi --showclocks --showpower`) says what clocks are, and "
      "which limit holds them. Compare speeds at one temperature: warm up long enough, or fix the "
      "clocks. `borescope variability` has each kernel.",
      lost_ns,
      Lever::kNone,
      {.rank = most->rank,
       .gpu = most->gpu.value_or(kMissing),
       .begin_ns = most->from_ns,
       .end_ns = most->end_ns}};
}

// Whether a step of a rank is as much longer as its kernels are from some time on.
bool IsOfSlowerKernels(const SummaryTables& tables, int64_t rank, double ratio,
                       const FindingPlace& step) {
  constexpr double kAboutAsMuch = 1.1;
  return SlowerFromThen(tables).has_value() &&
         std::any_of(tables.slower.begin(), tables.slower.end(), [&](const SlowerRow& row) {
           return row.rank == rank && ratio <= kAboutAsMuch * row.ratio &&
                  step.end_ns > row.from_ns;
         });
}

std::optional<Finding> StepSpread(const SummaryTables& tables) {
  const StepSpreadRow* worst = nullptr;
  double ratio = kStepSpread;
  for (const StepSpreadRow& row : tables.step_spread) {
    const double here = ShareOf(row.max_ns, row.median_ns);
    if (row.steps >= 3 && here >= ratio) {
      ratio = here;
      worst = &row;
    }
  }
  if (worst == nullptr) {
    return std::nullopt;
  }
  const int64_t rank = worst->rank;
  const int64_t slowest = worst->slowest_step;
  if (IsOfSlowerKernels(tables, rank, ratio, PlaceOfStep(tables, rank, worst->process, slowest))) {
    return std::nullopt;
  }
  std::string evidence =
      fmt::format("step {} of {}rank {} takes {}, {:.2f} x the median of {}", slowest,
                  worst->process ? fmt::format("process {} of ", *worst->process) : "", rank,
                  FormatTime(worst->max_ns), ratio, FormatTime(worst->median_ns));
  const std::optional<LongSteps> few = FindLongSteps(tables, rank, worst->process);
  if (few) {
    evidence +=
        fmt::format("; {} of {} {} {} of what all take beyond it", few->steps, few->of_steps,
                    few->steps == 1 ? "takes" : "take", FormatShare(few->share));
  }
  return Finding{
      few ? "A few steps take much longer than the others" : "Steps differ in length",
      "info",
      std::move(evidence),
      ratio,
      "ratio",
      few ? fmt::format(
                "Look at that step alone: `borescope idle --step {0}`, `borescope ops "
                "--step {0}`. What happens in few steps (warm-up, a checkpoint, a log) is no "
                "pattern of the others.",
                slowest)
          : "Compare them: `borescope breakdown --by step`, `borescope ops --by step`. A slow "
            "first step is often warm-up: profile later.",
      worst->above_median_ns,
      Lever::kNone,
      PlaceOfStep(tables, rank, worst->process, slowest)};
}

// The steps of processes that may use a device, and those of them in which none was given work.
struct IdleSteps {
  int64_t steps = 0;
  int64_t without = 0;
  FindingPlace first;

  double share() const { return ShareOf(without, steps); }
};

// By the launches of whole recordings: what is selected says nothing about the rest.
IdleSteps FindIdleSteps(const SummaryTables& tables) {
  if (tables.selects) {
    return {};
  }
  std::map<std::tuple<int64_t, int64_t, std::string_view>, std::pair<int64_t, const StepRow*>>
      works;
  for (const StepRow& row : tables.steps) {
    if (row.gpu && row.step) {
      auto& [count, first] =
          works.try_emplace({row.rank, row.begin_ns, row.name}, 0, &row).first->second;
      AddSaturatingTo(count, row.kernels);
      AddSaturatingTo(count, row.copies);
    }
  }
  IdleSteps found;
  for (const auto& [step, work] : works) {
    ++found.steps;
    if (work.first == 0 && found.without++ == 0) {
      found.first =
          PlaceOfStep(tables, work.second->rank, work.second->process, *work.second->step);
    }
  }
  return found.without < found.steps && found.share() >= kIdleSteps ? found : IdleSteps();
}

std::optional<Finding> StepsWithoutWork(const SummaryTables& tables) {
  const IdleSteps found = FindIdleSteps(tables);
  if (found.without == 0) {
    return std::nullopt;
  }
  return Finding{"Steps without device work",
                 found.share() >= kMostSteps && found.steps >= kManySteps ? "warning" : "info",
                 fmt::format("nothing was launched in {} of {} steps", found.without, found.steps),
                 found.share(),
                 "share",
                 "Either these steps do nothing on a device, or their launches were not recorded, "
                 "or steps are not marked where they are: sums and shares are about the others. "
                 "`borescope steps` shows each.",
                 0,
                 Lever::kNone,
                 found.first};
}

// ---- When there is nothing to say about cost ----

// A recording that could hold no device work at all, which no check misses.
Finding MemoryOnly(const SummaryTables& tables) {
  return Finding{"Only memory over time was recorded",
                 "info",
                 fmt::format("memory over {}, 0 host events, 0 kernels, memcpys and memsets",
                             FormatTime(SumOf(tables.overview, &OverviewRow::span_ns))),
                 0,
                 "count",
                 "`borescope memory` shows the peak, and what it consists of.",
                 0};
}

std::optional<Finding> NoDeviceWork(const SummaryTables& tables) {
  if (SumOf(tables.overview, &OverviewRow::device_events) > 0) {
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
                  FormatCount(SumOf(tables.overview, &OverviewRow::host_events), "host event",
                              "host events")),
      0,
      "count",
      tables.selects ? "`borescope info` shows what was recorded: select more of it."
                     : *help + " `borescope info` shows what was recorded.",
      0};
}

// Whether one to three of many launches of the costliest kernel are most of what the device did:
// what they show is no habit of the program.
bool RestsOnFewLaunches(const SummaryTables& tables, int64_t compute_ns) {
  if (tables.kernels.rows() == 0) {
    return false;
  }
  const std::optional<FewOfMany> few =
      FindFewOfMany(tables, kKernelPlace, Texts(tables.kernels, "name")[0]);
  return few.has_value() && ShareOf(few->ns, compute_ns) > kMostOfCompute;
}

std::optional<Finding> WellUsed(const SummaryTables& tables) {
  if (tables.breakdown.rows() == 0) {
    return std::nullopt;  // no device was observed over time, as in a report of counters
  }
  const int64_t span = ObservedSpan(tables);
  if (span <= 0) {
    return std::nullopt;  // nothing that could be used
  }
  const int64_t compute = SumOf(tables.breakdown, "compute_ns");
  const RecordingCost cost = FindRecordingCost(tables);
  const TrueShare share = ShareWithoutRecording(cost, compute, span, 0);
  if (share.estimate < 1 - kIdleWarning || FindIdleSteps(tables).without > 0 ||
      RestsOnFewLaunches(tables, compute)) {
    return std::nullopt;
  }
  return Finding{"The device is well used",
                 "ok",
                 "computing " + PartOf(compute, span) + WordsOfTrueShare(cost, share) +
                     FindLeftOut(tables).Words(),
                 share.estimate,
                 "share",
                 "What is left to gain is in the kernels themselves: `borescope kernels`.",
                 compute};
}

constexpr Rule kTimeRules[] = {NoDeviceWork, FewCollectives,   ExposedCommunication,
                               FewCopies,    ExposedCopies,    SlowerFromThen,
                               StepSpread,   StepsWithoutWork, DominantKernel,
                               ShortKernels, MemoryBound,      MoreWorkThanModelled,
                               WellUsed};

}  // namespace

std::optional<double> MemoryBoundShare(const SummaryTables& tables) {
  const Table& table = tables.memory_bound;
  const TimeCovered modelled{SumOf(table, "modelled_ns"), SumOf(table, "kernel_ns")};
  const double share = ShareOf(SumOf(table, "memory_bound_ns"), ObservedSpan(tables));
  return modelled.is_enough() && share >= kMemoryBoundWord ? std::optional(share) : std::nullopt;
}

std::span<const Rule> TimeRules() { return kTimeRules; }

namespace {

// What a program that generates text does: one line of the phases in which it is, where annotations
// or shapes say which these are. It is about no fault: other rules say what lets the device idle.

// A number as a whole one; a corrupt recording may hold more than fits.
int64_t Rounded(double value) {
  constexpr double kMost = 9e18;
  return std::llround(std::min(value, kMost));
}

// Whether a row is about a phase that is certain: work outside of steps has none, and what follows
// from a graph alone is inferred.
bool IsCertain(const InferencePhaseRow& row) {
  return row.known_by.has_value() && row.known_by != "graph";
}

// The first rank that decodes, else the first with a phase: ranks of one model have the same steps.
std::optional<int64_t> RankToTell(const std::vector<InferencePhaseRow>& phases) {
  std::optional<int64_t> found;
  for (const InferencePhaseRow& row : phases) {
    if (IsCertain(row) && row.phase == "decode") {
      return row.rank;
    }
    if (IsCertain(row) && !found) {
      found = row.rank;
    }
  }
  return found;
}

// "decode: 412 steps of 37 requests, 10.8 ms a token, 3,426 tokens/s, 8.7 % idle"
std::string WordsOfPhase(const InferencePhaseRow& row) {
  std::string words = fmt::format("{}: {}", row.phase, FormatCount(row.steps, "step", "steps"));
  if (row.requests) {
    words += " of " + FormatCount(Rounded(*row.requests), "request", "requests");
  }
  if (row.token_ns) {
    words += fmt::format(", {} a token", FormatTime(Rounded(*row.token_ns)));
  }
  if (row.tokens_per_second) {
    words += fmt::format(", {} tokens/s", FormatCount(Rounded(*row.tokens_per_second)));
  }
  if (row.busy) {
    words += fmt::format(", {} idle", FormatShare(std::max(0.0, 1 - *row.busy)));
  }
  return words;
}

std::optional<Finding> PhasesOfInference(const SummaryTables& tables) {
  const std::optional<int64_t> rank = RankToTell(tables.phases);
  if (!rank.has_value()) {
    return std::nullopt;
  }
  std::string evidence;
  std::optional<double> idle;  // of decode steps, else of the first phase with periods
  bool is_of_decode = false;
  for (const InferencePhaseRow& row : tables.phases) {
    if (row.rank != *rank || !IsCertain(row)) {
      continue;
    }
    evidence += (evidence.empty() ? "" : "; ") + WordsOfPhase(row);
    const bool is_decode = row.phase == "decode";
    if (row.busy && !is_of_decode && (is_decode || !idle.has_value())) {
      idle = std::max(0.0, 1 - *row.busy);
      is_of_decode = is_decode;
    }
  }
  if (!idle.has_value()) {
    return std::nullopt;  // single steps, of which nothing shows how long they take
  }
  const bool has_ranks = tables.overview.size() > 1;
  return Finding{has_ranks ? fmt::format("Inference, phases of rank {}", *rank)
                           : std::string("Inference, by phases"),
                 "info",
                 std::move(evidence),
                 *idle,
                 "share",
                 "`borescope inference` has every step, what each phase spends its time on, and "
                 "how long decoding waits for prefill. Times are as recorded, with what the "
                 "profiler costs.",
                 0,
                 Lever::kNone,
                 {.rank = *rank}};
}

constexpr Rule kPhaseRules[] = {PhasesOfInference};

}  // namespace

std::span<const Rule> PhaseRules() { return kPhaseRules; }

}  // namespace borescope::internal
