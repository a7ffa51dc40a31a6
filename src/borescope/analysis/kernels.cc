// kernels: device time per kernel name, and per class of kernels (index/kernel_class.h). Every
// kernel counts, whether or not its launch was recorded; --all adds memcpys and memsets. `share` is
// a part of all device time listed, so overlapping streams count twice here but not in the
// breakdown. With --patterns kernel_categories sums up by the user's own categories.
#include <fmt/format.h>

#include <utility>

#include "borescope/analysis/analyses.h"
#include "borescope/analysis/finish.h"
#include "borescope/analysis/kernel_categories.h"
#include "borescope/analysis/work_groups.h"
#include "borescope/table/table_ops.h"

namespace borescope {
namespace {

int64_t ClassOf(const RankView& view, DeviceId id) {
  return static_cast<int64_t>(WorkClassOf(view, id));
}

std::string_view ClassName(int64_t label) {
  return KernelClassName(static_cast<KernelClass>(label));
}

constexpr WorkLabel kClassLabel{"class",
                                "What the kernel is for, judged by its name.",
                                "Name of the kernel as recorded.",
                                "launched kernels",
                                ClassOf,
                                ClassName};

Table ClassTable(const WorkGroups& kernels, const GroupKeys& keys) {
  Table table{"kernel_classes", "Device time per class of kernels", {}};
  keys.AddColumnsBeforeName(table);
  AddString(table, "class", Role::kKey, "What the kernels are for, judged by their names.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Number of launched kernels.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived,
           "Total / total of all rows of this table.");
  for (size_t i = 0; i < kernels.stats.size(); ++i) {
    Row row(table);
    keys.PushBeforeName(row, kernels.groups.key(i));
    row.Text(ClassName(kernels.label(i)));
    row.Int(kernels.stats[i].count).Int(kernels.stats[i].total_ns).Missing();
  }
  return MergeByKey(table);
}

}  // namespace

Result<void> CheckKernels(const Params& params) {
  if (HasPatterns(params) && params.compat != Compat::kNone) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("kernels: --patterns is not defined with --compat {}",
                             CompatName(params.compat))};
  }
  return CheckPatterns(params);
}

Result<Findings> MapKernels(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const GroupKeys keys(view, params.by);
  const WorkKinds kinds = params.all ? WorkKinds::kAll : WorkKinds::kKernels;
  const WorkGroups kernels = GroupWork(view, selected, keys, kinds, kClassLabel);
  Table table =
      WorkTable({"kernels", "Device time per kernel", {}}, view, kernels, keys, kClassLabel);
  return Findings{std::move(table), ClassTable(kernels, keys)};
}

Result<Findings> FinishKernels(Findings findings, const Params& params) {
  findings[0] = FinishStatsTable(std::move(findings[0]));
  FillShare(findings[1], "total_ns", "share");
  findings[1] = Sorted(findings[1], "total_ns");
  if (HasPatterns(params)) {
    BS_ASSIGN(const NamePatterns patterns, PatternsOf(params));
    findings.push_back(CategoryTable(findings[0], patterns));
  }
  return findings;
}

}  // namespace borescope
