// inference: what a program that generates text does: how long its steps take by phase, how many
// tokens they make, what the device does in them, and how long decoding waits for prefill. Steps
// and phases come from the annotations of servers, from expressions of the user's, or from
// operators that recur (inference_steps.h); a recording that shows no generation has no answer, and
// the message says why.
//
//   period         from completion to completion: from the begin of a step, or the end of all work
//                  launched before it, to the same of the next step
//   busy           union of the device work that the step launched, in this time
//   idle           period less busy
//   token          time for the next token of a request: the period of a decode step
//   tokens/s       tokens of the steps that have a period / the sum of these periods
//
// Device work of all phases, in no step, and without a recorded launch adds up to all device work.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/inference/inference_steps.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewSteps = 20;
constexpr double kNsPerSecond = 1e9;
constexpr double kLate = 0.99;
constexpr size_t kKnownBys = static_cast<size_t>(KnownBy::kGraph) + 1;

// Whether a step checks tokens that a draft proposed: how many are right is not recorded.
bool ChecksDrafts(const StepNotes& notes) {
  return notes.decode_requests != kMissing && notes.decode_requests > 0 &&
         notes.phase != InferencePhase::kMixed && notes.decode_tokens != notes.decode_requests;
}

// ---- Phases ----

struct PhaseSums {
  int64_t steps = 0;
  std::vector<int64_t> requests;
  std::vector<int64_t> periods;
  int64_t tokens = 0;       // of all steps; kMissing where one does not say
  int64_t paced_steps = 0;  // with a period, as the following
  int64_t paced_tokens = 0;
  int64_t paced_ns = 0;
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
  bool checks_drafts = false;
  KnownBy known_by = KnownBy::kAnnotation;
};

void AddKnown(int64_t& sum, int64_t value) {
  sum = sum == kMissing || value == kMissing ? kMissing : AddSaturating(sum, value);
}

int64_t IdleOf(const InferenceStep& step) {
  return step.period_ns - std::min(step.period_ns, step.work.busy_ns);
}

PhaseSums SumsOf(const InferenceSteps& found, InferencePhase phase) {
  PhaseSums sums;
  for (const InferenceStep& step : found.steps) {
    if (step.notes.phase != phase) {
      continue;
    }
    ++sums.steps;
    sums.known_by = step.known_by;
    AddKnown(sums.tokens, step.notes.tokens);
    sums.checks_drafts = sums.checks_drafts || ChecksDrafts(step.notes);
    if (step.notes.requests != kMissing) {
      sums.requests.push_back(step.notes.requests);
    }
    if (step.period_ns != kMissing) {
      ++sums.paced_steps;
      sums.periods.push_back(step.period_ns);
      AddKnown(sums.paced_tokens, step.notes.tokens);
      AddSaturatingTo(sums.paced_ns, step.period_ns);
      AddSaturatingTo(sums.busy_ns, step.work.busy_ns);
      AddSaturatingTo(sums.idle_ns, IdleOf(step));
    }
  }
  return sums;
}

struct PhaseRow {
  int64_t rank = 0;
  std::string_view phase = {};
  std::optional<KnownBy> known_by = {};
  std::optional<int64_t> steps = {};
  std::optional<double> requests = {};
  std::optional<int64_t> tokens = {};
  std::optional<double> period_ns = {};
  std::optional<double> p99_ns = {};
  std::optional<double> token_ns = {};
  std::optional<double> tokens_per_second = {};
  std::optional<double> busy = {};
  std::optional<int64_t> idle_ns = {};
  int64_t device_ns = 0;
  double share = 0;
  std::optional<double> graph = {};

