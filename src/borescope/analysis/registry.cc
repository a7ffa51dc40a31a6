#include "borescope/analysis/registry.h"

#include <algorithm>

#include "borescope/analysis/analyses.h"
#include "borescope/analysis/hta/tables.h"
#include "borescope/analysis/inductor.h"
#include "borescope/analysis/param_specs.h"
#include "borescope/analysis/pyprof/tables.h"
#include "borescope/analysis/rpd/tables.h"
#include "borescope/analysis/torch/tables.h"

namespace borescope {
namespace {

constexpr std::string_view kStepKey[] = {"step"};
constexpr std::string_view kBreakdownKeys[] = {"step", "stream"};
constexpr std::string_view kKernelKeys[] = {"rank", "step", "gpu", "stream", "phase", "op"};
constexpr std::string_view kGapKeys[] = {"step", "stream"};
constexpr std::string_view kVariabilityKeys[] = {"rank", "step", "gpu", "stream"};
constexpr std::string_view kBusyKeys[] = {"process", "stream"};
constexpr std::string_view kOpKeys[] = {"rank", "step", "phase", "shape", "dtype"};
constexpr std::string_view kRooflineKeys[] = {"rank",      "step",  "phase", "module",
                                              "direction", "shape", "dtype"};
constexpr std::string_view kStackKeys[] = {"rank", "step", "thread", "phase"};
constexpr std::string_view kFlameKeys[] = {"rank", "step", "thread", "gpu", "stream", "phase"};
constexpr std::string_view kCollectiveKeys[] = {"step", "size"};

constexpr const ParamSpec* kIdleParams[] = {&kKernelWaitParam};
constexpr const ParamSpec* kGapParams[] = {&kEdgesParam};
constexpr const ParamSpec* kKernelParams[] = {&kPatternsParam};
constexpr const ParamSpec* kVariabilityParams[] = {&kContextParam, &kOutliersParam,
                                                   &kPatternsParam};
constexpr const ParamSpec* kLaunchParams[] = {&kLongCallParam, &kLongDelayParam, &kLongKernelParam};
constexpr const ParamSpec* kQueueParams[] = {&kQueueLimitParam, &kSeriesParam};
constexpr const ParamSpec* kBandwidthParams[] = {&kSeriesParam};
constexpr const ParamSpec* kSequenceParams[] = {&kOperatorParam, &kMinLengthParam};
constexpr const ParamSpec* kRooflineParams[] = {&kDeviceParam, &kDeviceSpecParam, &kCausalParam,
                                                &kSfuWeightParam};
constexpr const ParamSpec* kStackParams[] = {&kRootParam, &kDepthParam, &kMinShareParam,
                                             &kFoldedParam};
constexpr std::string_view kInductorKeys[] = {"step", "graph"};
constexpr const ParamSpec* kInductorParams[] = {&kWallParam, &kRunsParam, &kInductorCacheParam,
                                                &kDeviceParam, &kDeviceSpecParam};
constexpr Pipeline kInductorReport{
    .map = MapInductorReport, .reduce = MergeFindings, .finish = FinishInductorReport};
constexpr const ParamSpec* kProfParams[] = {&kColumnsParam, &kWidthParam, &kQuotedParam,
                                            &kCausalParam, &kSfuWeightParam};
constexpr const ParamSpec* kCriticalPathParams[] = {
    &kDataLoadParam, &kFreeLaunchesParam, &kOverlayAllEventsParam, &kOverlayAllEdgesParam};
constexpr const ParamSpec* kDiffParams[] = {&kShortNamesParam};

// Order = order in --help. To add an analysis: its file, its functions in analyses.h, a row here.
constexpr AnalysisSpec kAnalyses[] = {
    {.name = "info",
     .summary = "what was recorded: ranks, devices, events, steps, time span",
     .example = "borescope info trace.json.gz",
     .takes_selection = false,
     .answer = {.map = MapInfo, .reduce = ConcatFindings}},
    {.name = "doctor",
     .summary = "how far the trace can be trusted: checks with counts and remedies",
     .example = "borescope doctor run/",
     .takes_selection = false,
     .answer = {.map = MapDoctor, .reduce = ConcatFindings, .finish = FinishDoctor}},
    {.name = "summary",
     .summary = "one page: what costs the time, with the numbers behind it",
     .example = "borescope summary run/",
     .answer = {.map = MapSummary, .reduce = ReduceByRank, .finish = FinishSummary}},
    {.name = "breakdown",
     .summary = "compute, exposed communication, exposed copies and idle time per device",
     .example = "borescope breakdown run/ --by step",
     .needs = Needs::kDeviceEvents,
     .by = kBreakdownKeys,
     .answer = {.map = MapBreakdown, .reduce = ConcatFindings, .finish = FinishBreakdown},
     .hta = &kHtaBreakdown},
    {.name = "busy",
     .summary = "how much of its time each device works: union and sum of all work",
     .example = "borescope busy run/ --by stream",
     .needs = Needs::kDeviceEvents,
     .by = kBusyKeys,
     .answer = {.map = MapBusy, .reduce = ConcatFindings},
     .rpd = &kRpdBusy},
    {.name = "idle",
     .summary = "why each stream waits: for the host, for its next kernel, other",
     .example = "borescope idle run/ --kernel-wait 50us",
     .needs = Needs::kDeviceEvents,
     .by = kStepKey,
     .params = kIdleParams,
     .answer = {.map = MapIdle, .reduce = ConcatFindings},
     .hta = &kHtaIdle},
    {.name = "gaps",
     .summary = "where each device stands still: gaps by length, and the kernels around them",
     .example = "borescope gaps run/ --edges 5us,50us,1ms",
     .needs = Needs::kDeviceEvents,
     .by = kGapKeys,
     .params = kGapParams,
     .answer = {.map = MapGaps, .reduce = ReduceByRank, .finish = FinishGaps}},
    {.name = "overlap",
     .summary = "how much communication hides behind compute",
     .example = "borescope overlap run/ --by step",
     .needs = Needs::kDeviceEvents,
     .by = kStepKey,
     .answer = {.map = MapOverlap, .reduce = ConcatFindings},
     .hta = &kHtaOverlap},
    {.name = "top",
     .summary = "what takes the device's time: kernels, memcpys and memsets by name",
     .example = "borescope top run/ --top 10",
     .needs = Needs::kDeviceEvents,
     .by = kKernelKeys,
     .answer = {.map = MapTop, .reduce = MergeFindings, .finish = FinishTop},
     .rpd = &kRpdTop},
    {.name = "kernels",
     .summary = "device time per kernel and per class of kernels",
     .example = "borescope kernels trace.json.gz --top 20",
     .needs = Needs::kDeviceEvents,
     .by = kKernelKeys,
     .params = kKernelParams,
     .takes_all = true,
     .answer = {.map = MapKernels, .reduce = MergeFindings, .finish = FinishKernels},
     .hta = &kHtaKernels,
     .rpd = &kRpdKernels,
     .check = CheckKernels},
    {.name = "variability",
     .summary = "kernels that take longer than in their best call of the same size, after the same "
                "kernels",
     .example = "borescope variability run/ --context 0 --top 20",
     .needs = Needs::kDeviceEvents,
     .by = kVariabilityKeys,
     .params = kVariabilityParams,
     .takes_all = true,
     .answer = {.map = MapVariability, .reduce = MergeFindings, .finish = FinishVariability},
     .check = CheckVariability},
    {.name = "inductor",
     .summary = "device time of a compiled PyTorch model by what made the kernels",
     .example = "borescope inductor trace.json.gz --top 20",
     .needs = Needs::kDeviceEvents,
     .by = kInductorKeys,
     .params = kInductorParams,
     .answer = {.map = MapInductor, .reduce = MergeFindings, .finish = FinishInductor},
     .inductor = &kInductorReport,
     .check = CheckInductor},
    {.name = "ops",
     .summary = "host and device time per framework operator",
     .example = "borescope ops trace.json.gz --by shape --top 20",
     .needs = Needs::kOps,
     .by = kOpKeys,
     .answer = {.map = MapOps, .reduce = MergeFindings, .finish = FinishOps},
     .key_averages = &kKeyAverages},
    {.name = "roofline",
     .summary = "operators against the peaks of the device, and the wall time as a ledger",
     .example = "borescope roofline trace.json.gz --by shape --top 20",
     .needs = Needs::kDeviceEvents,
     .by = kRooflineKeys,
     .params = kRooflineParams,
     .answer = {.map = MapRoofline, .reduce = ReduceByRank, .finish = FinishRoofline},
     .check = CheckRoofline},
    {.name = "stacks",
     .summary = "host call stacks with the device time below them, and flame graphs",
     .example = "borescope stacks run/ --min-share 1%",
     .needs = Needs::kHostEvents,
     .by = kStackKeys,
     .params = kStackParams,
     .answer = {.map = MapStacks, .reduce = ReduceStacks, .finish = FinishStacks}},
    {.name = "flame",
     .summary = "device time from module to operator to kernel, as a tree or a flame graph",
     .example = "borescope flame run/ --min-share 1%",
     .needs = Needs::kDeviceEvents,
     .by = kFlameKeys,
     .params = kStackParams,
     .answer = {.map = MapFlame, .reduce = ReduceStacks, .finish = FinishFlame}},
    {.name = "steps",
     .summary = "span, busy and idle time of every training step",
     .example = "borescope steps run/",
     .needs = Needs::kSteps,
     .answer = {.map = MapSteps, .reduce = ConcatFindings}},
    {.name = "launches",
     .summary = "launch calls: short and long kernels, long calls, late starts",
     .example = "borescope launches trace.json.gz --sort delay",
     .needs = Needs::kLaunches,
     .params = kLaunchParams,
     .answer = {.map = MapLaunches, .reduce = ReduceByRank, .finish = FinishLaunches},
     .hta = &kHtaLaunches,
     .rpd = &kRpdCalls},
    {.name = "delays",
     .summary = "time from an operator to its first launch, and on to the kernel",
     .example = "borescope delays trace.json.gz --top 20",
     .needs = Needs::kLaunches,
     .answer = {.map = MapDelays, .reduce = MergeFindings, .finish = FinishDelays},
     .hta = &kHtaDelays},
    {.name = "graphs",
     .summary = "launches of CUDA and HIP graphs: spans, gaps, their kernels, captures",
     .example = "borescope graphs trace.json.gz",
     .needs = Needs::kGraphs,
     .answer = {.map = MapGraphs, .reduce = ConcatFindings}},
    {.name = "queue",
     .summary = "how many launches wait on each stream, and time blocked at a full queue",
     .example = "borescope queue trace.json.gz --overlay queue.json.gz",
     .needs = Needs::kLaunches,
     .params = kQueueParams,
     .answer = {.map = MapQueue, .reduce = ConcatFindings},
     .hta = &kHtaQueue,
     .overlay = OverlayQueue},
    {.name = "bandwidth",
     .summary = "rate of every kind of copy",
     .example = "borescope bandwidth trace.json.gz --overlay copies.json.gz",
     .needs = Needs::kCopies,
     .params = kBandwidthParams,
     .answer = {.map = MapBandwidth, .reduce = ConcatFindings},
     .hta = &kHtaBandwidth,
     .rpd = &kRpdCopies,
     .overlay = OverlayBandwidth},
    {.name = "sequences",
     .summary = "kernel patterns that recur under an operator",
     .example = "borescope sequences trace.json.gz --operator linear --min-length 1",
     .needs = Needs::kLaunches,
     .params = kSequenceParams,
     .answer = {.map = MapSequences, .reduce = MergeFindings, .finish = FinishSequences},
     .hta = &kHtaSequences,
     .overlay = OverlaySequences},
    {.name = "annotations",
     .summary = "time under each annotation, on host and device, and the kernels inside",
     .example = "borescope annotations trace.json.gz --top 20",
     .needs = Needs::kAnnotations,
     .by = kStepKey,
     .answer = {.map = MapAnnotations, .reduce = ConcatFindings},
     .hta = &kHtaAnnotations},
    {.name = "collectives",
     .summary = "message sizes, algorithm and bus bandwidth per collective and group",
     .example = "borescope collectives run/ --by size",
     .needs = Needs::kCollectives,
     .by = kCollectiveKeys,
     .answer = {.map = MapCollectives, .reduce = ConcatFindings}},
    {.name = "stragglers",
     .summary = "ranks that enter collectives late, so that the others wait",
     .example = "borescope stragglers run/",
     .needs = Needs::kCollectiveKernels,
     .answer = {.map = MapStragglers, .reduce = ConcatFindings, .finish = FinishStragglers},
     .hta = &kHtaStragglers},
    {.name = "critical-path",
     .summary = "what decides how long it takes: one cause for every moment, and what would help",
     .example = "borescope critical-path trace.json.gz --step 2",
     .needs = Needs::kEvents,
     .params = kCriticalPathParams,
     .answer = {.map = MapCriticalPath, .reduce = ConcatFindings, .finish = FinishCriticalPath},
     .hta = &kHtaCriticalPath,
     .check = CheckCriticalPath,
     .overlay = OverlayCriticalPath,
     .memory = 0.75},
    {.name = "memory",
     .summary = "allocated and reserved memory over time, and what fills it at the peak",
     .example = "borescope memory trace.json.gz",
     .needs = Needs::kMemory,
     .answer = {.map = MapMemory, .reduce = ConcatFindings, .finish = FinishMemory}},
    {.name = "counters",
     .summary = "hardware counters per kernel with the operators behind, FLOPs from them",
     .example = "borescope counters trace.json.gz -f csv",
     .needs = Needs::kCounters,
     .answer = {.map = MapCounters, .reduce = ConcatFindings},
     .hta = &kHtaCounters},
    {.name = "stats",
     .summary = "the reports of nsys stats with their columns, of any input",
     .example = "borescope stats cuda_gpu_kern_sum,cuda_api_sum trace.json.gz -f csv",
     .needs = Needs::kEvents,
     .answer = {.map = MapStats, .reduce = ReduceByRank, .finish = FinishStats},
     .leading = &kReportParam,
     .check = CheckStats},
    {.name = "prof",
     .summary = "every kernel with its operator, arguments, layer, FLOPs and bytes",
     .example = "borescope prof net.sqlite --columns op,params,kernel,sil,flops,bytes",
     .needs = Needs::kDeviceEvents,
     .params = kProfParams,
     .takes_all = true,
     .answer = {.map = MapProf, .reduce = ConcatFindings, .finish = FinishProf},
     .pyprof = &kPyProf,
     .check = CheckProf},
    {.name = "diff",
     .summary = "what changed between two runs: counts and time by name",
     .example = "borescope diff before/ after/ --step 5",
     .needs = Needs::kEvents,
     .params = kDiffParams,
     .answer = {.map = MapDiff, .reduce = MergeFindings, .compare = CompareDiff},
     .hta = &kHtaDiff},
};

}  // namespace

std::span<const AnalysisSpec> Analyses() { return kAnalyses; }

const Pipeline* AnalysisSpec::FindPipeline(Compat compat) const {
  if (compat == Compat::kNone) {
    return &answer;
  }
  const CompatRow* tool = FindCompat(compat);
  return tool == nullptr ? nullptr : this->*tool->pipeline;
}

bool AnalysisSpec::TakesAll(Compat compat) const {
  if (compat == Compat::kNone) {
    return takes_all;
  }
  const CompatRow* tool = FindCompat(compat);
  return tool != nullptr && tool->takes_all && FindPipeline(compat) != nullptr;
}

const CompatRow* AnalysisSpec::ToolThatTakesAll() const {
  const auto* tool = std::find_if(std::begin(kCompats), std::end(kCompats),
                                  [this](const CompatRow& row) { return TakesAll(row.id); });
  return tool == std::end(kCompats) ? nullptr : tool;
}

const CompatRow* FindCompat(Compat compat) {
  const auto* row = std::find_if(std::begin(kCompats), std::end(kCompats),
                                 [&](const CompatRow& tool) { return tool.id == compat; });
  return row == std::end(kCompats) ? nullptr : row;
}

std::string_view CompatName(Compat compat) {
  const CompatRow* row = FindCompat(compat);
  return row == nullptr ? std::string_view() : row->name;
}

const AnalysisSpec* FindAnalysis(std::string_view name) {
  const auto* found = std::find_if(std::begin(kAnalyses), std::end(kAnalyses),
                                   [name](const AnalysisSpec& spec) { return spec.name == name; });
  return found == std::end(kAnalyses) ? nullptr : found;
}

}  // namespace borescope
