// Kinds of copies: source and target, derived from the name of the event by one table of rules
// (copy_kind.cc). NVIDIA, AMD, Intel and MTIA names.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

// In the order in which tables list them.
enum class CopyKind : uint8_t {
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,  // between devices
  kHostToHost,
  kMemset,
  kOther,
  kCount
};

// "HtoD", ...
std::string_view CopyKindName(CopyKind kind);

// The kind of a copy by its name; every memset is one. Pure; any thread.
CopyKind ClassifyCopy(DeviceKind kind, std::string_view name);

}  // namespace borescope::internal