  static constexpr TableNames kTable{"inference_phases", "Phases of inference"};
  static constexpr ColumnOf<PhaseRow> kColumns[] = {
      {"rank", &PhaseRow::rank, Role::kKey, kRankDoc},
      {"phase", &PhaseRow::phase, Role::kKey,
       "decode: each request gets its next token; prefill: prompts are read; mixed: both in "
       "one batch; other: steps that do not say; (no step): device work launched outside of "
       "steps; (no launch): its launch was not recorded."},
      {"known_by", EnumText<&PhaseRow::known_by, KnownByName, kKnownBys>(), Role::kDerived,
       "How the phase is known: annotation, of a server; pattern, of --phase-pattern; sequence, "
       "operators that recur, and their shapes; graph, inferred: a graph that reads a cache."},
      {"steps", &PhaseRow::steps, Unit::kCount, Role::kDerived, "Steps of the phase."},
      {"requests", &PhaseRow::requests, Role::kDerived,
       "Requests in a step, the median of those that say so."},
      {"tokens", &PhaseRow::tokens, Unit::kCount, Role::kDerived,
       "Tokens that all steps processed: of prompts, and one of each request that decodes, more "
       "where drafted ones are checked; missing where a step does not say."},
      {"period_ns", &PhaseRow::period_ns, Unit::kNanoseconds, Role::kDerived,
       "From completion to completion, the median: from the begin of a step, or the end of all "
       "work launched before it if that is later, to the same of the next; missing of the last "
       "step."},
      {"p99_ns", &PhaseRow::p99_ns, Unit::kNanoseconds, Role::kDerived,
       "99th percentile of the periods."},
      {"token_ns", &PhaseRow::token_ns, Unit::kNanoseconds, Role::kDerived,
       "Time for the next token of a request: the median period of decode steps; missing where "
       "these check drafted tokens, of which nobody knows how many are right."},
      {"tokens_per_second", &PhaseRow::tokens_per_second, Role::kDerived,
       "Tokens of the steps with a period / the sum of these periods; missing where tokens "
       "are, and of decode steps that check drafts."},
      {"busy", &PhaseRow::busy, Unit::kShare, Role::kDerived,
       "Time of the period in which work of the step runs on a device / period, of all steps with "
       "one."},
      {"idle_ns", &PhaseRow::idle_ns, Unit::kNanoseconds, Role::kDerived,
       "Sum over these steps of period less busy."},
      {"device_ns", &PhaseRow::device_ns, Unit::kNanoseconds, Role::kDerived,
       "Sum of the durations of the device work that all steps launched."},
      {"share", &PhaseRow::share, Unit::kShare, Role::kDerived,
       "Device time / all device work of the rank."},
      {"graph", &PhaseRow::graph, Unit::kShare, Role::kDerived,
       "Of the device time, what was launched as graphs."}};
};

// Missing of no values.
std::optional<double> QuantileOf(std::vector<int64_t> values, double quantile) {
  return values.empty() ? std::nullopt : std::optional(Quantile(std::span(values), quantile));
}

// Missing of nothing.
std::optional<double> MaybeShare(int64_t part, int64_t whole) {
  return whole == 0 ? std::nullopt : std::optional(ShareOf(part, whole));
}

double PerSecond(int64_t tokens, int64_t ns) {
  return static_cast<double>(tokens) / (static_cast<double>(ns) / kNsPerSecond);
}

// What the steps of a phase say, beside the work that they launched.
void AddStepSums(InferencePhase phase, const PhaseSums& sums, PhaseRow& row) {
  const bool checks_drafts = phase == InferencePhase::kDecode && sums.checks_drafts;
  row.known_by = sums.known_by;
  row.steps = sums.steps;
  row.requests = QuantileOf(sums.requests, 0.5);
  row.tokens = Recorded(sums.tokens);
  row.period_ns = QuantileOf(sums.periods, 0.5);
  row.p99_ns = QuantileOf(sums.periods, kLate);
  if (phase == InferencePhase::kDecode && !checks_drafts) row.token_ns = row.period_ns;
  if (sums.paced_steps > 0 && sums.paced_ns > 0 && sums.paced_tokens != kMissing &&
      !checks_drafts) {
    row.tokens_per_second = PerSecond(sums.paced_tokens, sums.paced_ns);
  }
  row.busy = MaybeShare(sums.busy_ns, sums.paced_ns);
  if (sums.paced_steps > 0) row.idle_ns = sums.idle_ns;
}

