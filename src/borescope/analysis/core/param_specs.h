// Every option that only some analyses have, besides the common ones. One row each;
// AnalysisSpec::params says which verbs have it.
#pragma once

#include "borescope/analysis/core/params.h"

namespace borescope::internal {

// idle
inline constexpr ParamSpec kKernelWaitParam{
    "kernel-wait", "TIME", "a gap shorter than this, after a launch in time, is kernel wait",
    ParamType::kTime, 30'000};
inline constexpr ParamSpec kLongestParam{
    "longest", "N", "list the N longest gaps of each device, and the longest of each step",
    ParamType::kCount, 10};

// launches; the defaults of the first two are HolisticTraceAnalysis'
inline constexpr ParamSpec kLongCallParam{
    "long-call", "TIME", "a launch call longer than this is long", ParamType::kTime, 50'000};
inline constexpr ParamSpec kLongDelayParam{
    "long-delay", "TIME", "a launch delay longer than this is long", ParamType::kTime, 100'000};
inline constexpr ParamSpec kLongKernelParam{
    "long-kernel", "TIME", "a kernel longer than this is long", ParamType::kTime, 1'000'000};

// queue: CUDA keeps 1022 launches waiting on a stream, the longest queue seen in real traces.
inline constexpr ParamSpec kQueueLimitParam{"queue-limit", "N", "a queue of this length is full",
                                            ParamType::kCount, 1022};

// queue, bandwidth
inline constexpr ParamSpec kSeriesParam{"series", "", "also a table of every change over time",
                                        ParamType::kFlag};

// All verbs with the rules of HolisticTraceAnalysis, which has these options under other names.
inline constexpr ParamSpec kIncludeLastStepParam{
    .name = "include-last-step",
    .help = "--compat hta: keep the last step, which HTA leaves out by default",
    .only_with = Compat::kHta};
// events
inline constexpr ParamSpec kAsParsedParam{
    .name = "as-parsed",
    .help =
        "--compat hta: all steps, and times as recorded, as in HTA's frames before it aligns "
        "the ranks",
    .only_with = Compat::kHta};
// kernels
inline constexpr ParamSpec kNumKernelsParam{
    .name = "num-kernels",
    .value = "N",
    .help = "--compat hta: of more kernels of a type the others are one row",
    .type = ParamType::kCount,
    .default_number = 10,
    .only_with = Compat::kHta};
inline constexpr ParamSpec kDurationRatioParam{
    .name = "duration-ratio",
    .value = "SHARE",
    .help =
        "--compat hta: where there are more, those above this quantile of the running sums, too",
    .type = ParamType::kShare,
    .default_text = "80%",
    .only_with = Compat::kHta};
inline constexpr ParamSpec kNoMemoryKernelsParam{.name = "no-memory-kernels",
                                                 .help = "--compat hta: no copies and memsets",
                                                 .only_with = Compat::kHta};
// launches
inline constexpr ParamSpec kNoMemoryEventsParam{
    .name = "no-memory-events",
    .help = "--compat hta: no calls of copies and memsets",
    .only_with = Compat::kHta};

// sequences
inline constexpr ParamSpec kOperatorParam{
    .name = "operator",
    .value = "TEXT",
    .help = "operators whose name contains this (default: every outermost one)",
    .type = ParamType::kText,
    .names_events = true};
inline constexpr ParamSpec kMinLengthParam{"min-length", "N", "only patterns of at least N kernels",
                                           ParamType::kCount, 3};

// stacks
inline constexpr ParamSpec kRootParam{
    .name = "root",
    .value = "TEXT",
    .help = "only below frames whose name contains this; all else is one row",
    .type = ParamType::kText,
    .names_events = true};
inline constexpr ParamSpec kDepthParam{
    "depth", "N", "at most N frames deep; what is below is \"(other)\" (default: all)",
    ParamType::kCount, 0};
inline constexpr ParamSpec kMinShareParam{
    "min-share", "SHARE",
    "frames with less of the device time and of the host time, as 1% or 0.01, become \"(other)\"",
    ParamType::kShare};
inline constexpr ParamSpec kSampledParam{
    "sampled", "", "sampled call stacks: each sample counts as one sampling period",
    ParamType::kFlag};
inline constexpr ParamSpec kCallsParam{
    "calls", "", "stacks recorded with calls: the time in calls, and device work launched by them",
    ParamType::kFlag};
inline constexpr ParamSpec kFoldedParam{
    "folded", "", "one row for each stack, \"a;b;c\": the input of flame graphs", ParamType::kFlag};

// inductor
inline constexpr ParamSpec kRunsParam{
    "runs", "N", "how often the recorded program ran the compiled model", ParamType::kCount, 1};
inline constexpr ParamSpec kWallParam{
    "wall", "TIME", "wall time of a run, as measured without a profiler; 0: take the recording",
    ParamType::kTime, 0};

// gaps; the defaults are raptor's (rocmProfileData)
inline constexpr ParamSpec kEdgesParam{
    "edges",           "TIMES", "where one range of lengths ends and the next begins",
    ParamType::kTimes, 0,       "10us,20us,50us,100us,1ms,10ms,100ms"};

// timeline
inline constexpr ParamSpec kTimelineDetailParam{
    .name = "detail",
    .value = "window|full",
    .help =
        "events as recorded: as many as fit, first those that findings lead to; or all, whatever "
        "their size",
    .type = ParamType::kChoice,
    .default_text = "window"};
inline constexpr ParamSpec kTimelineSizeParam{
    "size", "BYTES", "what it may take in a page, shared by the ranks; more than that is merged",
    ParamType::kCount, 3'000'000};

// variability; the default is raptor's
inline constexpr ParamSpec kContextParam{
    "context", "N", "kernels before it that tell calls of a kernel apart", ParamType::kNumber, 2};
inline constexpr ParamSpec kOutliersParam{
    "outliers", "Z",
    "leave out, and count, calls that are Z or more standard deviations from their mean",
    ParamType::kNumber};

// kernels, variability
inline constexpr ParamSpec kPatternsParam{
    "patterns", "FILE",
    "also by your own categories: JSON, {\"category\": [\"regular expression\", ...], ...}; the "
    "last that matches a name decides",
    ParamType::kFile};

// roofline, prof
inline constexpr ParamSpec kCausalParam{
    "causal",
    "exact|half|full",
    "what a causal attention counts: pairs that are not masked, half of all, or all",
    ParamType::kChoice,
    0,
    "exact"};
inline constexpr ParamSpec kSfuWeightParam{
    "sfu-weight", "N", "FLOPs of one exp, log, sin, sqrt, ... (PyProf: 20)", ParamType::kNumber, 1};
inline constexpr ParamSpec kDeviceParam{
    "device", "NAME", "peaks of this device, whatever was recorded: \"A100 80GB SXM4\"",
    ParamType::kText};
inline constexpr ParamSpec kDeviceSpecParam{
    "device-spec", "FILE", "peaks of a device as JSON, {\"name\": ..., \"tflops\": {...}, ...}",
    ParamType::kFile};

// critical-path
inline constexpr ParamSpec kDataLoadParam{
    "data-load", "TEXT", "events whose name contains this are data loading, too", ParamType::kText};
inline constexpr ParamSpec kFreeLaunchesParam{
    .name = "zero-weight-launch-edges",
    .help =
        "--compat hta: tie each kernel to its launch where that did not delay it, too, with "
        "weight 0",
    .only_with = Compat::kHta};
inline constexpr ParamSpec kGraphParam{
    .name = "graph",
    .help = "--compat hta: also tables of all events, nodes and edges of the graph",
    .only_with = Compat::kHta};
// summary
inline constexpr ParamSpec kPriceParam{
    "price", "", "also what following the advice would bring, by replay as in whatif",
    ParamType::kFlag};

// summary, whatif, steps, and by these report and check: the table true_time. What they are about
// may be missing in a recording: names_events.
inline constexpr ParamSpec kPlainStepParam{
    .name = "plain-step",
    .value = "TIME",
    .help =
        "what a step takes without the profiler, as you measured it; or A,B: between which it lies",
    .type = ParamType::kTimes,
    .names_events = true};
// whatif, steps
inline constexpr ParamSpec kWithoutRecordingParam{
    .name = "without-recording",
    .help = "steps as they are without the profiler: what recording them cost is taken off",
    .names_events = true};

// whatif. What they name, or are about, may be missing in a recording: names_events.
inline constexpr ParamSpec kScaleParam{
    .name = "scale",
    .value = "WHAT=F",
    .help =
        "durations times F; WHAT is kernel:TEXT, op:TEXT, class:NAME, comm, copy, phase:NAME or "
        "host:TEXT; may be given again",
    .type = ParamType::kTexts,
    .names_events = true};
inline constexpr ParamSpec kRemoveParam{
    .name = "remove",
    .value = "WHAT",
    .help = "without this work and its launches, or without this host time; may be given again",
    .type = ParamType::kTexts,
    .names_events = true};
inline constexpr ParamSpec kRoofParam{
    .name = "roof",
    .value = "SHARE",
    .help = "operators whose cost is known run at no less than this share of their roof",
    .type = ParamType::kText,
    .names_events = true};
inline constexpr ParamSpec kSpeedOfLightParam{
    .name = "speed-of-light",
    .value = "[WHAT=]SHARE",
    .help =
        "kernels run at no less than this share of what the device can do at most, as --counters "
        "measured how near they come; WHAT as in --scale; may be given again",
    .type = ParamType::kTexts,
    .names_events = true};
inline constexpr ParamSpec kNoDataWaitParam{
    .name = "no-data-wait",
    .help = "data is loaded in the background, ahead of its use: nothing waits for it",
    .names_events = true};
inline constexpr ParamSpec kNoSyncParam{
    .name = "no-sync",
    .value = "TEXT",
    .help =
        "calls that wait for the device, in events whose name contains this, end when they "
        "begin; may be given again",
    .type = ParamType::kTexts,
    .names_events = true};
inline constexpr ParamSpec kOverlapCommParam{
    .name = "overlap-comm",
    .help =
        "collectives on the stream of other work have one of their own; the optimizer waits for "
        "them",
    .names_events = true};
inline constexpr ParamSpec kGraphRegionParam{
    .name = "graph",
    .value = "TEXT",
    .help =
        "what is launched in events whose name contains this is launched as graphs; may be given "
        "again",
    .type = ParamType::kTexts,
    .names_events = true};
inline constexpr ParamSpec kLaunchParam{.name = "launch",
                                        .value = "F",
                                        .help = "host time of launch calls times F",
                                        .type = ParamType::kText,
                                        .names_events = true};
inline constexpr ParamSpec kPlanParam{
    .name = "plan",
    .value = "FILE",
    .help = "scenarios as JSON, {\"scenarios\": [{\"name\": ..., \"changes\": [...]}]}",
    .type = ParamType::kFile,
    .names_events = true};
inline constexpr ParamSpec kSweepParam{
    .name = "sweep",
    .value = "LIST",
    .help = "factors, as 0.9,0.5,0: each takes the place of that of --scale",
    .type = ParamType::kText,
    .names_events = true};
inline constexpr ParamSpec kCandidatesParam{
    "candidates", "N",
    "of the changes that could help most, replay those N with most time on the path of the replay "
    "(default: all, some 40)",
    ParamType::kCount, 0};

// variance
inline constexpr ParamSpec kPartsParam{
    "parts", "path|breakdown|ops",
    "what steps are divided into: the critical path, which is the default; device time, by default "
    "where no waits were recorded; or the host events of the thread that runs them",
    ParamType::kChoice};
inline constexpr ParamSpec kAllStepsParam{
    "all-steps", "", "count the first recorded step as well, which profilers and caches slow down",
    ParamType::kFlag};

inline constexpr ParamSpec kOverlayAllEventsParam{
    "overlay-all-events", "", "--overlay: keep events that are not on the path, too",
    ParamType::kFlag};
inline constexpr ParamSpec kOverlayAllEdgesParam{
    "overlay-all-edges", "", "--overlay: arrows for all edges, not only those of the path",
    ParamType::kFlag};

// stats: the word before INPUT
inline constexpr ParamSpec kReportParam{
    "report",
    "REPORT",
    "reports by their names in nsys, with commas between them, or all: cuda_api_sum, "
    "cuda_gpu_kern_sum, cuda_gpu_mem_size_sum, cuda_gpu_mem_time_sum, cuda_gpu_trace, "
    "cuda_kern_exec_sum, nvtx_gpu_proj_sum, nvtx_kern_sum, nvtx_sum, osrt_sum",
    ParamType::kText,
    0,
    "all"};

// prof
inline constexpr ParamSpec kColumnsParam{
    "columns", "LIST",
    "columns in this order, with commas between them: idx, seq, altseq, tid, layer, trace, dir, "
    "sub, mod, op, kernel, params, sil, tc, device, stream, grid, block, flops, bytes, status "
    "(default: all)",
    ParamType::kText};

inline constexpr ParamSpec kWidthParam{"width", "N",
                                       "text: a line per kernel with columns of fixed width, in "
                                       "which kernel and params share what the "
                                       "others leave of N; without --columns those of PyProf",
                                       ParamType::kNumber};
inline constexpr ParamSpec kQuotedParam{
    "csv", "", "text: a line per kernel, every value in quotes, with commas between them",
    ParamType::kFlag};
inline constexpr ParamSpec kParseParam{
    "parse", "", "--compat pyprof: what its parse stage writes, a dict of Python for each kernel",
    ParamType::kFlag};

// waits
inline constexpr ParamSpec kExitSkewParam{
    "exit-skew", "TIME",
    "by how much a rank may leave collectives later than others every time (default: 10us within "
    "a node, 50us across)",
    ParamType::kTime, -1};

// inference. What the expressions match may be missing in a recording: names_events.
inline constexpr ParamSpec kPhasePatternParam{
    .name = "phase-pattern",
    .value = "REGEX",
    .help =
        "annotations that are steps, with groups phase, bs, tokens and kv (RE2), as "
        "'(?P<phase>decode|prefill) bs=(?P<bs>\\d+)'; may be given again",
    .type = ParamType::kTexts,
    .names_events = true};

// diff
inline constexpr ParamSpec kShortNamesParam{
    "short-names", "", "names without arguments of templates and functions", ParamType::kFlag};

}  // namespace borescope::internal
