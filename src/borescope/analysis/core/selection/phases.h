// Phases of training, by what is around an event on the host:
//
//   backward   below an operator named autograd::engine::evaluate_function..., or an operator that
//              carries the number of its forward thread (> 0)
//   recompute  below an operator inside backward that repeats forward, as checkpointing makes them
//              (repeated_ops.h)
//   optimizer  below an annotation Optimizer.step#... or Optimizer.zero_grad#...
//   forward    any other operator
//   other      device work whose launch and operator are unknown
//
// The innermost mark decides, so a function that autograd runs backward inside a repeated forward
// is backward.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// What the names of the operators begin with around whom autograd runs one function backward.
inline constexpr std::string_view kBackwardMark = "autograd::engine::evaluate_function";

// Per text of the pool, by its StringId: 1 for those. O(texts).
std::vector<char> BackwardNames(const StringPool& strings);

enum class Phase : uint8_t { kForward, kBackward, kRecompute, kOptimizer, kOther };

std::string_view PhaseName(Phase phase);

// The phase of every host row. O(rows).
std::vector<Phase> HostPhases(const RankView& view);
// The same, found once within one question.
std::shared_ptr<const std::vector<Phase>> SharedHostPhases(const RankView& view);

// The phase of a device event: that of its launch, else of its operator.
Phase PhaseOf(const RankView& view, const std::vector<Phase>& host_phases, DeviceId id);

}  // namespace borescope::internal