Table PhaseTable(const RankView& view, const InferenceSteps& found) {
  int64_t whole_ns = 0;
  for (const WorkSums& work : found.work) {
    AddSaturatingTo(whole_ns, work.device_ns);
  }
  std::vector<PhaseRow> rows;
  for (size_t i = 0; i < kPhaseRows; ++i) {
    const bool is_phase = i < kNoStepRow;
    const auto phase = static_cast<InferencePhase>(is_phase ? i : size_t{0});
    const PhaseSums sums = is_phase ? SumsOf(found, phase) : PhaseSums();
    const WorkSums& work = found.work[i];
    if (sums.steps == 0 && work.works == 0) {
      continue;
    }
    PhaseRow& row = rows.emplace_back(PhaseRow{.rank = view.rank,
                                               .phase = PhaseRowName(i),
                                               .device_ns = work.device_ns,
                                               .share = ShareOf(work.device_ns, whole_ns),
                                               .graph = MaybeShare(work.graph_ns, work.device_ns)});
    if (is_phase) AddStepSums(phase, sums, row);
  }
  return MakeTable(rows);
}

// ---- Steps ----

struct StepRow {
  int64_t rank = 0;
  int64_t step = 0;
  std::string_view phase = {};
  std::string_view known_by = {};
  std::optional<int64_t> requests = {};
  std::optional<int64_t> tokens = {};
  std::optional<int64_t> prefill_tokens = {};
  std::optional<int64_t> decode_requests = {};
  std::optional<int64_t> kv_tokens = {};
  int64_t begin_ns = 0;
  std::optional<int64_t> period_ns = {};
  int64_t busy_ns = 0;
  std::optional<int64_t> idle_ns = {};
  std::optional<double> tokens_per_second = {};
  int64_t works = 0;
  int64_t device_ns = 0;
  int64_t graph_ns = 0;
  std::optional<int64_t> device_span_ns = {};
  std::string_view name = {};

  static constexpr TableNames kTable{"inference_steps", "Steps of inference", kPreviewSteps};
  static constexpr ColumnOf<StepRow> kColumns[] = {
      {"rank", &StepRow::rank, Role::kKey, kRankDoc},
      {"step", &StepRow::step, Role::kKey, "Number of the step in its process, from 0."},
      {"phase", &StepRow::phase, Role::kDerived, "decode, prefill, mixed or other."},
      {"known_by", &StepRow::known_by, Role::kDerived,
       "How the phase is known, as in `inference_phases`."},
      {"requests", &StepRow::requests, Unit::kCount, Role::kDerived,
       "Requests in the batch; missing where unknown."},
      {"tokens", &StepRow::tokens, Unit::kCount, Role::kDerived,
       "Tokens that the step processes, for all requests."},
      {"prefill_tokens", &StepRow::prefill_tokens, Unit::kCount, Role::kDerived,
       "Of these, tokens of prompts."},
      {"decode_requests", &StepRow::decode_requests, Unit::kCount, Role::kDerived,
       "Requests that get their next token."},
      {"kv_tokens", &StepRow::kv_tokens, Unit::kCount, Role::kDerived,
       "Keys and values that the tokens attend to, of all requests, each layer and head alike."},
      {"begin_ns", &StepRow::begin_ns, Unit::kNanoseconds, Role::kDerived,
       "Begin of the step on the host, on the file's own clock."},
      {"period_ns", &StepRow::period_ns, Unit::kNanoseconds, Role::kDerived,
       "From completion to completion, as in `inference_phases`; missing of the last one."},
      {"busy_ns", &StepRow::busy_ns, Unit::kNanoseconds, Role::kDerived,
       "Time of the period in which work that the step launched runs on a device (union); of a "
       "step without a period of all time since the work launched before it ended."},
      {"idle_ns", &StepRow::idle_ns, Unit::kNanoseconds, Role::kDerived, "Period less busy."},
      {"tokens_per_second", &StepRow::tokens_per_second, Role::kDerived, "Tokens / period."},
      {"works", &StepRow::works, Unit::kCount, Role::kDerived,
       "Kernels, memcpys and memsets that the step launched."},
      {"device_ns", &StepRow::device_ns, Unit::kNanoseconds, Role::kDerived,
       "Sum of their durations."},
      {"graph_ns", &StepRow::graph_ns, Unit::kNanoseconds, Role::kDerived,
       "Of these, what was launched as graphs."},
      {"device_span_ns", &StepRow::device_span_ns, Unit::kNanoseconds, Role::kDerived,
       "From the first start to the last end of that work."},
      {"name", &StepRow::name, Role::kDerived,
       "Name of the annotation, operator or call with which the step begins."}};
};

