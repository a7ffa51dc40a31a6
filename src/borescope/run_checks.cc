#include "borescope/run_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "borescope/analysis/recorded.h"

namespace borescope {
namespace {

struct NeedRow {
  Needs needs;
  bool (*is_met)(const RankView&);
  std::string_view lack;  // what is missing and which option of the profiler records it
};

constexpr NeedRow kNeeds[] = {
    {Needs::kNothing, [](const RankView&) { return true; }, ""},
    {Needs::kHostEvents, [](const RankView& view) { return view.trace.host().size() > 0; },
     "no host events; profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {Needs::kOps, [](const RankView& view) { return HasHostKind(view.trace, HostKind::kOp); },
     "no operators; profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {Needs::kDeviceEvents,
     [](const RankView& view) {
       const auto& kinds = view.trace.device().kind;
       return std::any_of(kinds.begin(), kinds.end(), IsDeviceWork);
     },
     "no device events; profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"},
    {Needs::kSteps, [](const RankView& view) { return !view.index.steps.steps.empty(); },
     "no ProfilerStep annotations; call prof.step() after each iteration (torch.profiler "
     "schedule)"},
};

// What is missing may have stood behind the place where a damaged file ends.
std::string Cause(const Trace& trace) {
  const Diagnostics& found = trace.diagnostics();
  const bool is_cut = found.count(Diag::kTruncatedFile) + found.count(Diag::kTruncatedGzip) != 0;
  return is_cut ? "the file ends early, so that it holds " : "";
}

}  // namespace

Result<void> CheckNeeds(const AnalysisSpec& spec, const RankView& view) {
  for (const NeedRow& row : kNeeds) {
    if (row.needs == spec.needs && !row.is_met(view)) {
      return Error{ErrorCode::kMissingData,
                   view.trace.meta().file + ": " + Cause(view.trace) + std::string(row.lack)};
    }
  }
  return {};
}

Result<void> CheckOptions(const AnalysisSpec& spec, const Params& params) {
  for (const std::string& key : params.by) {
    if (std::find(spec.by.begin(), spec.by.end(), key) == spec.by.end()) {
      const std::string known = fmt::format("keys are {}", fmt::join(spec.by, ", "));
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{}: cannot group by '{}'; {}", spec.name, key,
                               spec.by.empty() ? "it has no keys to group by" : known)};
    }
  }
  if (!params.selection.empty() && !spec.takes_selection) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: it answers for whole recordings; leave out --step, --gpu, "
                             "--stream, --annotation and --instance",
                             spec.name)};
  }
  if (params.compat == Compat::kHta && !spec.compat_hta) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: --compat hta is not defined for it", spec.name)};
  }
  const bool selects = !params.selection.empty() || !params.by.empty() || params.all;
  if (params.compat == Compat::kHta && selects) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: --compat hta answers for whole ranks, as HTA does; leave out "
                             "--step, --gpu, --stream, --annotation, --by and --all",
                             spec.name)};
  }
  if (params.all && !spec.takes_all) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: --all is not defined for it", spec.name)};
  }
  return {};
}

}  // namespace borescope
