// The analyses of the core, by name. Each is defined in the folder of its name: what it computes,
// its options, and what of its tables is drawn.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

extern const AnalysisSpec kAnnotationsVerb;
extern const AnalysisSpec kBandwidthVerb;
extern const AnalysisSpec kBreakdownVerb;
extern const AnalysisSpec kBusyVerb;
extern const AnalysisSpec kCollectivesVerb;
extern const AnalysisSpec kCountersVerb;
extern const AnalysisSpec kCriticalPathVerb;
extern const AnalysisSpec kWhatIfVerb;
extern const AnalysisSpec kDelaysVerb;
extern const AnalysisSpec kDiffVerb;
extern const AnalysisSpec kDoctorVerb;
extern const AnalysisSpec kEventsVerb;
extern const AnalysisSpec kFlameVerb;
extern const AnalysisSpec kGapsVerb;
extern const AnalysisSpec kGraphsVerb;
extern const AnalysisSpec kIdleVerb;
extern const AnalysisSpec kInferenceVerb;
extern const AnalysisSpec kInfoVerb;
extern const AnalysisSpec kKernelsVerb;
extern const AnalysisSpec kLaunchesVerb;
extern const AnalysisSpec kMemoryVerb;
extern const AnalysisSpec kOpsVerb;
extern const AnalysisSpec kOverlapVerb;
extern const AnalysisSpec kQueueVerb;
extern const AnalysisSpec kRooflineVerb;
extern const AnalysisSpec kSequencesVerb;
extern const AnalysisSpec kStacksVerb;
extern const AnalysisSpec kStatsVerb;
extern const AnalysisSpec kStepsVerb;
extern const AnalysisSpec kStragglersVerb;
extern const AnalysisSpec kSummaryVerb;
extern const AnalysisSpec kTimelineVerb;
extern const AnalysisSpec kTopVerb;
extern const AnalysisSpec kVariabilityVerb;
extern const AnalysisSpec kVarianceVerb;
extern const AnalysisSpec kWaitsVerb;

}  // namespace borescope::internal
