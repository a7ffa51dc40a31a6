#include "borescope/analysis/verbs/waits/late_causes.h"

#include <iterator>

namespace borescope::internal {

std::string_view LateCauseName(LateCause cause) {
  constexpr std::string_view kNames[] = {"compute",          "copy",         "communication",
                                         "idle: data",       "idle: host",   "idle: sync",
                                         "idle: launch",     "idle: device", "idle: unknown",
                                         "before recording", "inherited",    "waiting"};
  static_assert(std::size(kNames) == kLateCauses);
  return kNames[static_cast<size_t>(cause)];
}

}  // namespace borescope::internal
