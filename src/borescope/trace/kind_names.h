// Names of the kinds of events in tables and files.
#pragma once

#include <cstddef>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

inline std::string_view HostKindName(HostKind kind) {
  constexpr std::string_view kNames[] = {"python", "annotation", "op", "runtime", "other"};
  return kNames[static_cast<size_t>(kind)];
}

inline std::string_view DeviceKindName(DeviceKind kind) {
  constexpr std::string_view kNames[] = {"kernel",     "memcpy", "memset", "sync",
                                         "annotation", "range",  "other"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace borescope::internal