StepRow RowOf(const RankView& view, const InferenceStep& step) {
  const StepNotes& notes = step.notes;
  const WorkSums& work = step.work;
  StepRow row{.rank = view.rank,
              .step = step.number,
              .phase = InferencePhaseName(notes.phase),
              .known_by = KnownByName(step.known_by),
              .requests = Recorded(notes.requests),
              .tokens = Recorded(notes.tokens),
              .prefill_tokens = Recorded(notes.prefill_tokens),
              .decode_requests = Recorded(notes.decode_requests),
              .kv_tokens = Recorded(notes.kv_tokens),
              .begin_ns = step.begin_ns,
              .period_ns = Recorded(step.period_ns),
              .busy_ns = work.busy_ns,
              .works = work.works,
              .device_ns = work.device_ns,
              .graph_ns = work.graph_ns,
              .name = view.trace.Name(step.event)};
  if (row.period_ns) row.idle_ns = IdleOf(step);
  if (row.period_ns && *row.period_ns > 0 && row.tokens && !ChecksDrafts(notes)) {
    row.tokens_per_second = PerSecond(*row.tokens, *row.period_ns);
  }
  if (work.works > 0) row.device_span_ns = SubtractSaturating(work.end_ns, work.begin_ns);
  return row;
}

Table StepTable(const RankView& view, const InferenceSteps& found) {
  std::vector<StepRow> rows;
  rows.reserve(found.steps.size());
  for (const InferenceStep& step : found.steps) {
    rows.push_back(RowOf(view, step));
  }
  return MakeTable(rows);
}

// ---- Parts ----

struct PartRow {
  int64_t rank = 0;
  std::string_view phase = {};
  std::string_view part = {};
  int64_t works = 0;
  int64_t device_ns = 0;
  std::optional<double> per_step_ns = {};
  double share = 0;

  static constexpr TableNames kTable{"inference_parts",
                                     "Device time of each phase by what it is for"};
  static constexpr ColumnOf<PartRow> kColumns[] = {
      {"rank", &PartRow::rank, Role::kKey, kRankDoc},
      {"phase", &PartRow::phase, Role::kKey, "As in `inference_phases`."},
      {"part", &PartRow::part, Role::kKey,
       "attention; moe: routing, permuting and products of experts, by their names or by "
       "an operator around them; gemm: other products; communication; sampling: choosing "
       "tokens; norm, pointwise, embedding, reduction, sort, copy and other: by the class of "
       "the kernel.",
       AsNames(Palette::kWork)},
      {"works", &PartRow::works, Unit::kCount, Role::kSum, "Kernels, memcpys and memsets."},
      {"device_ns", &PartRow::device_ns, Unit::kNanoseconds, Role::kSum, "Sum of their durations."},
      {"per_step_ns", &PartRow::per_step_ns, Unit::kNanoseconds, Role::kDerived,
       "Device time / steps."},
      {"share", &PartRow::share, Unit::kShare, Role::kDerived, "Device time / that of the phase."}};
};

Table PartTable(const RankView& view, const InferenceSteps& found) {
  std::vector<PartRow> rows;
  for (size_t i = 0; i < kPhaseRows; ++i) {
    std::vector<size_t> order;
    for (size_t part = 0; part < found.parts[i].size(); ++part) {
      if (found.parts[i][part].works > 0) {
        order.push_back(part);
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return found.parts[i][a].device_ns > found.parts[i][b].device_ns;
    });
    const int64_t steps =
        i < kNoStepRow ? SumsOf(found, static_cast<InferencePhase>(i)).steps : int64_t{0};
    for (const size_t part : order) {
      const PartSum& sum = found.parts[i][part];
      rows.push_back({.rank = view.rank,
                      .phase = PhaseRowName(i),
                      .part = WorkPartName(static_cast<WorkPart>(part)),
                      .works = sum.works,
                      .device_ns = sum.device_ns,
                      .per_step_ns = MaybeShare(sum.device_ns, steps),
                      .share = ShareOf(sum.device_ns, found.work[i].device_ns)});
    }
  }
  return MakeTable(rows);
}

