// Which operators wait for device work, as the reference linker learns it from the critical path
// that HTA (of June 2024) finds in the first step: waits on that path, by "External id".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/compat/chakra/device_events.h"

namespace borescope::internal::chakra::compat {

struct SyncDeps {
  // External id of who waits -> those of whom it waits for.
  HashMap<int64_t, std::vector<int64_t>> by_waiting;
  std::string failure;  // why there are none where the reference ends with an error; else empty
};

SyncDeps FindSyncDeps(const DeviceTrace& trace);

}  // namespace borescope::internal::chakra::compat
