#include "borescope/analysis/verbs/inference/inference_steps.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/analysis/verbs/inference/generation.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/memory_limit.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {

namespace {

// Reads a text from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Skip(std::string_view word) {
    const bool is_next = rest_.starts_with(word);
    rest_.remove_prefix(is_next ? word.size() : 0);
    return is_next;
  }
  // The number at this place; kMissing, and nothing is read, where there is none.
  int64_t Number() {
    const size_t digits = static_cast<size_t>(
        std::distance(rest_.begin(), std::find_if_not(rest_.begin(), rest_.end(), IsDigit)));
    const std::optional<int64_t> number = ParseNumber<int64_t>(rest_.substr(0, digits));
    if (!number.has_value()) {
      return kMissing;
    }
    rest_.remove_prefix(digits);
    return *number;
  }
  // Up to `end`, which is skipped; nothing where it does not come.
  std::optional<std::string_view> UpTo(char end) {
    const size_t at = rest_.find(end);
    if (at == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view found = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return found;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// The sum of what is known; kMissing where nothing is.
int64_t SumOfKnown(std::initializer_list<int64_t> values) {
  int64_t sum = kMissing;
  for (const int64_t value : values) {
    if (value != kMissing) {
      sum = sum == kMissing ? value : AddSaturating(sum, value);
    }
  }
  return sum;
}

int64_t OrElse(int64_t value, int64_t otherwise) { return value == kMissing ? otherwise : value; }

// The phase of a step that reads the prompts of so many requests, while so many others decode.
InferencePhase PhaseOf(int64_t prompts, int64_t decoding) {
  return prompts > 0 && decoding > 0 ? InferencePhase::kMixed
         : prompts > 0               ? InferencePhase::kPrefill
         : decoding > 0              ? InferencePhase::kDecode
                                     : InferencePhase::kOther;
}

// ---- vLLM ----

// What follows "context_" or "generation_": 2(6144), 9(sq8155sk8430sqsq1sqsk2), 37.
struct VllmPart {
  int64_t requests = kMissing;
  int64_t tokens = kMissing;
  int64_t kv = kMissing;
};

std::optional<VllmPart> ReadVllmPart(Scanner& scanner) {
  VllmPart part;
  part.requests = scanner.Number();
  if (part.requests == kMissing) {
    return std::nullopt;
  }
  if (!scanner.Skip("(")) {
    return part;
  }
  const std::optional<std::string_view> inside = scanner.UpTo(')');
  if (!inside.has_value()) {
    return std::nullopt;
  }
  Scanner sums(*inside);
  const bool has_names = sums.Skip("sq");
  part.tokens = sums.Number();
  if (has_names && sums.Skip("sk")) {
    part.kv = sums.Number();
  }
  return part;
}

// new_1_cached_3: requests that the scheduler chose for the first time, whose prompts are read, and
// those that ran before, which decode. How many tokens a step has the name does not say.
std::optional<StepNotes> ReadVllmCounts(Scanner scanner) {
  const int64_t prompts = scanner.Skip("new_") ? scanner.Number() : kMissing;
  const int64_t decoding = scanner.Skip("_cached_") ? scanner.Number() : kMissing;
  if (prompts == kMissing || decoding == kMissing || !scanner.rest().empty()) {
    return std::nullopt;
  }
  StepNotes notes;
  notes.phase = PhaseOf(prompts, decoding);
  notes.requests = AddSaturating(prompts, decoding);
  notes.decode_requests = decoding;
  notes.decode_tokens = decoding;
  notes.prefill_tokens = prompts == 0 ? 0 : kMissing;
  return notes;
}

std::optional<StepNotes> ReadVllm(std::string_view name) {
  Scanner scanner(name);
  if (!scanner.Skip("execute_")) {
    return std::nullopt;
  }
  if (std::optional<StepNotes> counts = ReadVllmCounts(scanner)) {
    return counts;
  }
  const int64_t all_tokens = scanner.Number();
  if (all_tokens != kMissing && !scanner.Skip("_")) {
    return std::nullopt;
  }
  if (!scanner.Skip("context_")) {
    return std::nullopt;
  }
  const std::optional<VllmPart> context = ReadVllmPart(scanner);
  if (!context.has_value() || !scanner.Skip("_generation_")) {
    return std::nullopt;
  }
  std::optional<VllmPart> generation = ReadVllmPart(scanner);
  if (!generation.has_value()) {
    return std::nullopt;
  }
  if (generation->tokens == kMissing) {
    // Tokens of the whole step less those of prompts; else each request has one.
    const int64_t others = OrElse(context->tokens, 0);
    const bool adds_up = all_tokens != kMissing && all_tokens - others >= generation->requests;
    generation->tokens = adds_up ? all_tokens - others : generation->requests;
  }
  StepNotes notes;
  notes.phase = PhaseOf(context->requests, generation->requests);
  notes.requests = AddSaturating(context->requests, generation->requests);
  notes.decode_requests = generation->requests;
  notes.decode_tokens = generation->tokens;
  notes.prefill_tokens = context->tokens;
  notes.tokens = context->tokens == kMissing && context->requests > 0
                     ? all_tokens
                     : SumOfKnown({context->tokens, generation->tokens});
  notes.kv_tokens = SumOfKnown({context->kv, generation->kv});
  return notes;
}

// ---- SGLang and ATOM: WORD[key=value key=value ...] ----

// The number of `key` in "bs=2 toks=14721"; of "bs=117/128", padded for a graph, the first.
int64_t NumberOf(std::string_view fields, std::string_view key) {
  size_t at = 0;
  while ((at = fields.find(key, at)) != std::string_view::npos) {
    const bool is_word = at == 0 || fields[at - 1] == ' ';
    Scanner scanner(fields.substr(at + key.size()));
    at += key.size();
    if (is_word && scanner.Skip("=")) {
      return scanner.Number();
    }
  }
  return kMissing;
}

// The text after `prefix`, up to the bracket at the end.
std::optional<std::string_view> InBrackets(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.back() != ']') {
    return std::nullopt;
  }
  return name.substr(prefix.size(), name.size() - prefix.size() - 1);
}

StepNotes OfPrefill(int64_t requests, int64_t tokens, int64_t kv) {
  return {.phase = InferencePhase::kPrefill,
          .requests = requests,
          .tokens = tokens,
          .decode_requests = 0,
          .decode_tokens = 0,
          .prefill_tokens = tokens,
          .kv_tokens = kv};
}

StepNotes OfDecode(int64_t requests, int64_t tokens, int64_t kv) {
  return {.phase = InferencePhase::kDecode,
          .requests = requests,
          .tokens = tokens,
          .decode_requests = requests,
          .decode_tokens = tokens,
          .prefill_tokens = 0,
          .kv_tokens = kv};
}

StepNotes ReadSglangMixed(std::string_view fields, int64_t requests) {
  StepNotes notes;
  notes.phase = InferencePhase::kMixed;
  notes.requests = requests;
  notes.decode_requests = NumberOf(fields, "g");
  notes.decode_tokens = OrElse(NumberOf(fields, "g_sq"), notes.decode_requests);
  notes.prefill_tokens = NumberOf(fields, "c_sq");
  notes.kv_tokens = SumOfKnown({NumberOf(fields, "c_sk"), NumberOf(fields, "g_sk")});
  const bool knows_all = notes.decode_tokens != kMissing && notes.prefill_tokens != kMissing;
  notes.tokens = knows_all ? AddSaturating(notes.decode_tokens, notes.prefill_tokens) : kMissing;
  if (notes.decode_requests == 0) {
    notes.phase = InferencePhase::kPrefill;
  }
  return notes;
}

std::optional<StepNotes> ReadSglang(std::string_view name) {
  const std::optional<std::string_view> inside = InBrackets(name, "step[");
  if (!inside.has_value()) {
    return std::nullopt;
  }
  const size_t blank = std::min(inside->find(' '), inside->size());
  const std::string_view mode = inside->substr(0, blank);
  const std::string_view fields = inside->substr(blank);
  const int64_t requests = NumberOf(fields, "bs");
  if (mode == "EXTEND" || mode == "SPLIT_PREFILL") {
    const int64_t tokens = OrElse(NumberOf(fields, "toks"), NumberOf(fields, "c_sq"));
    return OfPrefill(requests, tokens, NumberOf(fields, "c_sk"));
  }
  if (mode == "DECODE") {
    return OfDecode(requests, OrElse(NumberOf(fields, "g_sq"), requests), NumberOf(fields, "g_sk"));
  }
  if (mode == "TARGET_VERIFY" || mode == "VERIFY") {
    // Drafted tokens are checked, some for each request.
    return OfDecode(requests, NumberOf(fields, "g_sq"), NumberOf(fields, "g_sk"));
  }
  if (mode == "MIXED") {
    return ReadSglangMixed(fields, requests);
  }
  StepNotes other;
  other.requests = requests;
  return other;
}

std::optional<StepNotes> ReadAtom(std::string_view name) {
  constexpr std::string_view kDecodes[] = {"decode[", "eager_decode["};
  std::optional<std::string_view> inside = InBrackets(name, "prefill[");
  const bool is_prefill = inside.has_value();
  for (const std::string_view prefix : kDecodes) {
    inside = inside.has_value() ? inside : InBrackets(name, prefix);
  }
  const int64_t requests = inside.has_value() ? NumberOf(*inside, "bs") : kMissing;
  if (requests == kMissing) {
    return std::nullopt;
  }
  const int64_t tokens = NumberOf(*inside, "tok");
  const int64_t kv = NumberOf(*inside, "sk");
  if (is_prefill) {
    return OfPrefill(requests, tokens, kv);
  }
  StepNotes notes = OfDecode(requests, OrElse(tokens, requests), kv);
  const int64_t prompts = NumberOf(*inside, "p");
  if (prompts != kMissing && prompts > 0) {
    // How the tokens divide is unknown.
    notes.phase = InferencePhase::kMixed;
    notes.decode_requests = OrElse(NumberOf(*inside, "d"), requests - std::min(requests, prompts));
    notes.decode_tokens = kMissing;
    notes.prefill_tokens = kMissing;
  }
  return notes;
}

// ---- TensorRT-LLM ----

// The number before `words`: 3 of "12: 3 ctx reqs, 40 gen reqs" for " ctx reqs".
int64_t NumberBefore(std::string_view text, std::string_view words) {
  const size_t end = text.find(words);
  if (end == std::string_view::npos) {
    return kMissing;
  }
  size_t begin = end;
  while (begin > 0 && IsDigit(text[begin - 1])) {
    --begin;
  }
  return ParseNumber<int64_t>(text.substr(begin, end - begin)).value_or(kMissing);
}

std::optional<StepNotes> ReadTensorRt(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"[Executor] _forward_step",
                                            "_forward_step:", "executeStep:"};
  const bool is_step =
      std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                  [&](std::string_view prefix) { return name.starts_with(prefix); });
  const int64_t prompts = is_step ? NumberBefore(name, " ctx reqs") : kMissing;
  const int64_t decoding = is_step ? NumberBefore(name, " gen reqs") : kMissing;
  if (prompts == kMissing || decoding == kMissing) {
    return std::nullopt;
  }
  const int64_t prompt_tokens = prompts == 0 ? 0 : NumberBefore(name, " ctx tokens");
  StepNotes notes;
  notes.phase = PhaseOf(prompts, decoding);
  notes.requests = AddSaturating(prompts, decoding);
  notes.decode_requests = decoding;
  notes.decode_tokens = decoding;
  notes.prefill_tokens = prompt_tokens;
  notes.tokens = prompt_tokens == kMissing ? kMissing : AddSaturating(prompt_tokens, decoding);
  return notes;
}

