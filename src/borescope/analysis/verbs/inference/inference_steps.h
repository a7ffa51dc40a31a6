// The steps of an inference program: what the names of their annotations say, and the device work
// that each of them launched.
//
// A step begins with its annotation (or operator, or launch of a graph: `known_by`), and ends where
// the next one of its process begins; the last one lasts to the end of the recording. All device
// work that any thread of the process launches in that time belongs to the step, wherever it runs:
// what samples the next tokens is launched after the annotation. All other work is in no step. Work
// in steps, in no step, and without a recorded launch adds up to all device work. A step known by
// its graph alone has the work of that launch, and no more.
//
// The time of a step is from completion to completion: from its begin, or the end of all work that
// was launched before it if that is later, to the begin of the next step, or the end of all work
// that was launched before that if it is later. A host that waits for each token has steps as long
// as its own; one that runs ahead has those of the device. So the times of a process are disjoint,
// and next to each other while steps follow each other. Work on streams without any kernel, such as
// copies of a cache in the background, delays no step. The period is the length of this time; the
// last step, and the last decode step of a generation that no annotation marks, have none.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/intervals.h"
#include "borescope/base/result.h"
#include "borescope/trace/tables.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace borescope::internal {

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

// What the phase of a step is known by, the most certain first.
enum class KnownBy : uint8_t {
  kAnnotation,  // the name that a server gives it
  kPattern,     // the name, by an expression of the user's
  kSequence,    // operators that recur, and their shapes
  kGraph,       // a graph that reads a cache of keys and values: inferred
};
std::string_view KnownByName(KnownBy known_by);

// What device work is for, finer than its class where serving asks for it.
enum class WorkPart : uint8_t {
  kAttention,
  kMoe,  // routing, permuting and products of experts
  kGemm,
  kCommunication,
  kSampling,  // choosing tokens
  kNorm,
  kPointwise,
  kEmbedding,
  kReduction,
  kSort,
  kCopy,
  kOther,
  kCount
};
std::string_view WorkPartName(WorkPart part);

struct PartSum {
  int64_t works = 0;
  int64_t device_ns = 0;
};
using WorkParts = std::array<PartSum, static_cast<size_t>(WorkPart::kCount)>;

struct WorkSums {
  int64_t works = 0;            // kernels, memcpys and memsets
  int64_t device_ns = 0;        // sum of their durations
  int64_t graph_ns = 0;         // of those launched as graphs
  int64_t busy_ns = 0;          // union, of the time of a step; of a step alone
  int64_t begin_ns = kMissing;  // first start and last end; of a step alone
  int64_t end_ns = kMissing;
};

struct InferenceStep {
  int64_t number = 0;  // in its process, from 0
  HostId event;        // with which it begins
  int64_t process = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // of the time in which its work is launched
  Interval time;       // from completion to completion, on the clock of the host; without a
                       // period it does not end
  int64_t period_ns = kMissing;  // >= 0
  KnownBy known_by = KnownBy::kAnnotation;
  StepNotes notes;
  WorkSums work;
};

// Rows of sums: the phases, then what is in none.
inline constexpr size_t kNoStepRow = 4;
inline constexpr size_t kNoLaunchRow = 5;
inline constexpr size_t kPhaseRows = 6;
std::string_view PhaseRowName(size_t row);

struct InferenceSteps {
  std::vector<InferenceStep> steps;  // by begin
  std::array<WorkSums, kPhaseRows> work;
  std::array<WorkParts, kPhaseRows> parts;
  std::string reason;  // why there are no steps
};

// Selected steps, and selected work. kInvalidArgument for patterns that cannot be read; a pattern
// that matches nothing leaves no steps.
Result<InferenceSteps> FindInferenceSteps(const RankView& view, const Selected& selected,
                                          const Params& params);

}  // namespace borescope::internal
