// Findings about causes that have a name in the program (named_causes.h), each with what to change.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/analysis/verbs/summary/named_causes.h"
#include "borescope/analysis/verbs/summary/prices.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/summary/verdict.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

// Shares from which a cause is worth a word, and a warning.
constexpr double kProductsWord = 0.05;
constexpr double kProductsWarning = 0.30;
constexpr double kAllocationWord = 0.05;
// Of so many steps, one that has so much of the cost is no rule.
constexpr int64_t kStepsToCompare = 3;
constexpr double kMostOfIt = 0.9;
// One pause of more than so much of the time of all is no pattern.
constexpr double kMostOfPauses = 0.5;
constexpr int64_t kManyPauses = 4;
// An optimizer that launches so often in a step, and so large a part of all launches.
constexpr int64_t kManyLaunches = 100;
constexpr double kOptimizerLaunchShare = 0.25;
// Products of 32-bit numbers take at most so much of their time on matrix units: what is at stake.
constexpr double kWonByTf32 = 0.5;

// What all ranks have of one cause.
struct CauseSum {
  int64_t count = 0;
  int64_t ns = 0;
  int64_t idle_ns = 0;
  int64_t of_ns = 0;
  int64_t others = 0;
  int64_t steps = 0;
  int64_t one_step_ns = 0;  // of `ns`
  int64_t sync_ns = 0;      // of `idle_ns`, of that cause
  int64_t longest_ns = 0;   // what costs most on each rank, together
  size_t dearest = 0;       // row

  double share() const { return ShareOf(ns, of_ns); }
  int64_t per_step() const { return steps == 0 ? count : count / steps; }
};

// With `and_cause`, of two of them.
std::optional<CauseSum> SumOfCause(const SummaryTables& tables, std::string_view cause,
                                   std::string_view and_cause = {}) {
  const Table& table = tables.named_causes;
  std::optional<CauseSum> sum;
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string& of = Texts(table, "cause")[row];
    if (of != cause && (and_cause.empty() || of != and_cause)) {
      continue;
    }
    if (!sum.has_value()) {
      sum = CauseSum{.dearest = row};
    }
    AddSaturatingTo(sum->count, Ints(table, "count")[row]);
    AddSaturatingTo(sum->ns, Ints(table, "ns")[row]);
    AddSaturatingTo(sum->idle_ns, Ints(table, "idle_ns")[row]);
    AddSaturatingTo(sum->of_ns, Ints(table, "of_ns")[row]);
    AddSaturatingTo(sum->others, Ints(table, "others")[row]);
    AddSaturatingTo(sum->steps, Ints(table, "steps")[row]);
    AddSaturatingTo(sum->one_step_ns, Ints(table, "one_step_ns")[row]);
    AddSaturatingTo(sum->sync_ns, Ints(table, "sync_ns")[row]);
    AddSaturatingTo(sum->longest_ns,
                    SubtractSaturating(Ints(table, "end_ns")[row], Ints(table, "begin_ns")[row]));
    if (Ints(table, "ns")[row] > Ints(table, "ns")[sum->dearest]) {
      sum->dearest = row;
    }
  }
  return sum;
}

FindingPlace PlaceOf(const SummaryTables& tables, size_t row) {
  const Table& table = tables.named_causes;
  return {.rank = Ints(table, "rank")[row],
          .gpu = CellOrMissing(table, "gpu", row),
          .begin_ns = Ints(table, "begin_ns")[row],
          .end_ns = Ints(table, "end_ns")[row]};
}

std::string_view NameOf(const SummaryTables& tables, const CauseSum& sum) {
  return Texts(tables.named_causes, "name")[sum.dearest];
}

// " (392 a step)"; nothing without steps.
std::string PerStep(const CauseSum& sum) {
  return sum.steps == 0 ? "" : fmt::format(" ({} a step)", FormatCount(sum.per_step()));
}