// ---- Patterns of the user's ----

InferencePhase PhaseOfWord(std::string_view word) {
  constexpr std::pair<std::string_view, InferencePhase> kWords[] = {
      {"mixed", InferencePhase::kMixed},    {"decod", InferencePhase::kDecode},
      {"generat", InferencePhase::kDecode}, {"prefill", InferencePhase::kPrefill},
      {"extend", InferencePhase::kPrefill}, {"context", InferencePhase::kPrefill},
      {"prompt", InferencePhase::kPrefill},
  };
  const std::string lower = LowerCase(word);
  const auto* const found =
      std::find_if(std::begin(kWords), std::end(kWords),
                   [&](const auto& row) { return lower.find(row.first) != std::string::npos; });
  return found == std::end(kWords) ? InferencePhase::kOther : found->second;
}

}  // namespace

bool HasAnyOf(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return Contains(text, part); });
}

std::string_view InferencePhaseName(InferencePhase phase) {
  constexpr std::array<std::string_view, 4> kNames = {"decode", "prefill", "mixed", "other"};
  return kNames[static_cast<size_t>(phase)];
}

std::optional<StepNotes> ReadStepName(std::string_view name) {
  constexpr std::optional<StepNotes> (*kReaders[])(std::string_view) = {ReadVllm, ReadSglang,
                                                                        ReadAtom, ReadTensorRt};
  for (const auto read : kReaders) {
    if (std::optional<StepNotes> notes = read(name)) {
      return notes;
    }
  }
  return std::nullopt;
}

