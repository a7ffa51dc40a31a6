// inference: what a program that generates text does: how long its steps take by phase, how many
// tokens they make, what the device does in them, and how long decoding waits for prefill. Steps
// and phases come from the annotations of servers, from expressions of the user's, or from
// operators that recur (inference_steps.h); a recording that shows no generation has no answer, and
// the message says why.
//
//   period         begin of a step to the begin of the next
//   busy           union of the device work that the step launched
//   idle           period less busy, at least 0
//   token          time for the next token of a request: the period of a decode step
//   tokens/s       tokens of the steps that have a period / the sum of these periods
//
// Device work of all phases, in no step, and without a recorded launch adds up to all device work.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/inference/inference_steps.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewSteps = 20;
constexpr double kNsPerSecond = 1e9;
constexpr double kLate = 0.99;

// Of what map gives; the last says why there are no steps, and is not shown.
enum InferenceTable { kPhases, kStalls, kParts, kSteps, kExperts, kReasons };

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

Table NewPhaseTable() {
  Table table{"inference_phases", "Phases of inference", {}};
  const auto number = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddInt(table, name, unit, Role::kDerived, doc);
  };
  const auto fraction = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddFloat(table, name, unit, Role::kDerived, doc);
  };
  AddRankKey(table);
  AddString(table, "phase", Role::kKey,
            "decode: each request gets its next token; prefill: prompts are read; mixed: both in "
            "one batch; other: steps that do not say; (no step): device work launched outside of "
            "steps; (no launch): its launch was not recorded.");
  AddString(
      table, "known_by", Role::kDerived,
      "How the phase is known: annotation, of a server; pattern, of --phase-pattern; sequence, "
      "operators that recur, and their shapes; graph, inferred: a graph that reads a cache.");
  number("steps", Unit::kCount, "Steps of the phase.");
  fraction("requests", Unit::kNone, "Requests in a step, the median of those that say so.");
  number("tokens", Unit::kCount,
         "Tokens that all steps processed: of prompts, and one of each request that decodes, more "
         "where drafted ones are checked; missing where a step does not say.");
  fraction("period_ns", Unit::kNanoseconds,
           "From the begin of a step to that of the next, the median; missing of the last step.");
  fraction("p99_ns", Unit::kNanoseconds, "99th percentile of the periods.");
  fraction("token_ns", Unit::kNanoseconds,
           "Time for the next token of a request: the median period of decode steps; missing where "
           "these check drafted tokens, of which nobody knows how many are right.");
  fraction("tokens_per_second", Unit::kNone,
           "Tokens of the steps with a period / the sum of these periods; missing where tokens "
           "are, and of decode steps that check drafts.");
  fraction("busy", Unit::kShare,
           "Time in which work of the step runs on a device / period, of all steps with one.");
  number("idle_ns", Unit::kNanoseconds, "Sum over these steps of period less busy, at least 0.");
  number("device_ns", Unit::kNanoseconds,
         "Sum of the durations of the device work that all steps launched.");
  fraction("share", Unit::kShare, "Device time / all device work of the rank.");
  fraction("graph", Unit::kShare, "Of the device time, what was launched as graphs.");
  return table;
}

void PushMedian(Row& row, std::vector<int64_t>& values, double quantile) {
  values.empty() ? row.Missing() : row.Float(Quantile(std::span(values), quantile));
}

void PushShareOf(Row& row, int64_t part, int64_t whole) {
  whole == 0 ? row.Missing() : row.Share(part, whole);
}

