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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/inference/step_names.h"
#include "borescope/base/intervals.h"
#include "borescope/base/result.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

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
