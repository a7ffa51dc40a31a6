#include "borescope/analysis/report_sections.h"

#include <algorithm>
#include <iterator>

#include "borescope/analysis/param_specs.h"

namespace borescope {
namespace {

using Names = std::string_view;

constexpr Names kDevice[] = {"rank", "gpu", "step"};
constexpr Names kStream[] = {"rank", "gpu", "stream"};
constexpr Names kName[] = {"name"};
constexpr Names kOp[] = {"op"};
constexpr Names kTotal[] = {"total_ns"};

constexpr Names kBreakdownParts[] = {"compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"};
constexpr ViewSpec kBreakdown[] = {
    {"breakdown", ViewKind::kStackedBars, "Device time", kDevice, kBreakdownParts}};

constexpr Names kIdleParts[] = {"head_ns", "sync_ns",   "data_ns",   "host_ns",
                                "tail_ns", "device_ns", "unknown_ns"};
constexpr ViewSpec kIdle[] = {
    {"idle_causes", ViewKind::kStackedBars, "Idle time by cause", kDevice, kIdleParts}};

constexpr Names kRange[] = {"rank", "gpu", "range"};
constexpr ViewSpec kGaps[] = {
    {"gaps", ViewKind::kBars, "Time in gaps of each length", kRange, kTotal}};

constexpr Names kOverlapParts[] = {"overlapped_ns", "exposed_ns"};
constexpr ViewSpec kOverlap[] = {
    {"overlap", ViewKind::kStackedBars, "Communication time", kDevice, kOverlapParts}};

constexpr Names kClass[] = {"class"};
constexpr ViewSpec kKernels[] = {
    {"kernel_classes", ViewKind::kBars, "Device time per class", kClass, kTotal},
    {"kernels", ViewKind::kBars, "Kernels that take most of it", kName, kTotal}};

constexpr Names kCallsOfSize[] = {"name", "size"};
constexpr Names kExcess[] = {"excess_ns"};
constexpr ViewSpec kVariability[] = {
    {"variability", ViewKind::kBars, "Time beyond the best call", kCallsOfSize, kExcess}};

constexpr Names kCategory[] = {"category"};
constexpr ViewSpec kInductor[] = {
    {"inductor_categories", ViewKind::kBars, "Device time per category", kCategory, kTotal}};

constexpr Names kSelfDevice[] = {"self_device_ns"};
constexpr ViewSpec kOps[] = {
    {"ops", ViewKind::kBars, "Device time of operators themselves", kName, kSelfDevice}};

constexpr Names kRates[] = {"intensity", "tflops"};
constexpr ViewSpec kRoofline[] = {
    {"roofline", ViewKind::kRoofline, "Operators under the roofs of the device", kOp, kRates}};

constexpr Names kBoundBy[] = {"rank", "bound_by"};
constexpr Names kSavedBy[] = {"rank", "name"};
constexpr Names kSaved[] = {"saved_ns"};
constexpr ViewSpec kCriticalPath[] = {
    {"critical_path_summary", ViewKind::kBars, "Time on the critical path", kBoundBy, kTotal},
    {"what_if", ViewKind::kBars, "Saved if it took no time", kSavedBy, kSaved}};

constexpr Names kDeviceTime[] = {"device_ns"};
constexpr ViewSpec kFlame[] = {{"flame", ViewKind::kFlame,
                                "Device time from module to operator to kernel", kName,
                                kDeviceTime}};

constexpr Names kTotals[] = {"total_host_ns", "total_device_ns"};
constexpr ViewSpec kStacks[] = {{"stacks", ViewKind::kFlame,
                                 "Time on the host, and of device work below each frame", kName,
                                 kTotals}};

constexpr Names kStepParts[] = {"busy_ns", "idle_ns"};
constexpr ViewSpec kSteps[] = {
    {"steps", ViewKind::kStackedBars, "Span of each step", kDevice, kStepParts}};

constexpr Names kKernel[] = {"kernel"};
constexpr Names kDelay[] = {"delay_ns"};
constexpr ViewSpec kLaunches[] = {
    {"launch_summary", ViewKind::kBars, "Time between launch and start", kKernel, kDelay}};

constexpr Names kOpAndKernels[] = {"op", "kernels"};
constexpr Names kDelayParts[] = {"launch_delay_ns", "runtime_ns"};
constexpr ViewSpec kDelays[] = {{"delays", ViewKind::kStackedBars,
                                 "From operator to launch, and on to the kernel", kOpAndKernels,
                                 kDelayParts}};

constexpr Names kLength[] = {"length"};
constexpr ViewSpec kQueue[] = {
    {"queue_length", ViewKind::kSeries, "Launches that wait", kStream, kLength, "ts_ns"}};

constexpr Names kCopyKind[] = {"rank", "gpu", "kind"};
constexpr Names kRate[] = {"gbps"};
constexpr Names kMedianRate[] = {"p50_gbps"};
constexpr ViewSpec kBandwidth[] = {
    {"bandwidth", ViewKind::kBars, "Median rate", kCopyKind, kMedianRate},
    {"bandwidth_series", ViewKind::kSeries, "Rate over time", kCopyKind, kRate, "ts_ns"}};

constexpr Names kCollective[] = {"rank", "collective", "dtype"};
constexpr Names kBusRate[] = {"bus_gbps"};
constexpr ViewSpec kCollectives[] = {
    {"collectives", ViewKind::kBars, "Bus bandwidth", kCollective, kBusRate},
    {"collectives", ViewKind::kBars, "Time", kCollective, kTotal}};

constexpr Names kRank[] = {"rank"};
constexpr Names kCausedWait[] = {"caused_wait_ns"};
constexpr ViewSpec kStragglers[] = {
    {"stragglers", ViewKind::kBars, "Waiting caused by each rank", kRank, kCausedWait}};

constexpr Names kPool[] = {"rank", "device", "category"};
constexpr Names kBytes[] = {"bytes"};
constexpr Names kMemoryLines[] = {"allocated_bytes", "reserved_bytes"};
constexpr ViewSpec kMemory[] = {
    {"memory_timeline", ViewKind::kSeries, "Memory over time", kPool, kMemoryLines, "elapsed_ns"},
    {"memory_peak", ViewKind::kBars, "At the peak", kPool, kBytes}};

constexpr Names kAnnotation[] = {"rank", "side", "name"};
constexpr ViewSpec kAnnotations[] = {
    {"annotations", ViewKind::kBars, "Time under annotations", kAnnotation, kTotal}};

// Of the summary what no other section shows in full.
constexpr Names kOverviewTables[] = {"verdict", "overview", "step_spread"};

struct ReportRow {
  std::string_view verb;  // empty: analyses without a row stand here
  std::span<const ViewSpec> views = {};
  std::span<const Names> tables = {};
  bool gives_others = false;  // the verb also gives tables of other rows
};

// Order = order of the page.
constexpr ReportRow kRows[] = {{"summary", {}, kOverviewTables, true},
                               {"breakdown", kBreakdown},
                               {"critical-path", kCriticalPath},
                               {"steps", kSteps},
                               {"kernels", kKernels},
                               {"ops", kOps},
                               {"flame", kFlame},
                               {"stacks", kStacks},
                               {"roofline", kRoofline},
                               {"idle", kIdle},
                               {"gaps", kGaps},
                               {"launches", kLaunches},
                               {"delays", kDelays},
                               {"queue", kQueue},
                               {"overlap", kOverlap},
                               {"collectives", kCollectives},
                               {"stragglers", kStragglers},
                               {"bandwidth", kBandwidth},
                               {"memory", kMemory},
                               {"inductor", kInductor},
                               {"variability", kVariability},
                               {"sequences"},
                               {"graphs"},
                               {"annotations", kAnnotations},
                               {""},
                               {"counters"},
                               {"info"},
                               {"doctor"}};

// Those that ask again what a section tells already, in the words of another tool or call by call.
constexpr Names kLeftOut[] = {"busy", "top", "stats", "prof"};

size_t PlaceOf(std::string_view verb) {
  const auto place = [](std::string_view name) {
    return static_cast<size_t>(
        std::find_if(std::begin(kRows), std::end(kRows),
                     [&](const ReportRow& row) { return row.verb == name; }) -
        std::begin(kRows));
  };
  const size_t own = place(verb);
  return own < std::size(kRows) ? own : place("");
}

bool IsInReport(const AnalysisSpec& spec) {
  return !spec.takes_two() && spec.leading == nullptr &&
         std::find(std::begin(kLeftOut), std::end(kLeftOut), spec.name) == std::end(kLeftOut);
}

}  // namespace

std::vector<SectionSpec> ReportSections() {
  std::vector<SectionSpec> sections;
  for (const AnalysisSpec& spec : Analyses()) {
    if (IsInReport(spec)) {
      const ReportRow& row = kRows[PlaceOf(spec.name)];
      sections.push_back({&spec, row.tables, row.views});
    }
  }
  std::stable_sort(sections.begin(), sections.end(),
                   [](const SectionSpec& a, const SectionSpec& b) {
                     return PlaceOf(a.analysis->name) < PlaceOf(b.analysis->name);
                   });
  return sections;
}

Params ReportParams() {
  Params params;
  // Lines over time; and no frames too narrow to be seen.
  params.values = {{kSeriesParam.name, 1, ""}, {kMinShareParam.name, 0, "0.05%"}};
  return params;
}

std::vector<ViewSpec> ViewsOf(std::span<const Table> tables) {
  std::vector<ViewSpec> views;
  for (const ReportRow& row : kRows) {
    std::copy_if(row.views.begin(), row.views.end(), std::back_inserter(views),
                 [&](const ViewSpec& view) {
                   return std::any_of(tables.begin(), tables.end(),
                                      [&](const Table& table) { return table.name == view.table; });
                 });
  }
  return views;
}

bool HasViews(const AnalysisSpec& spec) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const ReportRow& row) {
    return row.verb == spec.name && (!row.views.empty() || row.gives_others);
  });
}

void AskForViews(const AnalysisSpec& spec, Params& params) {
  for (const ParamValue& wanted : ReportParams().values) {
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

}  // namespace borescope
