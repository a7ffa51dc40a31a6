// What makes Python programs record: a folder in PYTHONPATH whose sitecustomize runs at their
// start.
#pragma once

#include <cstdint>
#include <string>

#include "borescope/base/result.h"
#include "borescope/recorder/program_environment.h"

namespace borescope::internal {

struct PythonPlan {
  std::string ops = {};        // operators of PyTorch: "nvtx", "profile", or empty for none
  bool shapes = false;         // with "nvtx": shapes of inputs
  uint64_t ops_steps = 0;      // with "profile": the steps of a window; 0: as the package has it
  std::string functions = {};  // "calls", or empty for none
  bool rpd_compat = false;     // rocmProfileData's module and library are found here
  bool counts_steps = false;   // of PyTorch's optimizers, where the package is installed

  bool is_empty() const { return ops.empty() && functions.empty() && !rpd_compat && !counts_steps; }
  // Programs need not be of Python: without the package, they say their steps themselves.
  bool is_optional() const { return ops.empty() && functions.empty() && !rpd_compat; }
};

// Adds the folder, which lies near the library, and the plan. An empty plan adds nothing. Errors:
//   kInvalidArgument  a word that is not known
//   kMissingData      the Python package is not installed
Result<void> AddPython(const PythonPlan& plan, const std::string& library,
                       Environment& environment);

}  // namespace borescope::internal