// ---- Decoding waits for prefill ----

// Steps of one phase that held requests up.
struct Stall {
  int64_t steps = 0;
  int64_t requests = 0;  // of all these steps
  int64_t held_ns = 0;   // the steps beyond a decode step
  int64_t waited_ns = 0;

  void Add(int64_t held, int64_t late_ns) {
    ++steps;
    AddSaturatingTo(requests, held);
    AddSaturatingTo(held_ns, late_ns);
    int64_t product = 0;
    const bool is_too_large = __builtin_mul_overflow(held, late_ns, &product);
    AddSaturatingTo(waited_ns, is_too_large ? INT64_MAX : product);
  }
};

bool HoldsDecoding(const InferenceStep& step) {
  return step.notes.decode_requests != kMissing && step.notes.decode_requests > 0;
}

// Prefill steps between two steps that decode. Of the requests behind them those that are not of
// their prompts have waited, and no more than decoded before.
Stall StallOfPrefill(const std::vector<InferenceStep>& steps) {
  Stall stall;
  size_t before = steps.size();  // the last step that decodes
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!HoldsDecoding(steps[i])) {
      continue;
    }
    int64_t prompts = 0;
    bool is_known = before < i && i - before > 1 && steps[before].process == steps[i].process;
    for (size_t k = before + 1; k < i && is_known; ++k) {
      is_known = steps[k].notes.requests != kMissing && steps[k].period_ns != kMissing &&
                 steps[k].process == steps[i].process && steps[k].known_by != KnownBy::kSequence;
      AddSaturatingTo(prompts, is_known ? steps[k].notes.requests : 0);
    }
    const int64_t now = steps[i].notes.decode_requests;
    const int64_t held =
        is_known ? std::min(now - std::min(now, prompts), steps[before].notes.decode_requests) : 0;
    for (size_t k = before + 1; k < i && held > 0; ++k) {
      if (steps[k].notes.phase == InferencePhase::kPrefill) {
        stall.Add(held, steps[k].period_ns);
      }
    }
    before = i;
  }
  return stall;
}

Stall StallOfMixed(const std::vector<InferenceStep>& steps, int64_t usual_ns) {
  Stall stall;
  for (const InferenceStep& step : steps) {
    if (step.notes.phase == InferencePhase::kMixed && HoldsDecoding(step) &&
        step.period_ns != kMissing) {
      stall.Add(step.notes.decode_requests, step.period_ns - std::min(step.period_ns, usual_ns));
    }
  }
  return stall;
}

struct StallRow {
  int64_t rank = 0;
  std::string_view phase = {};
  int64_t steps = 0;
  int64_t requests = 0;
  std::optional<int64_t> held_ns = {};
  std::optional<int64_t> waited_ns = {};

  static constexpr TableNames kTable{"inference_stalls", "Decoding waits for prefill"};
  static constexpr ColumnOf<StallRow> kColumns[] = {
      {"rank", &StallRow::rank, Role::kKey, kRankDoc},
      {"phase", &StallRow::phase, Role::kKey,
       "mixed: steps that read prompts and decode; prefill: steps that read prompts between "
       "two that decode."},
      {"steps", &StallRow::steps, Unit::kCount, Role::kSum, "Such steps."},
      {"requests", &StallRow::requests, Unit::kCount, Role::kSum,
       "Requests that decode in them, or, of prefill, wait for them: at least those that decode "
       "behind them and are none of their prompts."},
      {"held_ns", &StallRow::held_ns, Unit::kNanoseconds, Role::kSum,
       "Time by which they take longer than the median decode step; of prefill all of it."},
      {"waited_ns", &StallRow::waited_ns, Unit::kNanoseconds, Role::kSum,
       "The same times the requests of each step: what all requests together wait."}};
};

