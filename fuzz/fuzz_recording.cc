// Whatever a log of a recording holds: loading ends in an Error or in a trace, and a trace that was
// loaded can be indexed.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "borescope/index/trace_index.h"
#include "borescope/ingest/recording/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const borescope::internal::Result<borescope::internal::Trace> trace =
      borescope::internal::LoadRecordingLog(bytes, "fuzz", size, {1, {}});
  if (trace.ok()) {
    borescope::internal::BuildIndex(*trace, 1);
  }
  return 0;
}