PhasePatterns::PhasePatterns(std::vector<Expression> expressions)
    : expressions_(std::move(expressions)) {}
PhasePatterns::~PhasePatterns() = default;
PhasePatterns::PhasePatterns(PhasePatterns&&) noexcept = default;
PhasePatterns& PhasePatterns::operator=(PhasePatterns&&) noexcept = default;

Result<PhasePatterns> PhasePatterns::Parse(std::span<const std::string_view> texts) {
  std::vector<Expression> expressions;
  re2::RE2::Options options;
  options.set_log_errors(false);
  for (const std::string_view text : texts) {
    AskForMemory(kExpressionBytes);
    Expression expression;
    expression.regex =
        std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
    if (!expression.regex->ok()) {
      return UsageError(fmt::format("'{}' is not a regular expression of RE2: {}", text,
                                    expression.regex->error()),
                        {}, "phase_pattern");
    }
    for (const auto& [group, number] : expression.regex->NamedCapturingGroups()) {
      int* const place = group == "phase"    ? &expression.phase
                         : group == "bs"     ? &expression.requests
                         : group == "tokens" ? &expression.tokens
                         : group == "kv"     ? &expression.kv
                                             : nullptr;
      if (place == nullptr) {
        return UsageError(fmt::format("'{}' has a group '{}'", text, group),
                          "groups are phase, bs, tokens and kv", "phase_pattern");
      }
      *place = number;
    }
    expressions.push_back(std::move(expression));
  }
  return PhasePatterns(std::move(expressions));
}