Table StallTable(const RankView& view, const InferenceSteps& found) {
  PhaseSums decode = SumsOf(found, InferencePhase::kDecode);
  const bool has_usual = !decode.periods.empty();
  const int64_t usual_ns = has_usual ? LowerMedian(decode.periods) : 0;
  const std::pair<InferencePhase, Stall> stalls[] = {
      {InferencePhase::kMixed, StallOfMixed(found.steps, usual_ns)},
      {InferencePhase::kPrefill, StallOfPrefill(found.steps)}};
  std::vector<StallRow> rows;
  for (const auto& [phase, stall] : stalls) {
    if (stall.steps > 0) {
      StallRow& row = rows.emplace_back(StallRow{.rank = view.rank,
                                                 .phase = InferencePhaseName(phase),
                                                 .steps = stall.steps,
                                                 .requests = stall.requests});
      if (has_usual || phase == InferencePhase::kPrefill) {
        row.held_ns = stall.held_ns;
        row.waited_ns = stall.waited_ns;
      }
    }
  }
  return MakeTable(rows);
}

// ---- Experts ----

struct ExpertRow {
  int64_t rank = 0;
  int64_t exchanges = 0;
  int64_t sent = 0;
  int64_t received = 0;
  std::optional<double> load = {};

  static constexpr TableNames kTable{"inference_experts", "Load of the experts of each rank"};
  static constexpr ColumnOf<ExpertRow> kColumns[] = {
      {"rank", &ExpertRow::rank, Role::kKey, kRankDoc},
      {"exchanges", &ExpertRow::exchanges, Unit::kCount, Role::kSum,
       "All-to-alls that send and get different numbers of elements, as routing makes them."},
      {"sent", &ExpertRow::sent, Unit::kCount, Role::kSum, "Elements that the rank sent in them."},
      {"received", &ExpertRow::received, Unit::kCount, Role::kSum,
       "Elements that it got: work of its experts."},
      {"load", &ExpertRow::load, Role::kDerived,
       "Received / mean of the ranks: 1 where all experts have the same work."}};
};

// What this rank sends and gets in exchanges whose sizes depend on the routing: those where the two
// differ.
Table ExpertTable(const RankView& view, const Selected& selected) {
  const Trace& trace = view.trace;
  ExpertRow sums{.rank = view.rank};
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    const uint32_t detail = trace.device().detail[row];
    if (trace.device().kind[row] != DeviceKind::kKernel || detail == kNoDetail ||
        !selected.Keeps(DeviceId{row})) {
      continue;
    }
    const uint32_t collective = trace.kernels().collective[detail];
    if (collective == kNoDetail) {
      continue;
    }
    const Collectives& all = trace.collectives();
    const int64_t in = all.in_elems[collective];
    const int64_t out = all.out_elems[collective];
    if (trace.Text(all.collective[collective]).starts_with("all_to_all") && in != out &&
        in != kMissing && out != kMissing) {
      ++sums.exchanges;
      AddSaturatingTo(sums.sent, in);
      AddSaturatingTo(sums.received, out);
    }
  }
  return sums.exchanges == 0 ? NewTable<ExpertRow>() : MakeTable<ExpertRow>({sums});
}

void FillLoad(Table& experts) {
  const int64_t whole = SumOf(ReadRows<ExpertRow>(experts), &ExpertRow::received);
  const auto ranks = static_cast<double>(experts.rows());
  UpdateRows<ExpertRow>(experts,
                        [&](ExpertRow& row) { row.load = ShareOf(row.received, whole) * ranks; });
}

// ---- The verb ----

// Why a rank has no steps; not shown.
struct ReasonRow {
  int64_t rank = 0;
  std::string_view file = {};
  std::string reason = {};

  static constexpr TableNames kTable{"inference_reasons", "Why there are no phases"};
  static constexpr ColumnOf<ReasonRow> kColumns[] = {
      {"rank", &ReasonRow::rank, Role::kKey, kRankDoc},
      {"file", &ReasonRow::file, Role::kDerived, "File of the rank."},
      {"reason", &ReasonRow::reason, Role::kDerived, "Why no step was found on the rank."}};
};

