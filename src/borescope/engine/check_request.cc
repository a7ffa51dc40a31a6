#include "borescope/engine/check_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/engine/drafts.h"
#include "borescope/engine/question/registry.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

bool HasCollectiveKernel(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (device.kind[row] == DeviceKind::kKernel &&
        view.index.ClassOf(view.trace, DeviceId{row}) == KernelClass::kCollective) {
      return true;
    }
  }
  return false;
}

bool HasHostCommunication(const RankView& view) {
  for (uint32_t row = 0; row < view.trace.host().size(); ++row) {
    if (IsHostCommunication(view.trace, HostId{row})) return true;
  }
  return false;
}

// A process group that is set up, or waited for, is no collective.
bool HasCollective(const RankView& view) {
  const auto& names = view.trace.collectives().collective;
  return HasCollectiveKernel(view) ||
         std::any_of(names.begin(), names.end(),
                     [&](StringId name) { return IsCommunication(view.trace.Text(name)); }) ||
         HasHostCommunication(view);
}

struct NeedRow {
  Needs needs;
  bool (*is_met)(const RankView&);
  std::string_view what;                  // is missing
  std::string_view remedy;                // the option of PyTorch's profiler that records it
  MissingData lack = MissingData::kNone;  // for the remedy under another profiler
};

// In the order of the enum.
constexpr NeedRow kNeeds[] = {
    {Needs::kNothing, [](const RankView&) { return true; }, "", ""},
    {Needs::kEvents,
     [](const RankView& view) { return view.trace.host().size() + view.trace.device().size() > 0; },
     "no events of host or device", "give a trace of torch.profiler", MissingData::kHost},
    {Needs::kHostEvents, [](const RankView& view) { return view.trace.host().size() > 0; },
     "no host events", "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
     MissingData::kHost},
    {Needs::kOps,
     [](const RankView& view) {
       return view.index.operators.takes_ranges() || HasHostKind(view.trace, HostKind::kOp);
     },
     "no operators", "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
     MissingData::kOperators},
    {Needs::kDeviceEvents,
     [](const RankView& view) {
       const auto& kinds = view.trace.device().kind;
       return std::any_of(kinds.begin(), kinds.end(), IsDeviceWork);
     },
     "no device events", "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
     MissingData::kDeviceWork},
    {Needs::kSteps, [](const RankView& view) { return !view.steps().steps.empty(); },
     "no ProfilerStep annotations",
     "call prof.step() after each iteration (torch.profiler schedule), or name the annotations "
     "that are steps with `step_pattern`",
     MissingData::kSteps},
    {Needs::kLaunches,
     [](const RankView& view) {
       return std::any_of(view.index.correlation.launch_of.begin(),
                          view.index.correlation.launch_of.end(),
                          [](HostId launch) { return launch.valid(); });
     },
     "no device work tied to a launch call",
     "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
     MissingData::kLaunches},
    {Needs::kGraphs, HasGraphs, "no launches or captures of graphs, and no kernels of graph nodes",
     "the profiled part used none, or the profiler recorded no runtime calls",
     MissingData::kGraphs},
    {Needs::kCopies, [](const RankView& view) { return view.trace.copies().size() > 0; },
     "no memcpys or memsets",
     "the profiled part copied nothing, or profile with activities=[ProfilerActivity.CPU, "
     "ProfilerActivity.CUDA]",
     MissingData::kCopies},
    {Needs::kAnnotations,
     [](const RankView& view) {
       const auto& kinds = view.trace.device().kind;
       return HasHostKind(view.trace, HostKind::kAnnotation) ||
              std::find(kinds.begin(), kinds.end(), DeviceKind::kAnnotation) != kinds.end();
     },
     "no annotations", "mark code with torch.profiler.record_function(\"name\")",
     MissingData::kAnnotations},
    {Needs::kCollectives, HasCollective, "no collectives",
     "profile a distributed job with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and "
     "record_shapes=True for their sizes (PyTorch 2.2 or later)",
     MissingData::kCollectives},
    {Needs::kCollectiveKernels, HasCollectiveKernel, "no communication kernels",
     "profile a distributed job with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
     MissingData::kCollectives},
    {Needs::kMemory, [](const RankView& view) { return view.trace.memory().size() > 0; },
     "no allocator events",
     "profile with profile_memory=True, or give the raw file of export_memory_timeline",
     MissingData::kMemory},
    {Needs::kCounters,
     [](const RankView& view) { return view.trace.ranges().size() > 0 || HasReports(view); },
     "no hardware counters", "measure them with Nsight Compute (`borescope counters --help`)",
     MissingData::kCounters},
};

constexpr bool HasEveryNeed() {
  for (size_t i = 0; i < std::size(kNeeds); ++i) {
    if (kNeeds[i].needs != static_cast<Needs>(i)) {
      return false;
    }
  }
  return std::size(kNeeds) == static_cast<size_t>(Needs::kCount);
}
static_assert(HasEveryNeed());

