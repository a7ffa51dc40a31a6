#include "borescope/analysis/verbs/inference/step_names.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "borescope/base/memory_limit.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"

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

}  // namespace borescope::internal