std::optional<Finding> Fp32Products(const SummaryTables& tables) {
  const std::optional<CauseSum> sum = SumOfCause(tables, kFp32Products);
  const int64_t span_ns = ObservedSpan(tables);
  if (!sum.has_value() || ShareOf(sum->ns, span_ns) < kProductsWord) {
    return std::nullopt;
  }
  const double share = ShareOf(sum->ns, span_ns);
  return Finding{
      "Products of matrices run without tensor cores",
      share >= kProductsWarning ? "warning" : "info",
      fmt::format("32-bit products on vector units: {}; {}, most in {}", PartOf(sum->ns, span_ns),
                  FormatCount(sum->count, "kernel", "kernels"), Shorten(NameOf(tables, *sum))),
      share,
      "share",
      AdviceFor(tables,
                "The device multiplies TF32 and 16-bit numbers on tensor cores many times faster: "
                "torch.set_float32_matmul_precision(\"high\") (and torch.backends.cudnn.allow_tf32 "
                "for convolutions), or autocast to bfloat16.",
                "The device multiplies TF32 and 16-bit numbers on tensor cores many times faster: "
                "allow TF32 in the library that multiplies, or use 16-bit numbers.") +
          (HasTimeline(tables)
               ? " `borescope whatif --scale class:gemm=0.33` says what a step would take."
               : ""),
      TruncateSaturating(static_cast<double>(sum->ns) * kWonByTf32),
      Lever::kTensorCores,
      PlaceOf(tables, sum->dearest)};
}

std::optional<Finding> Allocation(const SummaryTables& tables) {
  const std::optional<CauseSum> sum = SumOfCause(tables, kAllocation);
  const int64_t span_ns = ObservedSpan(tables);
  const double idle = sum.has_value() ? ShareOf(sum->idle_ns, span_ns) : 0;
  // While the device works it costs nothing; and without steps nothing shows whether it is more
  // than the start of the program.
  if (!sum.has_value() || sum->steps == 0 || sum->share() < kAllocationWord ||
      idle < kIdleWord / 2) {
    return std::nullopt;
  }
  // Without the calls a step cannot be shorter than its device work: what they take beyond all
  // idle time is hidden.
  const int64_t all_idle_ns =
      SubtractSaturating(SumOf(tables.breakdown, "idle_ns"), FindLeftOut(tables).all_ns());
  const int64_t host_ns = TruncateSaturating(sum->share() * static_cast<double>(span_ns));
  const bool is_hidden = host_ns > all_idle_ns;
  // The calls take as long without the profiler, and the steps less.
  const RecordingCost cost = FindRecordingCost(tables);
  const TrueShare share = ShareWithoutRecording(cost, std::min(host_ns, all_idle_ns), span_ns, 0);
  const bool is_once =
      sum->steps >= kStepsToCompare && ShareOf(sum->one_step_ns, sum->ns) >= kMostOfIt;
  return Finding{
      is_once ? "One step allocates memory" : "Memory is allocated and freed in the steps",
      SeverityOfShare(share.recorded),
      fmt::format("{} of the steps{}, in {}{}, most in {}; the device idles for {} meanwhile{}",
                  PartOf(sum->ns, sum->of_ns), is_hidden ? "" : WordsOfTrueShare(cost, share),
                  FormatCount(sum->count, "call", "calls"),
                  is_once ? fmt::format(", {} of it in one of {}",
                                        FormatShare(ShareOf(sum->one_step_ns, sum->ns)),
                                        FormatCount(sum->steps, "step", "steps"))
                          : PerStep(*sum),
                  NameOf(tables, *sum), FormatTime(sum->idle_ns),
                  is_hidden ? fmt::format(", and for {} in all, which is the most that can be won",
                                          PartOf(all_idle_ns, span_ns))
                            : ""),
      share.estimate,
      "share",
      is_once ? AdviceFor(tables,
                          "A program allocates in its first steps what later ones reuse: record "
                          "after some steps of warm-up (schedule=torch.profiler.schedule(wait=5, "
                          "warmup=1, active=3)). Where it is not the first one, see what that step "
                          "does that others do not, such as an evaluation or another shape.",
                          "Programs allocate in their first steps what later ones reuse: record "
                          "after some of them.") +
                    " `borescope steps` compares the steps."
              : AdviceFor(tables,
                          "Steps should reuse memory: no torch.cuda.empty_cache() in the loop; "
                          "where the allocator frees and allocates as memory is short, smaller "
                          "batches or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
                          "Allocate once and reuse, or allocate in the order of a stream "
                          "(cudaMallocAsync, hipMallocAsync).") +
                    " `borescope ops --by step` shows the operators around the calls.",
      std::max(sum->idle_ns, int64_t{1}),
      is_once ? Lever::kNone : Lever::kNoAllocation,
      PlaceOf(tables, sum->dearest)};
}

