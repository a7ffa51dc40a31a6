// Whatever the bytes are: loading ends in an Error or in a trace that can be indexed. The same
// inputs as fuzz_kineto, without the analyses: thirty times as many a second.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "thread_count.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const borescope::internal::Result<borescope::internal::Trace> trace =
      borescope::internal::LoadBytes(bytes, "fuzz", {fuzz::kThreads, {}});
  if (trace.ok()) {
    borescope::internal::BuildIndex(*trace, fuzz::kThreads);
  }
  return 0;
}