// What is missing may have been in the part that a damaged file has lost.
std::string Cause(const Trace& trace) {
  const Diagnostics& found = trace.diagnostics();
  const bool is_cut = found.count(Diag::kTruncatedFile) + found.count(Diag::kTruncatedGzip) != 0;
  const bool has_long = found.count(Diag::kTooLongEvent) != 0;
  return is_cut     ? "the file ends early, so that it holds "
         : has_long ? "an event longer than 64 MiB was skipped, and without it the file holds "
                    : "";
}

// Whether the tool can group as asked.
bool Regroups(const CompatRow& tool, const Params& params) {
  const auto is_known = [&](std::string_view key) {
    return std::find(tool.by.begin(), tool.by.end(), key) != tool.by.end();
  };
  return std::all_of(params.by.begin(), params.by.end(), is_known) &&
         (tool.takes_all || !params.all);
}

// The rest of a list of options that a tool does not have.
std::string Refused(const CompatRow& tool) {
  const std::string by =
      tool.by.empty() ? ", `by`" : fmt::format(", `by` except {}", fmt::join(tool.by, ", "));
  return by + (tool.takes_all ? "" : " and `all`");
}

std::string AllHint(const AnalysisSpec& spec) {
  const CompatRow* tool = spec.ToolThatTakesAll();
  return tool == nullptr ? "" : fmt::format(" without `compat` {}", tool->name);
}

// HTA compares steps, and looks for its critical path in parts of a rank; no tool asks about
// anything smaller than a rank otherwise.
Result<void> CheckCompat(const AnalysisSpec& spec, const Params& params) {
  const CompatRow* tool = FindCompat(params.compat);
  if (tool == nullptr) {
    return {};
  }
  const bool takes_window = spec.PipelineFor(params).takes_window;
  Selection selection = params.selection;
  if (spec.takes_two()) {
    selection.steps = {};
  }
  if (takes_window) {
    selection.annotation = {};
    selection.instances = {};
  }
  if (selection.empty() && !selection.redefines_steps() && Regroups(*tool, params)) {
    return {};
  }
  std::vector<std::string> names = NamesOfSelection();
  std::erase_if(names, [&](const std::string& name) {
    return name == "`instance`" || (takes_window && name == "`annotation`");
  });
  return Error{.code = ErrorCode::kInvalidArgument,
               .cause = fmt::format(
                   "{}: `compat` {} answers for {}, as that tool does", spec.name, tool->name,
                   takes_window ? "whole ranks or within `annotation`" : "whole ranks"),
               .remedy = fmt::format("leave out {}{}", fmt::join(names, ", "), Refused(*tool)),
               .parameter = "compat"};
}

// Options that only a tool's rules know.
Result<void> CheckOnlyWith(const AnalysisSpec& spec, const Params& params) {
  for (const ParamSpec* option : spec.AllParams()) {
    const bool is_given =
        std::any_of(params.values.begin(), params.values.end(),
                    [&](const ParamValue& value) { return value.name == option->name; });
    if (is_given && option->only_with != Compat::kNone && option->only_with != params.compat) {
      const std::string_view tool = CompatName(option->only_with);
      return Error{.code = ErrorCode::kInvalidArgument,
                   .cause = fmt::format("{}: `{}` belongs to the rules of {}", spec.name,
                                        ParameterName(option->name), tool),
                   .remedy = fmt::format("add `compat` {}, or leave it out", tool),
                   .parameter = ParameterName(option->name)};
    }
  }
  return {};
}

// The tools whose tables the verb has.
std::string CompatHint(const AnalysisSpec& spec) {
  std::vector<std::string_view> names;
  for (const CompatRow& tool : kCompats) {
    if (spec.FindPipeline(tool.id) != nullptr) {
      names.push_back(tool.name);
    }
  }
  return names.empty() ? "" : fmt::format("it has {}", fmt::join(names, ", "));
}

Error Unmet(const NeedRow& row, const Trace& trace) {
  const std::string_view other = RemedyFor(row.lack, trace);
  return {ErrorCode::kMissingData, Cause(trace) + std::string(row.what),
          std::string(other.empty() ? row.remedy : other), trace.meta().file};
}

// A report of hardware counters alone (IsCounterReport) has kernels that a tool ran one by one
// while it counted: nothing in it says when anything happened, or what ran beside it. These verbs
// it can be asked, as they rest on the durations of kernels at most; without the tables here that
// do not. All others it is refused.
struct OfReport {
  std::string_view verb;
  std::span<const std::string_view> tables_of_order = {};  // of what is mapped
};
constexpr std::string_view kWallTime[] = {"utilisation", "ledger"};
constexpr std::string_view kStepChange[] = {"diff_device_time"};
constexpr std::string_view kWhereTimeGoes[] = {
    "breakdown", "steps",        "idle_causes", "idle_places",      "named_causes",
    "true_time", "cost_of_gaps", "stragglers",  "inference_phases", "round_trips",
    "prices",    "device_use",   "slower"};
