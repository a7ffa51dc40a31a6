// What `borescope summary` finds in a planted run, without files.
#pragma once

#include <string>
#include <vector>

#include "tests/support/planted_run.h"

namespace borescope::internal::testkit {

struct VerdictLine {
  std::string finding;
  std::string severity;
  std::string evidence;
  double value = 0;
  std::string help;
};

std::vector<VerdictLine> VerdictOf(const scenario::PlantedRun& run);

}  // namespace borescope::internal::testkit