Table PhaseTable(const RankView& view, const InferenceSteps& found) {
  Table table = NewPhaseTable();
  int64_t whole_ns = 0;
  for (const WorkSums& work : found.work) {
    AddSaturatingTo(whole_ns, work.device_ns);
  }
  for (size_t i = 0; i < kPhaseRows; ++i) {
    const bool is_phase = i < kNoStepRow;
    const auto phase = static_cast<InferencePhase>(is_phase ? i : size_t{0});
    PhaseSums sums = is_phase ? SumsOf(found, phase) : PhaseSums();
    const WorkSums& work = found.work[i];
    if (sums.steps == 0 && work.works == 0) {
      continue;
    }
    const bool has_rate = sums.paced_steps > 0 && sums.paced_ns > 0 &&
                          sums.paced_tokens != kMissing &&
                          !(phase == InferencePhase::kDecode && sums.checks_drafts);
    Row row(table);
    row.Int(view.rank).Text(PhaseRowName(i));
    row.MaybeText(is_phase ? KnownByName(sums.known_by) : std::string_view());
    row.MaybeInt(is_phase ? sums.steps : kMissing);
    PushMedian(row, sums.requests, 0.5);
    row.MaybeInt(is_phase ? sums.tokens : kMissing);
    std::vector<int64_t> periods = sums.periods;
    PushMedian(row, periods, 0.5);
    PushMedian(row, periods, kLate);
    const bool makes_tokens = is_phase && phase == InferencePhase::kDecode && !sums.checks_drafts;
    std::vector<int64_t> token_times = makes_tokens ? sums.periods : std::vector<int64_t>();
    PushMedian(row, token_times, 0.5);
    has_rate ? row.Float(static_cast<double>(sums.paced_tokens) /
                         (static_cast<double>(sums.paced_ns) / kNsPerSecond))
             : row.Missing();
    PushShareOf(row, sums.busy_ns, sums.paced_ns);
    row.MaybeInt(sums.paced_steps > 0 ? sums.idle_ns : kMissing);
    row.Int(work.device_ns).Share(work.device_ns, whole_ns);
    PushShareOf(row, work.graph_ns, work.device_ns);
  }
  return table;
}

// ---- Steps ----

Table StepTable(const RankView& view, const InferenceSteps& found) {
  Table table{"inference_steps", "Steps of inference", {}, kPreviewSteps};
  const auto number = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddInt(table, name, unit, Role::kDerived, doc);
  };
  const auto ns = [&](std::string_view name, std::string_view doc) {
    number(name, Unit::kNanoseconds, doc);
  };
  AddRankKey(table);
  AddInt(table, "step", Unit::kNone, Role::kKey, "Number of the step in its process, from 0.");
  AddString(table, "phase", Role::kDerived, "decode, prefill, mixed or other.");
  AddString(table, "known_by", Role::kDerived, "How the phase is known, as in `inference_phases`.");
  number("requests", Unit::kCount, "Requests in the batch; missing where unknown.");
  number("tokens", Unit::kCount, "Tokens that the step processes, for all requests.");
  number("prefill_tokens", Unit::kCount, "Of these, tokens of prompts.");
  number("decode_requests", Unit::kCount, "Requests that get their next token.");
  number("kv_tokens", Unit::kCount,
         "Keys and values that the tokens attend to, of all requests, each layer and head alike.");
  ns("begin_ns", "Begin of the step, on the file's own clock.");
  ns("period_ns", "To the begin of the next step; missing of the last one.");
  ns("busy_ns", "Time in which work that the step launched runs on a device (union).");
  ns("idle_ns", "Period less busy, at least 0.");
  AddFloat(table, "tokens_per_second", Unit::kNone, Role::kDerived, "Tokens / period.");
  number("works", Unit::kCount, "Kernels, memcpys and memsets that the step launched.");
  ns("device_ns", "Sum of their durations.");
  ns("graph_ns", "Of these, what was launched as graphs.");
  ns("device_span_ns", "From the first start to the last end of that work.");
  AddString(table, "name", Role::kDerived,
            "Name of the annotation, operator or call with which the step begins.");
  for (const InferenceStep& step : found.steps) {
    const StepNotes& notes = step.notes;
    const WorkSums& work = step.work;
    const bool has_period = step.period_ns != kMissing;
    const bool has_rate =
        has_period && step.period_ns > 0 && notes.tokens != kMissing && !ChecksDrafts(notes);
    Row row(table);
    row.Int(view.rank).Int(step.number).Text(InferencePhaseName(notes.phase));
    row.Text(KnownByName(step.known_by)).MaybeInt(notes.requests).MaybeInt(notes.tokens);
    row.MaybeInt(notes.prefill_tokens).MaybeInt(notes.decode_requests).MaybeInt(notes.kv_tokens);
    row.Int(step.begin_ns).MaybeInt(step.period_ns).Int(work.busy_ns);
    row.MaybeInt(has_period ? IdleOf(step) : kMissing);
    has_rate ? row.Float(static_cast<double>(notes.tokens) /
                         (static_cast<double>(step.period_ns) / kNsPerSecond))
             : row.Missing();
    row.Int(work.works).Int(work.device_ns).Int(work.graph_ns);
    row.MaybeInt(work.works > 0 ? SubtractSaturating(work.end_ns, work.begin_ns) : kMissing);
    row.Text(view.trace.Name(step.event));
  }
  return table;
}

