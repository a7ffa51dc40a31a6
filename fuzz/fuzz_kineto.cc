// Whatever the bytes are: loading ends in an Error or in a trace, and a trace that was loaded can
// be indexed, asked any question in any mode, and drawn. The bytes decide which one, so that inputs
// are a hundred times as many a second as with all, and a crash can be repeated.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "borescope/engine/analyse_bytes.h"
#include "borescope/output/writer.h"
#include "input_number.h"
#include "thread_count.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Only its crashes are of interest.
  const auto document =
      borescope::internal::AnalyseBytes(bytes, "fuzz", fuzz::kThreads, fuzz::NumberOf(bytes));
  if (document.ok()) {
    borescope::internal::StringSink picture;
    static_cast<void>(borescope::internal::WriteSvg(*document, {}, picture));
  }
  return 0;
}
