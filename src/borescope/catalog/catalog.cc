#include "borescope/catalog/catalog.h"

#include <algorithm>
#include <iterator>

#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

// Order = order in --help.
constexpr const AnalysisSpec* kAnalyses[] = {
    &kInfoVerb,        &kDoctorVerb,    &kSummaryVerb,      &kBreakdownVerb,   &kBusyVerb,
    &kIdleVerb,        &kGapsVerb,      &kOverlapVerb,      &kTopVerb,         &kKernelsVerb,
    &kVariabilityVerb, &kInductorVerb,  &kOpsVerb,          &kRooflineVerb,    &kStacksVerb,
    &kFlameVerb,       &kStepsVerb,     &kLaunchesVerb,     &kDelaysVerb,      &kGraphsVerb,
    &kQueueVerb,       &kBandwidthVerb, &kSequencesVerb,    &kAnnotationsVerb, &kCollectivesVerb,
    &kStragglersVerb,  &kWaitsVerb,     &kCriticalPathVerb, &kWhatIfVerb,      &kVarianceVerb,
    &kInferenceVerb,   &kMemoryVerb,    &kCountersVerb,     &kStatsVerb,       &kProfVerb,
    &kEventsVerb,      &kTimelineVerb,  &kDiffVerb,
};

// Order = order of the report's page. Analyses that are not named here come before the last three.
constexpr const AnalysisSpec* kFirstSections[] = {
    &kSummaryVerb,   &kBreakdownVerb, &kCriticalPathVerb, &kWhatIfVerb,      &kStepsVerb,
    &kInferenceVerb, &kVarianceVerb,  &kKernelsVerb,      &kOpsVerb,         &kFlameVerb,
    &kStacksVerb,    &kRooflineVerb,  &kIdleVerb,         &kGapsVerb,        &kLaunchesVerb,
    &kDelaysVerb,    &kQueueVerb,     &kOverlapVerb,      &kCollectivesVerb, &kStragglersVerb,
    &kWaitsVerb,     &kBandwidthVerb, &kMemoryVerb,       &kInductorVerb,    &kVariabilityVerb,
    &kSequencesVerb, &kGraphsVerb,    &kAnnotationsVerb};
constexpr const AnalysisSpec* kLastSections[] = {&kCountersVerb, &kInfoVerb, &kDoctorVerb};

bool IsAmong(std::span<const AnalysisSpec* const> list, const AnalysisSpec* spec) {
  return std::find(list.begin(), list.end(), spec) != list.end();
}

}  // namespace

std::span<const AnalysisSpec* const> Analyses() { return kAnalyses; }

const AnalysisSpec* FindAnalysis(std::string_view name) {
  const auto* found = std::find_if(std::begin(kAnalyses), std::end(kAnalyses),
                                   [name](const AnalysisSpec* spec) { return spec->name == name; });
  return found == std::end(kAnalyses) ? nullptr : *found;
}

std::vector<const AnalysisSpec*> SectionOrder() {
  std::vector<const AnalysisSpec*> order(std::begin(kFirstSections), std::end(kFirstSections));
  for (const AnalysisSpec* spec : kAnalyses) {
    if (!IsAmong(kFirstSections, spec) && !IsAmong(kLastSections, spec)) {
      order.push_back(spec);
    }
  }
  order.insert(order.end(), std::begin(kLastSections), std::end(kLastSections));
  return order;
}

}  // namespace borescope::internal
