// stacks: time by host call stack (stack_sums.h), on the host and of the device work below each
// frame, as a tree, by name, and folded for flame graphs.
//
// The total device times of the roots add up to all selected device work, and so do the self times
// of all rows; the same holds for the time in which a thread had a frame open. Cutting the tree
// (--depth, --min-share) keeps both sums, as does --root.

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/stacks/stack_sums.h"
#include "borescope/analysis/measures/stacks/stack_tree.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 40;

// The share of each row: of the device time, or of the host time where nothing ran on a device.
void AddShare(Table& table, std::string_view which, const StackNode& whole, std::string_view doc) {
  AddFloat(table, "share", Unit::kShare, Role::kDerived, doc);
  const bool host_only = whole.total_device_ns == 0;
  const int64_t whole_ns = host_only ? whole.total_host_ns : whole.total_device_ns;
  const IntValues& parts =
      Ints(table, std::string(which) + (host_only ? "_host_ns" : "_device_ns"));
  Column& share = table.columns.back();
  for (const int64_t part : parts) {
    Push(share, ShareOf(part, whole_ns));
  }
}

Table StacksTable(const StackTree& tree, const StackNode& whole) {
  Table table = WriteStacks(tree, SiblingOrder::kLargestFirst);
  AddShare(table, "total", whole,
           "Total device time / all device work; of a run without device work: total host time / "
           "all host time.");
  table.preview_rows = kPreviewRows;
  return table;
}

Table SortedFrames(const StackTree& tree, const StackNode& whole) {
  Table table = FramesTable(tree);
  AddShare(table, "self", whole,
           "Self device time / all device work; of a run without device work: self host time / all "
           "host time.");
  table.preview_rows = kPreviewRows;
  return Sorted(table, whole.total_device_ns == 0 ? "self_host_ns" : "self_device_ns");
}

Result<void> CheckStackKinds(const Params& params) {
  return params.Flag(kSampledParam) && params.Flag(kCallsParam)
             ? Error{.code = ErrorCode::kInvalidArgument,
                     .cause = "`sampled` and `calls` are two kinds of stacks",
                     .remedy = "choose one of them",
                     .parameter = "sampled"}
             : Result<void>();
}

// What --sampled and --calls ask for.
Result<StackKind> StacksOf(const Trace& trace, const Params& params) {
  const bool is_empty = trace.host().size() == 0;  // then nothing is missing
  if (params.Flag(kSampledParam)) {
    return is_empty || trace.stack_samples().size() > 0
               ? Result<StackKind>(StackKind::kSampled)
               : Error{ErrorCode::kMissingData, "no sampled call stacks",
                       "record with nsys profile --sample=process-tree, or leave out `sampled`",
                       trace.meta().file};
  }
  if (params.Flag(kCallsParam)) {
    return is_empty || trace.call_stacks().size() > 0
               ? Result<StackKind>(StackKind::kCalls)
               : Error{ErrorCode::kMissingData, "no call stacks were recorded with calls",
                       "record with nsys profile --cudabacktrace=all, or leave out `calls`",
                       trace.meta().file};
  }
  return StackKind::kHost;
}

Result<Tables> MapStacks(const RankView& view, const Params& params) {
  BS_ASSIGN(const StackKind stacks, StacksOf(view.trace, params));
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(Table table, SumStacks(view, selected, params.by, params.Text(kRootParam), stacks));
  return Tables{std::move(table)};
}

Result<Tables> FinishStacks(Tables tables, const Params& params) {
  StackTree tree = ReadStacks(tables.front());
  SumTotals(tree);
  const StackNode whole = WholeOf(tree);
  const StackTree cut = CutStacks(tree, StackCutOf(params));
  if (params.Flag(kFoldedParam)) {
    BS_ASSIGN(Table folded, FoldedTable(cut));
    return Tables{std::move(folded)};
  }
  return Tables{StacksTable(cut, whole), SortedFrames(tree, whole)};
}

constexpr std::string_view kStackKeys[] = {"rank", "step", "thread", "phase", "domain"};
constexpr const ParamSpec* kStackParams[] = {&kRootParam,    &kDepthParam, &kMinShareParam,
                                             &kSampledParam, &kCallsParam, &kFoldedParam};
constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kTotals[] = {"total_host_ns", "total_device_ns"};
constexpr std::string_view kAligned[] = {"self_aligned_ns", "total_aligned_ns"};
constexpr ViewSpec kViews[] = {
    {"stacks", ViewKind::kFlame, "Time on the host, and of device work below each frame", kName,
     kTotals},
    {"stacks", ViewKind::kAside, "Work from before the recording", {}, kAligned},
    {"stack_frames", ViewKind::kAside, "Work from before the recording", {}, kAligned}};

}  // namespace

const AnalysisSpec kStacksVerb{
    .name = "stacks",
    .summary = "host call stacks with the device time below them, and flame graphs",
    .example = "borescope stacks run/ --min-share 1%",
    .needs = Needs::kHostEvents,
    .by = kStackKeys,
    .params = kStackParams,
    .answer = {.map = MapStacks,
               .reduce = ReduceStacks,
               .finish = FinishStacks,
               .check_tables = CheckStacks},
    .check = CheckStackKinds,
    .views = kViews};

}  // namespace borescope::internal
