// What a piece of device work is, as a reader of the trace names it from the work's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace borescope::simulation {

enum class WorkClass : uint8_t {
  kGemm,
  kAttention,
  kNorm,
  kPointwise,
  kSoftmax,
  kReduction,
  kOptimizer,
  kCollective,
  kCopy,
  kCount
};

std::string_view WorkClassName(WorkClass work_class);
std::optional<WorkClass> FindWorkClass(std::string_view name);

// What part of training the work belongs to.
enum class Phase : uint8_t { kForward, kBackward, kOptimizer, kCount };

std::string_view PhaseName(Phase phase);
std::optional<Phase> FindPhase(std::string_view name);

}  // namespace borescope::simulation
