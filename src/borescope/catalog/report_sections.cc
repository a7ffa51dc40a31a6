#include "borescope/catalog/report_sections.h"

#include <algorithm>
#include <iterator>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/pack.h"

namespace borescope::internal {
namespace {

// Panes by what people look for. What a pane shows by itself, as the timeline, needs no analysis
// here.
constexpr const AnalysisSpec* kOverviewPane[] = {&kSummaryVerb};
constexpr const AnalysisSpec* kTimePane[] = {&kBreakdownVerb,    &kStepsVerb, &kInferenceVerb,
                                             &kCriticalPathVerb, &kIdleVerb,  &kGapsVerb};
constexpr const AnalysisSpec* kOperatorPane[] = {&kOpsVerb, &kFlameVerb, &kStacksVerb,
                                                 &kAnnotationsVerb, &kSequencesVerb};
constexpr const AnalysisSpec* kKernelPane[] = {&kKernelsVerb, &kVariabilityVerb, &kLaunchesVerb,
                                               &kDelaysVerb,  &kQueueVerb,       &kGraphsVerb,
                                               &kCountersVerb};
constexpr const AnalysisSpec* kCommunicationPane[] = {&kCollectivesVerb, &kStragglersVerb,
                                                      &kWaitsVerb, &kOverlapVerb};
constexpr const AnalysisSpec* kMemoryPane[] = {&kMemoryVerb, &kBandwidthVerb};
constexpr const AnalysisSpec* kRooflinePane[] = {&kRooflineVerb};
constexpr const AnalysisSpec* kAdvicePane[] = {&kWhatIfVerb, &kVarianceVerb};
constexpr const AnalysisSpec* kComparePane[] = {&kDiffVerb};
constexpr const AnalysisSpec* kQualityPane[] = {&kDoctorVerb, &kInfoVerb};

constexpr PaneSpec kPanes[] = {{"overview", "Overview", kOverviewPane},
                               {"timeline", "Timeline", {}},
                               {"time", "Device time", kTimePane},
                               {"operators", "Operators", kOperatorPane},
                               {"kernels", "Kernels", kKernelPane},
                               {"communication", "Communication", kCommunicationPane},
                               {"memory", "Memory", kMemoryPane},
                               {"roofline", "Roofline", kRooflinePane},
                               {"advice", "Advice", kAdvicePane},
                               {"compare", "Compare", kComparePane},
                               {"quality", "Data quality", kQualityPane}};
constexpr std::string_view kPaneOfOthers = "kernels";

// A replay takes about a hundredth of the time of loading, and the page only shows the largest
// candidates.
constexpr int64_t kCandidatesOfReport = 8;

// Asks for lines over time, and omits frames that are too narrow to be seen.
Params ViewParams() {
  Params params;
  params.values = {{kSeriesParam.name, 1, ""}, {kMinShareParam.name, 0, "0.05%"}};
  return params;
}

// The pane that a pack names for its verb, or else the default.
std::string_view PaneOfPackVerb(std::string_view verb) {
  for (const Pack* pack : Packs()) {
    for (const PackVerb& added : pack->verbs) {
      if (added.spec->name == verb && !added.pane.empty()) return added.pane;
    }
  }
  return kPaneOfOthers;
}

bool IsInReport(const AnalysisSpec& spec) {
  return spec.in_report && !spec.takes_two() && spec.leading == nullptr;
}

}  // namespace

std::vector<SectionSpec> ReportSections() {
  std::vector<SectionSpec> sections;
  for (const AnalysisSpec* spec : SectionOrder()) {
    if (IsInReport(*spec)) {
      sections.push_back({spec, spec->report_tables, spec->views});
    }
  }
  return sections;
}

std::span<const PaneSpec> ReportPanes() { return kPanes; }

const PaneSpec& PaneOf(const AnalysisSpec& spec) {
  for (const PaneSpec& pane : kPanes) {
    const bool is_here =
        std::any_of(pane.analyses.begin(), pane.analyses.end(),
                    [&](const AnalysisSpec* each) { return each->name == spec.name; });
    if (is_here) return pane;
  }
  const std::string_view wanted = PaneOfPackVerb(spec.name);
  return *std::find_if(std::begin(kPanes), std::end(kPanes),
                       [&](const PaneSpec& pane) { return pane.name == wanted; });
}

Params ReportParams() {
  Params params = ViewParams();
  params.values.push_back({kCandidatesParam.name, kCandidatesOfReport, ""});
  params.for_page = true;
  return params;
}

std::vector<ViewSpec> ViewsOf(std::span<const Table> tables) {
  std::vector<ViewSpec> views;
  for (const AnalysisSpec* spec : SectionOrder()) {
    std::copy_if(spec->views.begin(), spec->views.end(), std::back_inserter(views),
                 [&](const ViewSpec& view) {
                   return std::any_of(tables.begin(), tables.end(),
                                      [&](const Table& table) { return table.name == view.table; });
                 });
  }
  return views;
}

bool HasViews(const AnalysisSpec& spec) {
  return spec.draws_other_verbs ||
         std::any_of(spec.views.begin(), spec.views.end(),
                     [](const ViewSpec& view) { return view.kind != ViewKind::kAside; });
}

void AskForViews(const AnalysisSpec& spec, Params& params) {
  for (const ParamValue& wanted : ViewParams().values) {
    const bool takes =
        std::any_of(spec.params.begin(), spec.params.end(),
                    [&](const ParamSpec* param) { return param->name == wanted.name; });
    const bool given =
        std::any_of(params.values.begin(), params.values.end(),
                    [&](const ParamValue& value) { return value.name == wanted.name; });
    if (takes && !given) {
      params.values.push_back(wanted);
    }
  }
}

}  // namespace borescope::internal
