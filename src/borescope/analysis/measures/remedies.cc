#include "borescope/analysis/measures/remedies.h"

#include "borescope/analysis/measures/recorded.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kCountersInstead =
    "hardware counters were measured instead (`borescope counters`); record once more without "
    "profiler_metrics for times";

bool IsOfCountersOnly(const Trace& trace) {
  return trace.meta().format == TraceFormat::kKineto && trace.ranges().size() > 0 &&
         !HasDeviceWork(trace);
}

// Whether device work would show it, so that a recording of counters alone cannot.
bool IsOfDevices(MissingData lack) {
  return lack == MissingData::kDeviceWork || lack == MissingData::kLaunches ||
         lack == MissingData::kCollectives || lack == MissingData::kGraphs ||
         lack == MissingData::kCopies;
}

}  // namespace

std::string_view RemedyFor(MissingData lack, const Trace& trace) {
  if (IsOfDevices(lack) && IsOfCountersOnly(trace)) {
    return kCountersInstead;
  }
  const Remedy remedy = trace.meta().remedy;
  return remedy == nullptr ? std::string_view() : remedy(lack);
}

}  // namespace borescope::internal