// Ranges in which XLA, the compiler of JAX and TensorFlow, works.
bool IsOfXlaCompiler(std::string_view name) {
  constexpr std::string_view kParts[] = {"XlaCompile",  "XlaPass",         "XlaEmit",
                                         "XlaOptimize", "XlaAutotun",      "BackendCompile",
                                         "HloPass",     "backend_compile", "GpuCompiler"};
  return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

// Whether the host was busy, or waited for something to do, nothing says.
std::optional<Finding> NothingRecorded(const SummaryTables& tables) {
  const std::optional<CauseSum> sum = SumOfCause(tables, kNothingRecorded);
  const int64_t span_ns = ObservedSpan(tables);
  // Up to three are a few of many, and one that is most of it is the finding about one long gap.
  if (!sum.has_value() || sum->count < kManyPauses ||
      ShareOf(sum->longest_ns, sum->ns) > kMostOfPauses || ShareOf(sum->ns, span_ns) < kIdleWord) {
    return std::nullopt;
  }
  const double share = ShareOf(sum->ns, span_ns);
  return Finding{
      "The device idles while nothing was recorded",
      SeverityOfShare(share),
      fmt::format("idle {} in {} of 1 ms or more in which no thread was in an operator, a range or "
                  "a call; most before {}{}",
                  PartOf(sum->ns, span_ns), FormatCount(sum->count, "pause", "pauses"),
                  Shorten(NameOf(tables, *sum)),
                  sum->sync_ns == 0 ? ""
                                    : fmt::format("; {} of it after the host had waited for the "
                                                  "device",
                                                  FormatTime(sum->sync_ns))),
      share,
      "share",
      AdviceFor(tables,
                "Nothing shows that the host was busy. A server without a request waits for one: "
                "then more requests at once, or fewer devices, use a device better. Else it is "
                "code outside of operators and ranges, such as garbage collection, logging or a "
                "checkpoint: record with with_stack=True, or mark requests and steps with "
                "record_function, to see which. What it does after a wait for the device would "
                "cost nothing if it did not wait.",
                "Nothing shows that the host was busy. A server without a request waits for one: "
                "then more requests at once, or fewer devices, use a device better. Else it is "
                "code without any recorded call: mark it with ranges (NVTX, roctx), or sample "
                "stacks, to see which.") +
          " `borescope gaps` shows which work follows.",
      sum->ns,
      Lever::kNone,
      PlaceOf(tables, sum->dearest)};
}

// What is outside of all events is of the finding about that, where there is one.
std::optional<Finding> SilentHost(const SummaryTables& tables) {
  const std::optional<CauseSum> sum =
      SumOfCause(tables, kSilentHost, NothingRecorded(tables) ? "" : kSilentOutside);
  const int64_t span_ns = ObservedSpan(tables);
  // A single pause is the finding about one long gap.
  if (!sum.has_value() || sum->count < 2 || ShareOf(sum->ns, span_ns) < kIdleWord) {
    return std::nullopt;
  }
  const std::string_view name = NameOf(tables, *sum);
  const double share = ShareOf(sum->ns, span_ns);
  const bool compiles = IsOfXlaCompiler(name);
  return Finding{
      compiles ? "The device waits for a compiler"
               : "The host does something that was not recorded",
      SeverityOfShare(share),
      fmt::format("the device idles for {} in {} of 50 ms or more in which a thread that launches "
                  "its work recorded nothing{}",
                  PartOf(sum->ns, span_ns), FormatCount(sum->count, "pause", "pauses"),
                  name.empty() ? "" : fmt::format(", most in {}", Shorten(name))),
      share,
      "share",
      (compiles
           ? std::string(
                 "XLA compiles the program, and tries kernels: record after the first calls, "
                 "which compile, and give functions the same shapes in all others. A folder in "
                 "jax_compilation_cache_dir keeps compiled programs for the next start.")
           : AdviceFor(
                 tables,
                 "Garbage collection, logging, checkpoints or other Python code between operators: "
                 "record with with_stack=True, or with --python of borescope record, to see which. "
                 "gc.freeze() and gc.disable() with gc.collect() at chosen steps avoid pauses of "
                 "the collector.",
                 "Code without any recorded call: mark it with ranges (NVTX, roctx), or sample "
                 "stacks, to see which.")) +
          " `borescope gaps` shows which work follows.",
      sum->ns,
      Lever::kNone,
      PlaceOf(tables, sum->dearest)};
}

std::optional<Finding> OptimizerLaunches(const SummaryTables& tables) {
  const std::optional<CauseSum> sum = SumOfCause(tables, kOptimizerLaunches);
  const int64_t span_ns = ObservedSpan(tables);
  if (!sum.has_value() || sum->per_step() < kManyLaunches ||
      ShareOf(sum->count, sum->others) < kOptimizerLaunchShare ||
      ShareOf(sum->ns, span_ns) < kIdleWord) {
    return std::nullopt;
  }
  // Recording slows its launches as all others.
  const RecordingCost cost = FindRecordingCost(tables);
  const TrueShare share = ShareWithoutRecording(
      cost, sum->ns, span_ns, ShareOf(sum->ns, SumOf(tables.breakdown, "idle_ns")));
  return Finding{
      "The optimizer launches for each parameter by itself",
      SeverityOfShare(share.estimate),
      fmt::format("{}: {}{}, {} of all; the device idles for {} in it{}", NameOf(tables, *sum),
                  FormatCount(sum->count, "launch", "launches"), PerStep(*sum),
                  FormatShare(ShareOf(sum->count, sum->others)), PartOf(sum->ns, span_ns),
                  WordsOfTrueShare(cost, share)),
      share.estimate,
      "share",
      "Treat all parameters at once: fused=True, or foreach=True, in the constructor of the "
      "optimizer, or compile its step. `borescope launches` shows how long launches take.",
      sum->ns,
      Lever::kOptimizer,
      PlaceOf(tables, sum->dearest)};
}

std::optional<Finding> SilentOutside(const SummaryTables& tables) {
  return NothingRecorded(tables) ? std::nullopt : SilentHost(tables);
}

// " 40 times a step"; without steps how often in all.
std::string HowOften(const CauseSum& sum) {
  const int64_t times = sum.steps == 0 ? sum.count : (sum.count + sum.steps / 2) / sum.steps;
  return fmt::format("{}{}", FormatCount(times, "time", "times"), sum.steps == 0 ? "" : " a step");
}

constexpr Rule kCauseRules[] = {Fp32Products, Allocation, NothingRecorded, SilentHost,
                                OptimizerLaunches};

}  // namespace

