// The end of a process that ends by itself: its log says so.
#include "core/clock.h"
#include "core/log.h"
#include "core/state.h"

namespace borescope::inject {

namespace {

// Only writes to memory. Other functions that run at exit may still record; the process's status is
// known to the launcher alone.
__attribute__((destructor)) void End() {
  if (g_log->phase.load() != Phase::kOpen) return;
  const uint64_t body[] = {Now(), 0};
  WriteProcessRecord(recording::RecordType::kEnd, static_cast<uint32_t>(recording::EndKind::kExit),
                     body, 2, "");
}

}  // namespace

}  // namespace borescope::inject
