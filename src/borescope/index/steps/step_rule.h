// To which step the work and the time of devices belong.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class StepRule : uint8_t {
  kLaunch,  // the step in whose window the work was launched, wherever it runs
  kTime,    // time is cut at the windows of the steps on the host
};

// As written after --step-rule, in the order of the enum.
inline constexpr std::array<std::string_view, 2> kStepRules = {"launch", "time"};

}  // namespace borescope::internal