int64_t IdleOfNamedCauses(const SummaryTables& tables, std::string_view column,
                          std::string_view cause) {
  struct OfRule {
    std::string_view cause;
    Rule rule;
  };
  constexpr OfRule kOfRules[] = {{kAllocation, Allocation},
                                 {kNothingRecorded, NothingRecorded},
                                 {kSilentHost, SilentHost},
                                 {kSilentOutside, SilentOutside},
                                 {kOptimizerLaunches, OptimizerLaunches}};
  int64_t ns = 0;
  for (const OfRule& of : kOfRules) {
    if ((cause.empty() || cause == of.cause) && of.rule(tables).has_value()) {
      const Table& table = tables.named_causes;
      for (size_t row = 0; row < table.rows(); ++row) {
        AddSaturatingTo(
            ns, Texts(table, "cause")[row] == of.cause ? Ints(table, column)[row] : int64_t{0});
      }
    }
  }
  return ns;
}

std::string WordsOfWaits(const SummaryTables& tables) {
  const std::optional<CauseSum> sum = SumOfCause(tables, kNamedWait);
  if (!sum.has_value()) {
    return "";
  }
  // The numbers are of the rank where it costs most.
  const Table& table = tables.named_causes;
  const CauseSum dearest{.count = Ints(table, "count")[sum->dearest],
                         .ns = Ints(table, "ns")[sum->dearest],
                         .steps = Ints(table, "steps")[sum->dearest]};
  return fmt::format("; most after {}, {}: {}", NameOf(tables, *sum),
                     dearest.count < dearest.steps ? "not in each step" : HowOften(dearest),
                     FormatTime(dearest.ns));
}

std::span<const Rule> CauseRules() { return kCauseRules; }

}  // namespace borescope::internal
