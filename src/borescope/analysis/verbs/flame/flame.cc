// flame: device time from the outside in: annotations, modules and Python frames, operators, and in
// the middle the kernels and copies themselves (stack_sums.h, StackKind::kDevice).
//
// The totals of the roots add up to all selected device work, and so do those of the kernels and
// copies with what was cut; --depth, --min-share and --root keep the sum.
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/stacks/stack_sums.h"
#include "borescope/analysis/measures/stacks/stack_tree.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 60;

// Per node: the pieces of device work in it and in all nodes below it.
std::vector<int64_t> WorksOf(const StackTree& tree) {
  std::vector<int64_t> works(tree.nodes.size());
  for (size_t i = tree.nodes.size(); i-- > 0;) {
    const StackNode& node = tree.nodes[i];
    AddSaturatingTo(works[i], node.calls);
    if (node.parent != StackNode::kNone) {
      AddSaturatingTo(works[node.parent], works[i]);
    }
  }
  return works;
}

Table EmptyFlame(const Table& stacks) {
  Table table = Head(stacks, 0);
  table.columns.resize(CountKeys(stacks) + 3);  // with depth, name, kind
  table.name = "flame";
  table.title = "Device time by frame, operator and kernel";
  table.preview_rows = kPreviewRows;
  table.Find("name")->doc =
      "Name of the frame, kernel or copy; all steps are ProfilerStep#*. \"(no operator)\" is "
      "around work that no frame launched, as far as is recorded; \"(other)\" is what was left out "
      "below the frame around it, \"(elsewhere)\" what is outside of the frames of --root.";
  table.Find("kind")->doc =
      "python, annotation, op, other, kernel, memcpy or memset; missing for rows that are neither "
      "frame nor work.";
  AddInt(table, "works", Unit::kCount, Role::kSum, "Kernels and copies here and below.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of all device work.");
  AddInt(
      table, "aligned_ns", Unit::kNanoseconds, Role::kSum,
      "Device work from before the recording that is inferred to belong here and below; recorded, "
      "and in the other columns, it is around no operator.");
  return table;
}

Table FlameTable(const StackTree& tree, int64_t whole_ns) {
  Table table = EmptyFlame(*tree.table);
  const size_t keys = CountKeys(*tree.table);
  const std::vector<int64_t> works = WorksOf(tree);
  for (const uint32_t i : Preorder(tree, SiblingOrder::kLargestFirst)) {
    const StackNode& node = tree.nodes[i];
    if (node.depth < 0) {
      continue;
    }
    for (size_t key = 0; key < keys; ++key) {
      CopyCell(table.columns[key], tree.table->columns[key], node.row);
    }
    Push(table.columns[keys], int64_t{node.depth});
    PushFrame(tree, node, table.columns[keys + 1], table.columns[keys + 2]);
    Push(table.columns[keys + 3], works[i]);
    Push(table.columns[keys + 4], node.total_device_ns);
    Push(table.columns[keys + 5], ShareOf(node.total_device_ns, whole_ns));
    Push(table.columns[keys + 6], node.total_aligned_ns);
  }
  return table;
}

Result<Tables> MapFlame(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(Table table,
            SumStacks(view, selected, params.by, params.Text(kRootParam), StackKind::kDevice));
  return Tables{std::move(table)};
}

Result<Tables> FinishFlame(Tables tables, const Params& params) {
  StackTree tree = ReadStacks(tables.front());
  SumTotals(tree);
  const int64_t whole_ns = WholeOf(tree).total_device_ns;
  const StackTree cut = CutStacks(tree, StackCutOf(params));
  if (!params.Flag(kFoldedParam)) {
    return Tables{FlameTable(cut, whole_ns)};
  }
  BS_ASSIGN(Table folded, FoldedTable(cut));
  folded.columns.pop_back();  // no host time
  folded.columns.back().doc = "Time of the kernel or copy that ends the stack.";
  return Tables{std::move(folded)};
}

constexpr std::string_view kFlameKeys[] = {"rank",   "step",  "thread", "gpu",
                                           "stream", "phase", "domain"};
constexpr const ParamSpec* kStackParams[] = {&kRootParam, &kDepthParam, &kMinShareParam,
                                             &kFoldedParam};
constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kDeviceTime[] = {"device_ns"};
constexpr std::string_view kAligned[] = {"aligned_ns"};
constexpr ViewSpec kViews[] = {
    {"flame", ViewKind::kFlame, "Device time from module to operator to kernel", kName,
     kDeviceTime},
    {"flame", ViewKind::kAside, "Work from before the recording", {}, kAligned}};

}  // namespace

const AnalysisSpec kFlameVerb{
    .name = "flame",
    .summary = "device time from module to operator to kernel, as a tree or a flame graph",
    .example = "borescope flame run/ --min-share 1%",
    .needs = Needs::kDeviceEvents,
    .by = kFlameKeys,
    .params = kStackParams,
    .answer = {.map = MapFlame,
               .reduce = ReduceStacks,
               .finish = FinishFlame,
               .check_tables = CheckStacks},
    .views = kViews};

}  // namespace borescope::internal
