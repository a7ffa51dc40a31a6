// Random text of a "traceEvents" array: well-formed JSON in any layout, order of keys and spelling,
// with values a reader has to expect and many it has not.
#pragma once

#include <string>

#include "tests/oracle/random.h"

namespace borescope::internal::testkit {

enum class Layout : uint8_t {
  kCompact,  // no white space
  kPretty,   // Kineto's: one member per line
  kMixed,    // anything between tokens
};

struct EventsOptions {
  Layout layout = Layout::kMixed;
  bool is_odd = true;      // unknown keys, odd types and spellings
  size_t long_values = 0;  // events with a value of about this many bytes, now and then
};

// `count` events with their commas, without the brackets of the array. REQUIRES: count > 0.
std::string RandomEvents(Random& random, size_t count, const EventsOptions& options);

}  // namespace borescope::internal::testkit
