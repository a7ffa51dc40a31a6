// What tables and files call the kinds of events.
#pragma once

#include <cstddef>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope {

inline std::string_view HostKindName(HostKind kind) {
  constexpr std::string_view kNames[] = {"python", "annotation", "op", "runtime", "other"};
  return kNames[static_cast<size_t>(kind)];
}

// Of device work.
inline std::string_view DeviceKindName(DeviceKind kind) {
  return kind == DeviceKind::kKernel ? "kernel" : kind == DeviceKind::kMemcpy ? "memcpy" : "memset";
}

}  // namespace borescope
