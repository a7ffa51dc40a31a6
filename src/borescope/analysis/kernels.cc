// kernels: device time per kernel name, and per class of kernels (index/kernel_class.h). Every
// kernel counts, whether or not its launch was recorded; --all adds memcpys and memsets. `share` is
// a part of all device time listed, so overlapping streams count twice here but not in the
// breakdown.
#include <string>
#include <vector>

#include "borescope/analysis/analyses.h"
#include "borescope/analysis/duration_stats.h"
#include "borescope/analysis/finish.h"
#include "borescope/analysis/group_keys.h"
#include "borescope/analysis/grouper.h"
#include "borescope/analysis/selection.h"
#include "borescope/table/table_ops.h"

namespace borescope {
namespace {

// Durations by the extra keys and the kernel's name.
struct KernelGroups {
  explicit KernelGroups(size_t keys) : groups(keys + 2) {}

  Grouper groups;  // key values, then name and class
  std::vector<DurationStats> stats;

  StringId name(size_t group) const {
    const std::span<const int64_t> key = groups.key(group);
    return StringId{static_cast<uint32_t>(key[key.size() - 2])};
  }
  std::string_view class_name(size_t group) const {
    return KernelClassName(static_cast<KernelClass>(groups.key(group).back()));
  }
};

KernelClass ClassOf(const RankView& view, DeviceId id) {
  return view.trace.device().kind[id.value] == DeviceKind::kKernel
             ? view.index.ClassOf(view.trace, id)
             : KernelClass::kCopy;
}

KernelGroups GroupKernels(const RankView& view, const Selected& selected, const GroupKeys& keys,
                          bool all) {
  const DeviceEvents& device = view.trace.device();
  KernelGroups result(keys.size());
  std::vector<int64_t> key;
  for (uint32_t row = 0; row < device.size(); ++row) {
    const DeviceId id{row};
    if (!(all || device.kind[row] == DeviceKind::kKernel) || !selected.Keeps(id)) {
      continue;
    }
    key.clear();
    keys.Append(id, key);
    key.push_back(device.name[row].value);
    key.push_back(static_cast<int64_t>(ClassOf(view, id)));
    const uint32_t group = result.groups.Find(key);
    result.stats.resize(result.groups.size());
    result.stats[group].Add(device.dur_ns[row]);
  }
  return result;
}

Table KernelTable(const RankView& view, const KernelGroups& kernels, const GroupKeys& keys) {
  Table table{"kernels", "Device time per kernel", {}};
  keys.AddColumnsBeforeName(table);
  AddString(table, "name", Role::kKey, "Name of the kernel as recorded.");
  keys.AddColumnsAfterName(table);
  AddString(table, "class", Role::kKey, "What the kernel is for, judged by its name.");
  AddStatsColumns(table, "launched kernels");
  for (size_t i = 0; i < kernels.stats.size(); ++i) {
    const std::span<const int64_t> key = kernels.groups.key(i);
    Row row(table);
    keys.PushBeforeName(row, key);
    row.Text(view.trace.Text(kernels.name(i)));
    keys.PushAfterName(row, key);
    row.Text(kernels.class_name(i));
    PushStats(row, kernels.stats[i]);
  }
  return table;
}

Table ClassTable(const KernelGroups& kernels, const GroupKeys& keys) {
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
    row.Text(kernels.class_name(i));
    row.Int(kernels.stats[i].count).Int(kernels.stats[i].total_ns).Missing();
  }
  return MergeByKey(table);
}

}  // namespace

Result<Findings> MapKernels(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const GroupKeys keys(view, params.by);
  const KernelGroups kernels = GroupKernels(view, selected, keys, params.all);
  return Findings{KernelTable(view, kernels, keys), ClassTable(kernels, keys)};
}

Result<Findings> FinishKernels(Findings findings, const Params&) {
  findings[0] = FinishStatsTable(std::move(findings[0]));
  FillShare(findings[1], "total_ns", "share");
  findings[1] = Sorted(findings[1], "total_ns");
  return findings;
}

}  // namespace borescope