std::optional<StepNotes> PhasePatterns::Read(std::string_view name) const {
  for (const Expression& expression : expressions_) {
    std::vector<re2::StringPiece> groups(
        static_cast<size_t>(expression.regex->NumberOfCapturingGroups()) + 1);
    if (!expression.regex->Match(re2::StringPiece(name.data(), name.size()), 0, name.size(),
                                 re2::RE2::UNANCHORED, groups.data(),
                                 static_cast<int>(groups.size()))) {
      continue;
    }
    const auto text = [&](int group) {
      const re2::StringPiece& piece = groups[static_cast<size_t>(group)];
      return group == 0 ? std::string_view() : std::string_view(piece.data(), piece.size());
    };
    const auto number = [&](int group) {
      return ParseNumber<int64_t>(text(group)).value_or(kMissing);
    };
    const InferencePhase phase = PhaseOfWord(text(expression.phase));
    const int64_t requests = number(expression.requests);
    const int64_t tokens = number(expression.tokens);
    const int64_t kv = number(expression.kv);
    switch (phase) {
      case InferencePhase::kDecode:
        return OfDecode(requests, OrElse(tokens, requests), kv);
      case InferencePhase::kPrefill:
        return OfPrefill(requests, tokens, kv);
      case InferencePhase::kMixed:
      case InferencePhase::kOther:
        break;
    }
    StepNotes notes;
    notes.phase = phase;
    notes.requests = requests;
    notes.tokens = tokens;
    notes.kv_tokens = kv;
    return notes;
  }
  return std::nullopt;
}