// ---- Parts ----

Table PartTable(const RankView& view, const InferenceSteps& found) {
  Table table{"inference_parts", "Device time of each phase by what it is for", {}};
  AddRankKey(table);
  AddString(table, "phase", Role::kKey, "As in `inference_phases`.");
  AddString(table, "part", Role::kKey,
            "attention; moe: routing, permuting and products of experts, by their names or by "
            "an operator around them; gemm: other products; communication; sampling: choosing "
            "tokens; norm, pointwise, embedding, reduction, sort, copy and other: by the class of "
            "the kernel.")
      .hints = {.palette = Palette::kWork, .names = true};
  AddInt(table, "works", Unit::kCount, Role::kSum, "Kernels, memcpys and memsets.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "per_step_ns", Unit::kNanoseconds, Role::kDerived, "Device time / steps.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Device time / that of the phase.");
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
      Row row(table);
      row.Int(view.rank).Text(PhaseRowName(i)).Text(WorkPartName(static_cast<WorkPart>(part)));
      row.Int(sum.works).Int(sum.device_ns);
      PushShareOf(row, sum.device_ns, steps);
      row.Share(sum.device_ns, found.work[i].device_ns);
    }
  }
  return table;
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

Table StallTable(const RankView& view, const InferenceSteps& found) {
  Table table{"inference_stalls", "Decoding waits for prefill", {}};
  AddRankKey(table);
  AddString(table, "phase", Role::kKey,
            "mixed: steps that read prompts and decode; prefill: steps that read prompts between "
            "two that decode.");
  AddInt(table, "steps", Unit::kCount, Role::kSum, "Such steps.");
  AddInt(table, "requests", Unit::kCount, Role::kSum,
         "Requests that decode in them, or, of prefill, wait for them: at least those that decode "
         "behind them and are none of their prompts.");
  AddInt(table, "held_ns", Unit::kNanoseconds, Role::kSum,
         "Time by which they take longer than the median decode step; of prefill all of it.");
  AddInt(table, "waited_ns", Unit::kNanoseconds, Role::kSum,
         "The same times the requests of each step: what all requests together wait.");
  PhaseSums decode = SumsOf(found, InferencePhase::kDecode);
  const bool has_usual = !decode.periods.empty();
  const int64_t usual_ns = has_usual ? LowerMedian(decode.periods) : 0;
  const std::pair<InferencePhase, Stall> stalls[] = {
      {InferencePhase::kMixed, StallOfMixed(found.steps, usual_ns)},
      {InferencePhase::kPrefill, StallOfPrefill(found.steps)}};
  for (const auto& [phase, stall] : stalls) {
    if (stall.steps > 0) {
      const bool is_known = has_usual || phase == InferencePhase::kPrefill;
      Row row(table);
      row.Int(view.rank).Text(InferencePhaseName(phase)).Int(stall.steps).Int(stall.requests);
      row.MaybeInt(is_known ? stall.held_ns : kMissing);
      row.MaybeInt(is_known ? stall.waited_ns : kMissing);
    }
  }
  return table;
}

