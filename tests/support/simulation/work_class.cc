#include "tests/support/simulation/work_class.h"

#include <array>
#include <cstddef>

namespace borescope::simulation {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(WorkClass::kCount)> kClasses = {
    "gemm",      "attention", "norm",       "pointwise", "softmax",
    "reduction", "optimizer", "collective", "copy"};
constexpr std::array<std::string_view, static_cast<size_t>(Phase::kCount)> kPhases = {
    "forward", "backward", "optimizer"};

template <class E, size_t kSize>
std::optional<E> Find(const std::array<std::string_view, kSize>& names, std::string_view name) {
  for (size_t i = 0; i < kSize; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view WorkClassName(WorkClass work_class) {
  return kClasses[static_cast<size_t>(work_class)];
}

std::optional<WorkClass> FindWorkClass(std::string_view name) {
  return Find<WorkClass>(kClasses, name);
}

std::string_view PhaseName(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }

std::optional<Phase> FindPhase(std::string_view name) { return Find<Phase>(kPhases, name); }

}  // namespace borescope::simulation