namespace {

// Whether a kernel or operator is part of a mixture of experts, by the names that servers, their
// libraries and PyTorch use.
bool IsOfExperts(std::string_view name) {
  constexpr std::string_view kParts[] = {
      "moe",        "expert",      "_matmul_ogs",   "_finalize_matmul", "_combined_routing",
      "bitmatrix",  "grouped_mm",  "grouped_gemm",  "groupedgemm",      "group_gemm",
      "topkgating", "topk_gating", "routingindices"};
  return HasAnyOf(LowerCase(name), kParts);
}

bool IsOfSampling(std::string_view name) {
  constexpr std::string_view kParts[] = {"sampl",  "argmax",   "multinomial",
                                         "penalt", "topktopp", "top_k_top_p",
                                         "topp_",  "min_p_",   "exponential_"};
  const std::string lower = LowerCase(name);
  return HasAnyOf(lower, kParts) && !Contains(lower, "upsampl") && !Contains(lower, "grid_sampl");
}

// ---- Which part device work is ----

// Whether an event, or an operator around it, has a flagged name. Parents come before children.
std::vector<char> FlagInside(const RankView& view, const std::vector<char>& flags) {
  const HostEvents& host = view.trace.host();
  std::vector<char> inside(host.all_size());
  for (const uint32_t row : EachRow(host.size())) {
    const HostId parent = view.index.tree.parent[row];
    const bool is_flagged = host.kind[row] == HostKind::kOp && flags[host.name[row].value] != 0;
    inside[row] = is_flagged || (parent.valid() && inside[parent.value] != 0) ? 1 : 0;
  }
  return inside;
}

class PartFinder {
 public:
  explicit PartFinder(const RankView& view)
      : view_(view),
        is_of_experts_(FlagNames(view.trace.strings(), IsOfExperts)),
        is_of_sampling_(FlagNames(view.trace.strings(), IsOfSampling)),
        in_experts_(FlagInside(view, is_of_experts_)),
        in_sampling_(FlagInside(view, is_of_sampling_)) {}

  WorkPart PartOf(DeviceId id) const {
    const DeviceEvents& device = view_.trace.device();
    if (device.kind[id.value] != DeviceKind::kKernel) {
      return WorkPart::kCopy;
    }
    const KernelClass kernel_class = view_.index.ClassOf(view_.trace, id);
    if (kernel_class == KernelClass::kCollective) {
      return WorkPart::kCommunication;
    }
    if (kernel_class == KernelClass::kAttention) {
      return WorkPart::kAttention;
    }
    const uint32_t name = device.name[id.value].value;
    const HostId origin = view_.index.correlation.OriginOf(id);
    const bool has_origin = origin.valid() && origin.value < in_experts_.size();
    if (is_of_experts_[name] != 0 || (has_origin && in_experts_[origin.value] != 0)) {
      return WorkPart::kMoe;
    }
    if (is_of_sampling_[name] != 0 || (has_origin && in_sampling_[origin.value] != 0)) {
      return WorkPart::kSampling;
    }
    return OfClass(kernel_class);
  }

 private:
  static WorkPart OfClass(KernelClass kernel_class) {
    switch (kernel_class) {
      case KernelClass::kGemm:
        return WorkPart::kGemm;
      case KernelClass::kNorm:
        return WorkPart::kNorm;
      case KernelClass::kPointwise:
        return WorkPart::kPointwise;
      case KernelClass::kEmbedding:
        return WorkPart::kEmbedding;
      case KernelClass::kReduction:
      case KernelClass::kSoftmax:
        return WorkPart::kReduction;
      case KernelClass::kSort:
        return WorkPart::kSort;
      case KernelClass::kCopy:
        return WorkPart::kCopy;
      case KernelClass::kAttention:
      case KernelClass::kCollective:
      case KernelClass::kConv:
      case KernelClass::kOptimizer:
      case KernelClass::kOther:
      case KernelClass::kCount:
        break;
    }
    return WorkPart::kOther;
  }