// ---- Experts ----

// What this rank sends and gets in exchanges whose sizes depend on the routing: those where the two
// differ.
Table ExpertTable(const RankView& view, const Selected& selected) {
  Table table{"inference_experts", "Load of the experts of each rank", {}};
  AddRankKey(table);
  AddInt(table, "exchanges", Unit::kCount, Role::kSum,
         "All-to-alls that send and get different numbers of elements, as routing makes them.");
  AddInt(table, "sent", Unit::kCount, Role::kSum, "Elements that the rank sent in them.");
  AddInt(table, "received", Unit::kCount, Role::kSum, "Elements that it got: work of its experts.");
  AddFloat(table, "load", Unit::kNone, Role::kDerived,
           "Received / mean of the ranks: 1 where all experts have the same work.");
  const Trace& trace = view.trace;
  int64_t exchanges = 0;
  int64_t sent = 0;
  int64_t received = 0;
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
      ++exchanges;
      AddSaturatingTo(sent, in);
      AddSaturatingTo(received, out);
    }
  }
  if (exchanges > 0) {
    Row(table).Int(view.rank).Int(exchanges).Int(sent).Int(received).Missing();
  }
  return table;
}

void FillLoad(Table& experts) {
  const IntValues& received = Ints(experts, "received");
  const int64_t whole = SumOf(experts, "received");
  FloatValues& load = FillFloats(experts, "load");
  for (size_t row = 0; row < experts.rows(); ++row) {
    load[row] = ShareOf(received[row], whole) * static_cast<double>(experts.rows());
  }
}

// ---- The verb ----

Table ReasonTable(const RankView& view, const InferenceSteps& found) {
  Table table{"inference_reasons", "Why there are no phases", {}};
  AddRankKey(table);
  AddString(table, "file", Role::kDerived, "File of the rank.");
  AddString(table, "reason", Role::kDerived, "Why no step was found on the rank.");
  if (found.steps.empty()) {
    Row(table).Int(view.rank).Text(view.trace.meta().file).Text(found.reason);
  }
  return table;
}

Result<Tables> MapInference(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const InferenceSteps found, FindInferenceSteps(view, selected, params));
  return Tables{PhaseTable(view, found), StallTable(view, found),     PartTable(view, found),
                StepTable(view, found),  ExpertTable(view, selected), ReasonTable(view, found)};
}

Result<Tables> FinishInference(Tables findings, const Params& /*params*/) {
  if (findings[kSteps].rows() == 0) {
    const Table& reasons = findings[kReasons];
    if (reasons.rows() == 0) {
      return Error{ErrorCode::kMissingData, "no phases of inference: no recording"};
    }
    return Error{ErrorCode::kMissingData,
                 "no phases of inference: " + std::string(Texts(reasons, "reason")[0]),
                 {},
                 std::string(Texts(reasons, "file")[0])};
  }
  FillLoad(findings[kExperts]);
  Tables shown{std::move(findings[kPhases])};
  const StringValues& known_by = Texts(shown[0], "known_by");
  for (size_t row = 0; row < shown[0].rows(); ++row) {
    if (known_by[row] == KnownByName(KnownBy::kGraph)) {
      shown[0].title =
          "Phases of inference (inferred: graphs that read keys and values of a cache)";
    }
  }
  for (const InferenceTable table : {kStalls, kParts, kSteps, kExperts}) {
    if (findings[table].rows() > 0 || table == kParts || table == kSteps) {
      shown.push_back(std::move(findings[table]));
    }
  }
  return shown;
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