Table ReasonTable(const RankView& view, const InferenceSteps& found) {
  return found.steps.empty() ? MakeTable<ReasonRow>({{.rank = view.rank,
                                                      .file = view.trace.meta().file,
                                                      .reason = std::string(found.reason)}})
                             : NewTable<ReasonRow>();
}

Result<Tables> MapInference(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const InferenceSteps found, FindInferenceSteps(view, selected, params));
  return Tables{PhaseTable(view, found), StallTable(view, found),     PartTable(view, found),
                StepTable(view, found),  ExpertTable(view, selected), ReasonTable(view, found)};
}

Result<Tables> FinishInference(Tables findings, const Params& /*params*/) {
  if (TableOf<StepRow>(findings).rows() == 0) {
    const std::vector<ReasonRow> reasons = ReadRows<ReasonRow>(TableOf<ReasonRow>(findings));
    if (reasons.empty()) {
      return Error{ErrorCode::kMissingData, "no phases of inference: no recording"};
    }
    return Error{ErrorCode::kMissingData,
                 "no phases of inference: " + reasons[0].reason,
                 {},
                 std::string(reasons[0].file)};
  }
  FillLoad(TableOf<ExpertRow>(findings));
  Table& phases = TableOf<PhaseRow>(findings);
  for (const PhaseRow& row : ReadRows<PhaseRow>(phases)) {
    if (row.known_by == KnownBy::kGraph) {
      phases.title = "Phases of inference (inferred: graphs that read keys and values of a cache)";
    }
  }
  std::erase_if(findings, [](const Table& table) {
    const bool is_always_shown = table.name == PhaseRow::kTable.name ||
                                 table.name == PartRow::kTable.name ||
                                 table.name == StepRow::kTable.name;
    return table.name == ReasonRow::kTable.name || (table.rows() == 0 && !is_always_shown);
  });
  return findings;
}

Result<void> CheckInference(const Params& params) {
  const std::vector<std::string_view> texts = params.Texts(kPhasePatternParam);
  const Result<PhasePatterns> patterns = PhasePatterns::Parse(texts);
  return patterns.ok() ? Result<void>() : Result<void>(patterns.error());
}

constexpr const ParamSpec* kInferenceParams[] = {&kPhasePatternParam};
constexpr std::string_view kPhaseKey[] = {"rank", "phase"};
constexpr std::string_view kPartKey[] = {"rank", "phase", "part"};
constexpr std::string_view kStepLabel[] = {"phase"};
constexpr std::string_view kPeriod[] = {"period_ns"};
constexpr std::string_view kDevice[] = {"device_ns"};
constexpr std::string_view kPhaseAside[] = {"token_ns", "idle_ns"};
constexpr std::string_view kStepAside[] = {"known_by", "prefill_tokens", "kv_tokens",
                                           "begin_ns", "works",          "device_ns",
                                           "graph_ns", "device_span_ns", "name"};
constexpr ViewSpec kInferenceViews[] = {
    {"inference_phases", ViewKind::kBars, "Median period of each phase", kPhaseKey, kPeriod},
    {"inference_parts", ViewKind::kBars, "Device time by phase and part", kPartKey, kDevice},
    {"inference_steps", ViewKind::kSeries, "Period of each step", kStepLabel, kPeriod, "step"},
    {"inference_phases", ViewKind::kAside, "What text leaves out", kPhaseAside, {}},
    {"inference_steps", ViewKind::kAside, "What text leaves out", kStepAside, {}}};

}  // namespace

const AnalysisSpec kInferenceVerb{
    .name = "inference",
    .summary = "prefill and decode: time per token, tokens per second, idle time",
    .example = "borescope inference trace.json.gz",
    .needs = Needs::kLaunches,
    .params = kInferenceParams,
    .answer = {.map = MapInference, .reduce = ConcatTables, .finish = FinishInference},
    .check = CheckInference,
    .views = kInferenceViews};

}  // namespace borescope::internal