  const RankView& view_;
  std::vector<char> is_of_experts_;  // per text
  std::vector<char> is_of_sampling_;
  std::vector<char> in_experts_;  // per host row
  std::vector<char> in_sampling_;
};

// ---- Steps ----

InferenceStep StepAt(const RankView& view, HostId event, KnownBy known_by, const StepNotes& notes) {
  InferenceStep step;
  step.event = event;
  step.process = ProcessOf(view.trace, event);
  step.begin_ns = view.trace.host().ts_ns[event.value];
  step.known_by = known_by;
  step.notes = notes;
  return step;
}

// Annotations with notes that are not inside another one of their thread.
std::vector<InferenceStep> AnnotatedSteps(const RankView& view, const PhasePatterns* patterns) {
  const Trace& trace = view.trace;
  const HostEvents& host = trace.host();
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> notes_of(trace.strings().size(), kNone);  // place in `notes`, by text
  std::vector<StepNotes> notes;
  for (const uint32_t i : EachRow(notes_of.size())) {
    const std::string_view name = trace.Text(StringId{i});
    const std::optional<StepNotes> read =
        patterns != nullptr ? patterns->Read(name) : ReadStepName(name);
    if (read.has_value()) {
      notes_of[i] = static_cast<uint32_t>(notes.size());
      notes.push_back(*read);
    }
  }
  const KnownBy known_by = patterns != nullptr ? KnownBy::kPattern : KnownBy::kAnnotation;
  std::vector<InferenceStep> steps;
  HostId outer;
  for (const uint32_t row : EachRow(host.size())) {
    const uint32_t place = notes_of[host.name[row].value];
    if (host.kind[row] != HostKind::kAnnotation || place == kNone) {
      continue;
    }
    const bool is_inside = outer.valid() && host.track[outer.value] == host.track[row] &&
                           host.ts_ns[row] < host.end_ns(outer);
    if (!is_inside) {
      outer = HostId{row};
      steps.push_back(StepAt(view, outer, known_by, notes[place]));
    }
  }
  return steps;
}

// By begin, and numbered, with the ends that follow from the next of their process. That a step has
// a period is known here, and how long it is on the host; MeasureSteps asks the device.
void FinishSteps(std::vector<InferenceStep>& steps) {
  std::stable_sort(steps.begin(), steps.end(), [](const InferenceStep& a, const InferenceStep& b) {
    return std::pair(a.begin_ns, a.event.value) < std::pair(b.begin_ns, b.event.value);
  });
  std::map<int64_t, InferenceStep*> last_of;  // process
  std::map<int64_t, int64_t> counts;
  for (InferenceStep& step : steps) {
    step.number = counts[step.process]++;
    step.end_ns = std::numeric_limits<int64_t>::max();
    if (InferenceStep*& last = last_of[step.process]; last != nullptr) {
      last->end_ns = step.begin_ns;
      last->period_ns = SubtractSaturating(step.begin_ns, last->begin_ns);
    }
    last_of[step.process] = &step;
  }
}

std::vector<InferenceStep> StepsOfPasses(const RankView& view, const Generation& generation,
                                         KnownBy known_by) {
  std::vector<InferenceStep> steps;
  steps.reserve(generation.passes.size());
  for (const GenerationPass& pass : generation.passes) {
    steps.push_back(StepAt(view, pass.begin, known_by, pass.notes));
  }
  FinishSteps(steps);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].end_ns = std::min(steps[i].end_ns, generation.passes[i].end_ns);
    steps[i].period_ns = generation.passes[i].is_last ? kMissing : steps[i].period_ns;
  }
  return steps;
}

// ---- Times ----

// The streams on which kernels ran. What only copies, as a cache in the background, may take longer
// than many steps, and they do not wait for it.
std::vector<char> StreamsWithKernels(const Trace& trace) {
  const DeviceEvents& device = trace.device();
  std::vector<char> has_kernels(trace.tracks().size());
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kKernel) {
      has_kernels[device.track[row].value] = 1;
    }
  }
  return has_kernels;
}

// When the work ended that a process launched before its first step, and between two steps.
class LaunchedEnds {
 public:
  // `steps`: of one process, by begin.
  explicit LaunchedEnds(std::vector<InferenceStep*> steps)
      : steps_(std::move(steps)), ends_(steps_.size() + 1, kMissing) {}

  void Add(int64_t launch_ns, int64_t end_ns) {
    const auto next = std::partition_point(
        steps_.begin(), steps_.end(),
        [launch_ns](const InferenceStep* step) { return step->begin_ns <= launch_ns; });
    int64_t& end = ends_[static_cast<size_t>(next - steps_.begin())];
    end = std::max(end, end_ns);
  }
  void AddBeforeAll(int64_t end_ns) { ends_.front() = std::max(ends_.front(), end_ns); }

  // Sets `time` of the steps, and the length of each period.
  void Measure() const {
    int64_t done_ns = std::max(steps_.front()->begin_ns, ends_.front());
    for (size_t i = 0; i < steps_.size(); ++i) {
      InferenceStep& step = *steps_[i];
      step.time.begin = done_ns;
      done_ns = std::max(done_ns, ends_[i + 1]);
      done_ns = i + 1 < steps_.size() ? std::max(done_ns, steps_[i + 1]->begin_ns) : done_ns;
      const bool has_period = step.period_ns != kMissing;
      step.time.end = has_period ? done_ns : std::numeric_limits<int64_t>::max();
      step.period_ns = has_period ? SubtractSaturating(done_ns, step.time.begin) : kMissing;
    }
  }