constexpr OfReport kOfReports[] = {{"info"},
                                   {"doctor"},
                                   {"events"},
                                   {"counters"},
                                   {"prof"},
                                   {"kernels"},
                                   {"top"},
                                   {"ops"},
                                   {"flame"},
                                   {"sequences"},
                                   {"annotations"},
                                   {"roofline", kWallTime},
                                   {"diff", kStepChange},
                                   {"summary", kWhereTimeGoes}};

const OfReport* FindOfReport(std::string_view verb) {
  const auto* const found = std::find_if(std::begin(kOfReports), std::end(kOfReports),
                                         [&](const OfReport& row) { return row.verb == verb; });
  return found == std::end(kOfReports) ? nullptr : found;
}

Error OnlyCounters(const AnalysisSpec& spec, const Trace& trace) {
  const bool is_replay = spec.name == "whatif";
  return {
      ErrorCode::kMissingData,
      fmt::format("{} rests on when things happened, and a report of counters does not say: the "
                  "tool ran its kernels one by one while it counted",
                  spec.name),
      is_replay ? "ask a trace of the same program, and give this report beside it with "
                  "`counters`; of the report alone, speed_of_light in counters and roofline has "
                  "the time of kernels beyond their peak (beyond_ns)"
                : "ask a trace of the same program: counters, roofline, prof, summary and whatif "
                  "take this report beside it, with `counters`",
      trace.meta().file};
}

}  // namespace

void DropTablesOfOrder(const AnalysisSpec& spec, const Trace& trace, Tables& tables) {
  const OfReport* const row =
      IsCounterReport(trace.meta().format) ? FindOfReport(spec.name) : nullptr;
  if (row == nullptr) {
    return;
  }
  for (Table& table : tables) {
    const auto& names = row->tables_of_order;
    if (std::find(names.begin(), names.end(), table.name) != names.end()) {
      table = Head(table, 0);
    }
  }
}

Result<void> CheckNeeds(const AnalysisSpec& spec, const RankView& view) {
  if (IsCounterReport(view.trace.meta().format) && FindOfReport(spec.name) == nullptr) {
    return OnlyCounters(spec, view.trace);
  }
  const NeedRow& row = kNeeds[static_cast<size_t>(spec.needs)];
  return row.is_met(view) ? Result<void>() : Unmet(row, view.trace);
}

Result<void> CheckOptions(const AnalysisSpec& spec, const Params& params) {
  for (const std::string& key : params.by) {
    if (std::find(spec.by.begin(), spec.by.end(), key) == spec.by.end()) {
      const std::string known = fmt::format("keys are {}", fmt::join(spec.by, ", "));
      return Error{.code = ErrorCode::kInvalidArgument,
                   .cause = fmt::format("{}: `by`: cannot group by '{}'", spec.name, key),
                   .remedy = spec.by.empty() ? "it has no keys to group by" : known,
                   .parameter = "by"};
    }
  }
  if ((!params.selection.empty() || params.selection.redefines_steps()) && !spec.takes_selection) {
    const std::vector<std::string> names = NamesOfSelection();
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: it answers for whole recordings", spec.name),
                 fmt::format("leave out {} and {}", fmt::join(names.begin(), names.end() - 1, ", "),
                             names.back())};
  }
  if (spec.FindPipeline(params.compat) == nullptr) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = fmt::format("{}: `compat` {} is not defined for it", spec.name,
                                      CompatName(params.compat)),
                 .remedy = CompatHint(spec),
                 .parameter = "compat"};
  }
  BS_TRY(CheckCompat(spec, params));
  BS_TRY(CheckOnlyWith(spec, params));
  if (params.all && !spec.TakesAll(params.compat)) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .cause = fmt::format("{}: `all` is not defined for it{}", spec.name, AllHint(spec)),
        .parameter = "all"};
  }
  return spec.check == nullptr ? Result<void>() : spec.check(params);
}

Result<void> CheckTogether(std::span<const AnalysisSpec* const> specs, const RunOptions& options) {
  for (const AnalysisSpec* spec : specs) {
    if (spec->takes_two() && specs.size() > 1) {
      return Error{ErrorCode::kInvalidArgument, fmt::format("{} takes two inputs", spec->name),
                   "ask for it alone"};
    }
  }
  if (options.load || !options.save.empty()) {
    BS_TRY(CheckSaved(specs, options));
  }
  if (!options.overlay.empty()) {
    BS_TRY(CheckOverlay(specs, options));
  }
  return CheckTargets(options);
}

}  // namespace borescope::internal
