// Whatever a report of counters holds: reading ends in an Error or in a report whose kernels refer
// to its metrics, in their order and with finite values, and of which a trace can be made and
// indexed.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "borescope/index/trace_index.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/ingest/ncu/report_trace.h"

namespace {

using namespace borescope::internal;

void Check(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void CheckReport(const CounterReport& report) {
  for (const CountedKernel& kernel : report.kernels) {
    for (size_t i = 0; i < kernel.values.size(); ++i) {
      Check(kernel.values[i].metric < report.metrics.size());
      Check(i == 0 || kernel.values[i - 1].metric < kernel.values[i].metric);
      Check(std::isfinite(kernel.values[i].value) && kernel.values[i].rounded_by >= 0);
    }
    for (const CountedKernel::Text& text : kernel.texts) {
      Check(text.metric < report.metrics.size());
    }
    Check(kernel.range_numbers.empty() || kernel.range_numbers.size() == kernel.ranges.size());
    Check(kernel.dur_ns >= -1 && kernel.ts_ns >= -1);
  }
  for (const auto& [metric, kernels] : report.without_value) {
    Check(metric < report.metrics.size() && kernels <= report.kernels.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const borescope::internal::Result<CounterReport> report =
      ReadCounterReportBytes(bytes, "fuzz", diagnostics);
  if (report.ok()) {
    CheckReport(*report);
    BuildIndex(TraceOfReport(*report, TraceFormat::kNcuReport, size, std::move(diagnostics), 1), 1);
  }
  return 0;
}