 private:
  std::vector<InferenceStep*> steps_;
  std::vector<int64_t> ends_;  // [i]: of what was launched between the begins of steps i - 1 and i
};

// From completion to completion. REQUIRES: all steps of the recording, by begin. Selections do not
// matter. O(rows log steps).
void MeasureSteps(const RankView& view, std::vector<InferenceStep>& steps) {
  std::map<int64_t, std::vector<InferenceStep*>> of_process;
  for (InferenceStep& step : steps) {
    of_process[step.process].push_back(&step);
  }
  std::map<int64_t, LaunchedEnds> ends;
  for (auto& [process, own] : of_process) {
    ends.try_emplace(process, std::move(own));
  }
  const Trace& trace = view.trace;
  const DeviceEvents& device = trace.device();
  const std::shared_ptr<const ClockedSyncs> clocked = SharedClockedSyncs(view);
  const auto end_of = [&](DeviceId id) {
    return AddSaturating(device.end_ns(id), clocked->clocks.SkewOf(device.track[id.value]));
  };
  const std::vector<char> has_kernels = StreamsWithKernels(trace);
  for (const uint32_t row : EachRow(device.size())) {
    const HostId launch = view.index.correlation.launch_of[row];
    if (!launch.valid() || !IsDeviceWork(device.kind[row]) ||
        has_kernels[device.track[row].value] == 0) {
      continue;
    }
    if (const auto own = ends.find(ProcessOf(trace, launch)); own != ends.end()) {
      own->second.Add(trace.host().ts_ns[launch.value], end_of(DeviceId{row}));
    }
  }
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  for (const DeviceId id : inherited->Rows()) {
    // Whose it is only a recording of one process says: the work of others may be on the device.
    if (ends.size() == 1 && has_kernels[device.track[id.value].value] != 0) {
      ends.begin()->second.AddBeforeAll(end_of(id));
    }
  }
  for (const auto& [process, own] : ends) {
    own.Measure();
  }
}

// ---- Work ----

void Add(const DeviceEvents& device, DeviceId id, bool in_graph, WorkSums& sums) {
  ++sums.works;
  AddSaturatingTo(sums.device_ns, device.dur_ns[id.value]);
  AddSaturatingTo(sums.graph_ns, in_graph ? device.dur_ns[id.value] : 0);
}

class WorkDivider {
 public:
  WorkDivider(const RankView& view, const Selected& selected, InferenceSteps& found)
      : view_(view),
        selected_(selected),
        found_(found),
        parts_(view),
        clocked_(SharedClockedSyncs(view)) {
    const std::vector<InferenceStep>& steps = found.steps;
    for (size_t i = 0; i < steps.size(); ++i) {
      of_process_[steps[i].process].push_back(i);
    }
    is_graph_launch_ = FlagNames(view.trace.strings(), IsGraphLaunchName);
  }

  void Divide() {
    const DeviceEvents& device = view_.trace.device();
    std::vector<std::vector<Interval>> times(found_.steps.size());
    for (const uint32_t row : EachRow(device.size())) {
      const DeviceId id{row};
      if (!selected_.Keeps(id)) {
        continue;
      }
      const HostId launch = view_.index.correlation.launch_of[row];
      const std::optional<size_t> step = launch.valid() ? StepOf(launch) : std::nullopt;
      const bool in_graph = IsInGraph(id, launch);
      if (step.has_value()) {
        Add(device, id, in_graph, found_.steps[*step].work);
        const int64_t skew_ns = clocked_->clocks.SkewOf(device.track[row]);
        times[*step].push_back(
            {AddSaturating(device.ts_ns[row], skew_ns), AddSaturating(device.end_ns(id), skew_ns)});
      }
      const size_t sums = step.has_value() ? static_cast<size_t>(found_.steps[*step].notes.phase)
                          : launch.valid() ? kNoStepRow
                                           : kNoLaunchRow;
      Add(device, id, in_graph, found_.work[sums]);
      PartSum& part = found_.parts[sums][static_cast<size_t>(parts_.PartOf(id))];
      ++part.works;
      AddSaturatingTo(part.device_ns, device.dur_ns[row]);
    }
    for (size_t i = 0; i < times.size(); ++i) {
      AddTimes(std::move(times[i]), found_.steps[i].time, found_.steps[i].work);
    }
  }

