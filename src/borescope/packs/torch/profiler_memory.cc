#include "borescope/packs/torch/profiler_memory.h"

#include <algorithm>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/packs/torch/profiler_calls.h"

namespace borescope::internal {
namespace {

struct Span {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// The time in which any event of the profiler runs, by begin; spans neither overlap nor touch.
std::vector<Span> TimeOfEvents(const Trace& trace) {
  const HostEvents& host = trace.host();
  std::vector<Span> spans;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (IsInProfilerTree(trace, HostId{row}, ProfilerEvents::kAll)) {
      spans.push_back({host.ts_ns[row], host.end_ns(HostId{row})});
    }
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  size_t merged = 0;
  for (const Span& span : spans) {
    if (merged > 0 && span.begin_ns <= spans[merged - 1].end_ns) {
      spans[merged - 1].end_ns = std::max(spans[merged - 1].end_ns, span.end_ns);
    } else {
      spans[merged++] = span;
    }
  }
  spans.resize(merged);
  return spans;
}

bool IsInside(const std::vector<Span>& spans, int64_t ts_ns) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), ts_ns,
                       [](int64_t ts, const Span& span) { return ts < span.begin_ns; });
  return after != spans.begin() && ts_ns <= std::prev(after)->end_ns;
}

}  // namespace

int64_t CountMemoryOutsideOfEvents(const Trace& trace) {
  const MemoryEvents& memory = trace.memory();
  if (memory.size() == 0) {
    return 0;
  }
  const std::vector<Span> spans = TimeOfEvents(trace);
  int64_t count = 0;
  for (uint32_t row = 0; row < memory.size(); ++row) {
    CheckStopAt(row);
    const bool is_recorded = memory.ts_ns[row] != kMissing;  // else from before the recording
    count += is_recorded && !IsInside(spans, memory.ts_ns[row]) ? 1 : 0;
  }
  return count;
}

}  // namespace borescope::internal
