#include "borescope/catalog/catalog.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <vector>

#include "borescope/analysis/verbs/verbs.h"
#include "borescope/catalog/pack.h"

namespace borescope::internal {
namespace {

// In the order of --help.
constexpr const AnalysisSpec* kCoreVerbs[] = {
    &kInfoVerb,        &kDoctorVerb,       &kSummaryVerb,     &kBreakdownVerb,   &kBusyVerb,
    &kIdleVerb,        &kGapsVerb,         &kOverlapVerb,     &kTopVerb,         &kKernelsVerb,
    &kVariabilityVerb, &kOpsVerb,          &kRooflineVerb,    &kStacksVerb,      &kFlameVerb,
    &kStepsVerb,       &kLaunchesVerb,     &kDelaysVerb,      &kGraphsVerb,      &kQueueVerb,
    &kBandwidthVerb,   &kSequencesVerb,    &kAnnotationsVerb, &kCollectivesVerb, &kStragglersVerb,
    &kWaitsVerb,       &kCriticalPathVerb, &kWhatIfVerb,      &kVarianceVerb,    &kInferenceVerb,
    &kMemoryVerb,      &kCountersVerb,     &kStatsVerb,       &kEventsVerb,      &kTimelineVerb,
    &kDiffVerb,
};

// In the order of the report's page. Analyses that are not named here come before the last three.
constexpr const AnalysisSpec* kFirstSections[] = {
    &kSummaryVerb,   &kBreakdownVerb,  &kCriticalPathVerb, &kWhatIfVerb,      &kStepsVerb,
    &kInferenceVerb, &kVarianceVerb,   &kKernelsVerb,      &kOpsVerb,         &kFlameVerb,
    &kStacksVerb,    &kRooflineVerb,   &kIdleVerb,         &kGapsVerb,        &kLaunchesVerb,
    &kDelaysVerb,    &kQueueVerb,      &kOverlapVerb,      &kCollectivesVerb, &kStragglersVerb,
    &kWaitsVerb,     &kBandwidthVerb,  &kMemoryVerb,       &kVariabilityVerb, &kSequencesVerb,
    &kGraphsVerb,    &kAnnotationsVerb};
constexpr const AnalysisSpec* kLastSections[] = {&kCountersVerb, &kInfoVerb, &kDoctorVerb};

// A verb with what the packs add to it.
struct Entry {
  AnalysisSpec spec;
  std::vector<CompatPipeline> compats;
  std::vector<const ParamSpec*> params;  // without those of tools whose pack is not built
};

using Order = std::vector<const AnalysisSpec*>;

Order::const_iterator FindByName(const Order& order, std::string_view name) {
  return std::find_if(order.begin(), order.end(),
                      [name](const AnalysisSpec* spec) { return spec->name == name; });
}

// Adds `spec` after the verb with that name, or at the end if there is none.
void InsertAfter(Order& order, std::string_view name, const AnalysisSpec* spec) {
  const auto found = FindByName(order, name);
  order.insert(found == order.end() ? found : found + 1, spec);
}

class Catalog {
 public:
  Catalog();

  Order verbs, sections;

 private:
  const AnalysisSpec* Complete(const AnalysisSpec& spec);
  void OrderSections();

  std::deque<Entry> entries_;  // a deque, whose elements do not move
};

const AnalysisSpec* Catalog::Complete(const AnalysisSpec& spec) {
  Entry& entry = entries_.emplace_back(Entry{.spec = spec, .compats = {}, .params = {}});
  for (const Pack* pack : Packs()) {
    for (const PackPipeline& added : pack->pipelines) {
      if (added.verb == spec.name) entry.compats.push_back({pack->tool, added.pipeline});
    }
  }
  entry.spec.compats = entry.compats;
  std::copy_if(
      spec.params.begin(), spec.params.end(), std::back_inserter(entry.params),
      [&](const ParamSpec* param) { return entry.spec.FindPipeline(param->only_with) != nullptr; });
  entry.spec.params = entry.params;
  return &entry.spec;
}

void Catalog::OrderSections() {
  for (const AnalysisSpec* spec : kFirstSections) {
    sections.push_back(*FindByName(verbs, spec->name));
  }
  for (const Pack* pack : Packs()) {
    for (const PackVerb& added : pack->verbs) {
      if (!added.section_after.empty()) {
        InsertAfter(sections, added.section_after, *FindByName(verbs, added.spec->name));
      }
    }
  }
  Order last;
  for (const AnalysisSpec* spec : kLastSections) {
    last.push_back(*FindByName(verbs, spec->name));
  }
  for (const AnalysisSpec* spec : verbs) {
    const bool is_placed = FindByName(sections, spec->name) != sections.end();
    if (!is_placed && FindByName(last, spec->name) == last.end()) sections.push_back(spec);
  }
  sections.insert(sections.end(), last.begin(), last.end());
}

Catalog::Catalog() {
  for (const AnalysisSpec* spec : kCoreVerbs) {
    verbs.push_back(Complete(*spec));
  }
  for (const Pack* pack : Packs()) {
    for (const PackVerb& added : pack->verbs) {
      InsertAfter(verbs, added.after, Complete(*added.spec));
    }
  }
  OrderSections();
}

// Never destroyed: threads may still ask while a program ends.
const Catalog& TheCatalog() {
  static const Catalog& catalog = *new Catalog();
  return catalog;
}

}  // namespace

std::span<const AnalysisSpec* const> Analyses() { return TheCatalog().verbs; }

const AnalysisSpec* FindAnalysis(std::string_view name) {
  const Order& verbs = TheCatalog().verbs;
  const auto found = FindByName(verbs, name);
  return found == verbs.end() ? nullptr : *found;
}

std::span<const AnalysisSpec* const> SectionOrder() { return TheCatalog().sections; }

}  // namespace borescope::internal