 private:
  // The step of its process in which a call began.
  std::optional<size_t> StepOf(HostId launch) const {
    const auto steps = of_process_.find(ProcessOf(view_.trace, launch));
    if (steps == of_process_.end()) {
      return std::nullopt;
    }
    const int64_t begin_ns = view_.trace.host().ts_ns[launch.value];
    const auto next =
        std::partition_point(steps->second.begin(), steps->second.end(),
                             [&](size_t i) { return found_.steps[i].begin_ns <= begin_ns; });
    if (next == steps->second.begin()) {
      return std::nullopt;
    }
    const InferenceStep& step = found_.steps[*(next - 1)];
    const bool is_own = step.known_by != KnownBy::kGraph || step.event == launch;
    return begin_ns < step.end_ns && is_own ? std::optional(*(next - 1)) : std::nullopt;
  }

  bool IsInGraph(DeviceId id, HostId launch) const {
    return (launch.valid() && is_graph_launch_[view_.trace.host().name[launch.value].value] != 0) ||
           GraphNodeOf(view_.trace, id) != kMissing;
  }

  static void AddTimes(std::vector<Interval> times, Interval of_step, WorkSums& sums) {
    for (const Interval& time : times) {
      sums.begin_ns = sums.begin_ns == kMissing ? time.begin : std::min(sums.begin_ns, time.begin);
      sums.end_ns = std::max(sums.end_ns, time.end);
    }
    sums.busy_ns = Coverage(Clip(Union(std::move(times)), of_step));
  }

  const RankView& view_;
  const Selected& selected_;
  InferenceSteps& found_;
  PartFinder parts_;
  std::shared_ptr<const ClockedSyncs> clocked_;
  std::map<int64_t, std::vector<size_t>> of_process_;  // steps, by begin
  std::vector<char> is_graph_launch_;                  // per text
};

}  // namespace

std::string_view KnownByName(KnownBy known_by) {
  constexpr std::array<std::string_view, 4> kNames = {"annotation", "pattern", "sequence", "graph"};
  return kNames[static_cast<size_t>(known_by)];
}

std::string_view WorkPartName(WorkPart part) {
  constexpr std::array<std::string_view, static_cast<size_t>(WorkPart::kCount)> kNames = {
      "attention", "moe",       "gemm",      "communication", "sampling", "norm",
      "pointwise", "embedding", "reduction", "sort",          "copy",     "other"};
  return kNames[static_cast<size_t>(part)];
}

std::string_view PhaseRowName(size_t row) {
  return row == kNoStepRow     ? "(no step)"
         : row == kNoLaunchRow ? "(no launch)"
                               : InferencePhaseName(static_cast<InferencePhase>(row));
}

Result<InferenceSteps> FindInferenceSteps(const RankView& view, const Selected& selected,
                                          const Params& params) {
  const std::vector<std::string_view> texts = params.Texts(kPhasePatternParam);
  BS_ASSIGN(const PhasePatterns patterns, PhasePatterns::Parse(texts));
  InferenceSteps found;
  found.steps = AnnotatedSteps(view, texts.empty() ? nullptr : &patterns);
  FinishSteps(found.steps);
  if (found.steps.empty() && !texts.empty()) {
    found.reason = "no annotation has a name that `phase_pattern` matches";
  } else if (found.steps.empty()) {
    Generation generation = FindGeneration(view);
    found.steps = StepsOfPasses(view, generation, KnownBy::kSequence);
    found.reason = generation.reason;
    if (found.steps.empty()) {
      found.steps = StepsOfPasses(view, FindGraphDecode(view, selected), KnownBy::kGraph);
    }
  }
  MeasureSteps(view, found.steps);
  std::erase_if(found.steps, [&](const InferenceStep& s) { return !selected.Keeps(s.event); });
  if (found.steps.empty()) {
    found.reason = found.reason.empty() ? "no step begins in the selected time" : found.reason;
    return found;
  }
  WorkDivider(view, selected, found).Divide();
  return found;
}

}  // namespace borescope::internal
