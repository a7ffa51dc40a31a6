// Random text of events whose layouts repeat, as profilers write them, with values that readers
// expect and many that they do not.
#pragma once

#include <string>

#include "tests/oracle/random.h"

namespace borescope::internal::testkit {

struct LayoutsOptions {
  int layouts = 4;       // that the events choose from
  double oddity = 0.05;  // how often a value is an odd one
  double damage = 0;     // how often what separates tokens is wrong
};

// `count` events with their commas, without the brackets of the array. REQUIRES: count > 0.
std::string RandomLayouts(Random& random, size_t count, const LayoutsOptions& options);

}  // namespace borescope::internal::testkit
