// What the name of an annotation says about a step of an inference server: which phase it runs, how
// many requests it holds and how many tokens it processes.
//
// Read are the names that servers give to a step themselves:
//
//   vLLM          execute_context_2(6144)_generation_3(3)          requests(tokens) of each phase
//                 execute_context_1(888_788544)_generation_0(0)    tokens_sum of their squares
//                 execute_6147_context_2(sq6144sk7144sqsq...sqsk...)_generation_3(sq3sk6144...)
//                 execute_8192_context_9(sq8155sk8430...)_generation_37
//                 execute_new_1_cached_3       requests that are new, and that ran before
//   SGLang        step[EXTEND bs=2 toks=14721 c_sk=16221], step[DECODE bs=64 g_sk=131072],
//                 step[MIXED bs=2 c=1 g=1 c_sq=5 g_sq=1 ...], step[TARGET_VERIFY bs=4], step[IDLE
//                 ...]
//   ATOM          prefill[bs=2 tok=14721 ctx=[7803, 6918]], decode[bs=117/128 tok=117 p=0 d=117]
//   TensorRT-LLM  [Executor] _forward_step 12: 3 ctx reqs, 40 gen reqs
//
// sq are the tokens of queries, sk those of keys and values that they attend to, summed over the
// requests. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/trace/tables.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace borescope::internal {

// Whether the text contains any of `parts`.
bool HasAnyOf(std::string_view text, std::span<const std::string_view> parts);

enum class InferencePhase : uint8_t {
  kDecode,   // every request gets its next token
  kPrefill,  // prompts, or pieces of prompts, are read
  kMixed,    // both in one batch
  kOther,    // idle steps, draft models, and names that do not say
};
std::string_view InferencePhaseName(InferencePhase phase);

// Numbers are kMissing where the name does not say them.
struct StepNotes {
  InferencePhase phase = InferencePhase::kOther;
  int64_t requests = kMissing;         // of both phases
  int64_t tokens = kMissing;           // processed in the step, for all requests
  int64_t decode_requests = kMissing;  // those that decode
  int64_t decode_tokens = kMissing;    // of these: more than requests where tokens were drafted
  int64_t prefill_tokens = kMissing;
  int64_t kv_tokens = kMissing;  // keys and values that the queries attend to
};

// Nothing where the name is none that a server gives to a step.
std::optional<StepNotes> ReadStepName(std::string_view name);

// The steps of a server, or a program, with names of its own: regular expressions of RE2 with named
// groups, of which each may be absent: `phase` (decode or generation, prefill, extend or context,
// mixed; any other word is the phase "other"), `bs` (requests), `tokens` and `kv`. The first
// expression that matches anywhere in a name decides.
class PhasePatterns {
 public:
  ~PhasePatterns();
  PhasePatterns(PhasePatterns&&) noexcept;
  PhasePatterns& operator=(PhasePatterns&&) noexcept;

  // kInvalidArgument for a text that is no expression of RE2, and for one with another group.
  static Result<PhasePatterns> Parse(std::span<const std::string_view> texts);

  std::optional<StepNotes> Read(std::string_view name) const;

 private:
  // An expression, and the numbers of its groups; 0 for one that it does not have.
  struct Expression {
    std::unique_ptr<re2::RE2> regex;
    int phase = 0;
    int requests = 0;
    int tokens = 0;
    int kv = 0;
  };

  explicit PhasePatterns(std::vector<Expression> expressions);

  std::vector<Expression> expressions_;
};

}  // namespace borescope::internal
