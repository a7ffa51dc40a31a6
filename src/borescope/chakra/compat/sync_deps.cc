#include "borescope/chakra/compat/sync_deps.h"

namespace borescope::chakra::compat {

SyncDeps FindSyncDeps(const DeviceTrace& trace) {
  static_cast<void>(trace);
  return {};
}

}  // namespace borescope::chakra::compat
