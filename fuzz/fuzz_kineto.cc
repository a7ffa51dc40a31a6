// Whatever the bytes are: loading ends in an Error or in a trace, and a trace that was loaded can
// be indexed and asked every question.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "borescope/analysis/registry.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const borescope::Result<borescope::Trace> trace = borescope::LoadBytes(bytes, "fuzz", {});
  if (!trace.ok()) return 0;

  const borescope::TraceIndex index = borescope::BuildIndex(*trace, 1);
  const borescope::RankView view{.rank = 0, .trace = *trace, .index = index};
  const borescope::Params params;
  for (const borescope::AnalysisSpec& analysis : borescope::Analyses()) {
    borescope::Result<borescope::Findings> mapped = analysis.map(view, params);
    if (!mapped.ok()) continue;
    borescope::Result<borescope::Findings> reduced = analysis.reduce({&*mapped, 1}, params);
    if (!reduced.ok() || analysis.finish == nullptr) continue;
    // Only its crashes are of interest.
    static_cast<void>(analysis.finish(std::move(reduced).value(), params));
  }
  return 0;
}
