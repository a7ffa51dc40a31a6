#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/coverage.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/left_out.h"
#include "borescope/analysis/verbs/summary/verdict_rules.h"
#include "borescope/analysis/verbs/summary/verdict_words.h"
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
constexpr int64_t kManyKernels = 20;       // fewer are no pattern
constexpr double kMemoryBoundWord = 0.05;  // of the span
// By how much the longest step exceeds the median.
constexpr double kStepSpread = 1.2;

// ---- Exposed communication and copies ----

// Waiting for a late rank is not communication: that rank has a finding of its own.
std::optional<Finding> ExposedCommunication(const SummaryTables& tables) {
  const int64_t span = ObservedSpan(tables);
  const int64_t exposed = SumOf(tables.breakdown, "exposed_comm_ns");
  const int64_t comm = SumOf(tables.breakdown, "comm_ns");
  const int64_t waiting = LostToStraggler(tables);
  const int64_t own = SubtractSaturating(exposed, waiting);
  const double share = ShareOf(own, span);
  if (share < kExposedWord) {
    return std::nullopt;
  }
  const std::string without = waiting == 0 ? ""
                                           : fmt::format("; without waiting for one rank {} ({})",
                                                         FormatTime(own), FormatShare(share));
  return Finding{"Communication is not hidden behind compute",
                 share >= kExposedWarning ? "warning" : "info",
                 fmt::format("exposed {}{}; all communication {}", PartOf(exposed, span), without,
                             FormatTime(comm)),
                 share,
                 "share",
                 AdviceFor(tables,
                           "Overlap it: larger gradient buckets, prefetching (FSDP), asynchronous "
                           "collectives",
                           "Overlap it: asynchronous collectives on a stream of their own") +
                     "; a collective also lasts while it waits for the slowest rank. `borescope "
                     "overlap` shows how much of it is hidden.",
                 own,
                 Lever::kComm,
                 PlaceOfWork(tables, kExposedCommPlace)};
}

std::string CopiesHelp(const SummaryTables& tables, bool are_pageable) {
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
  const int64_t span = ObservedSpan(tables);
  const int64_t exposed = SumOf(tables.breakdown, "exposed_copy_ns");
  const double share = ShareOf(exposed, span);
  if (share < kExposedWord || tables.copies.rows() == 0) {
    return std::nullopt;
  }
  const std::string& name = Texts(tables.copies, "name")[0];
  return Finding{"Copies are not hidden behind compute",
                 share >= kExposedWarning ? "warning" : "info",
                 fmt::format("exposed {}; most in {}: {}, {}", PartOf(exposed, span), name,
                             FormatCount(Ints(tables.copies, "count")[0], "copy", "copies"),
                             FormatTime(Ints(tables.copies, "total_ns")[0])),
                 share,
                 "share",
                 CopiesHelp(tables, Contains(name, "Pageable")),
                 exposed,
                 Lever::kCopies,
                 PlaceOfWork(tables, kExposedCopyPlace)};
}

// ---- Kernels ----

std::string DominantHelp(const SummaryTables& tables) {
  if (Texts(tables.kernels, "class")[0] != KernelClassName(KernelClass::kCollective)) {
    return AdviceFor(
        tables,
        "`borescope whatif` says what a faster one would bring, `borescope kernels --by op` names "
        "the operator that launches it.",
        "`borescope whatif` says what a faster one would bring, `borescope flame` shows where it "
        "is launched.");
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
                 total,
                 Lever::kKernel,
                 PlaceOfWork(tables, kKernelPlace, Texts(tables.kernels, "name")[0])};
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
      AdviceFor(tables, "Fusion (torch.compile) and CUDA graphs save launches and memory traffic.",
                "Fused kernels save memory traffic, and CUDA or HIP graphs launches.") +
          " `borescope kernels` lists them.",
      short_ns};
}

// Of calls whose bytes are known, against the bandwidth of their devices.
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
          " `borescope roofline` compares every operator with the device.",
      bound_ns};
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
  return Finding{
      "Steps differ in length",
      "info",
      fmt::format("step {} of rank {} takes {} on the host, {:.2f} x the median of {}",
                  Ints(spread, "slowest_step")[worst], Ints(spread, "rank")[worst],
                  FormatTime(Ints(spread, "max_ns")[worst]), ratio,
                  FormatTime(Ints(spread, "median_ns")[worst])),
      ratio,
      "ratio",
      "Compare them: `borescope breakdown --by step`, `borescope ops --by step`. A slow "
      "first step is often warm-up: profile later.",
      Ints(spread, "above_median_ns")[worst],
      Lever::kNone,
      PlaceOfStep(tables, Ints(spread, "rank")[worst], Ints(spread, "slowest_step")[worst])};
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
      tables.selects ? "`borescope info` shows what was recorded: select more of it."
                     : *help + " `borescope info` shows what was recorded.",
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
                 "computing " + PartOf(compute, span) + FindLeftOut(tables).Words(),
                 ShareOf(compute, span),
                 "share",
                 "What is left to gain is in the kernels themselves: `borescope kernels`.",
                 compute};
}

constexpr Rule kTimeRules[] = {NoDeviceWork,   ExposedCommunication, ExposedCopies, StepSpread,
                               DominantKernel, ShortKernels,         MemoryBound,   WellUsed};

}  // namespace

std::optional<double> MemoryBoundShare(const SummaryTables& tables) {
  const Table& table = tables.memory_bound;
  const TimeCovered modelled{SumOf(table, "modelled_ns"), SumOf(table, "kernel_ns")};
  const double share = ShareOf(SumOf(table, "memory_bound_ns"), ObservedSpan(tables));
  return modelled.is_enough() && share >= kMemoryBoundWord ? std::optional(share) : std::nullopt;
}

std::span<const Rule> TimeRules() { return kTimeRules; }

}  // namespace borescope::internal
