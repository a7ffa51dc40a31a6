// What `borescope summary` finds in a planted run, without files.
#pragma once

#include <string>
#include <vector>

#include "tests/support/planted/planted_run.h"

namespace borescope::internal::testkit {

struct VerdictLine {
  std::string finding;
  std::string severity;
  std::string evidence;
  double value = 0;
  std::string help;
};

// In setting kWholeProcess it was recorded by another profiler than PyTorch's.
std::vector<VerdictLine> VerdictOf(const scenario::PlantedRun& run, scenario::Setting setting);

}  // namespace borescope::internal::testkit
