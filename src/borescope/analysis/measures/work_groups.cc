#include "borescope/analysis/measures/work_groups.h"

#include <algorithm>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {

WorkGroups GroupWork(const RankView& view, const Selected& selected, const GroupKeys& keys,
                     WorkKinds kinds, const WorkLabel& label) {
  const DeviceEvents& device = view.trace.device();
  WorkGroups result(keys);
  std::vector<int64_t> key;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    const bool is_kernel = device.kind[row] == DeviceKind::kKernel;
    const bool is_asked_for =
        kinds == WorkKinds::kAll || is_kernel == (kinds == WorkKinds::kKernels);
    if (!is_asked_for || !selected.Keeps(id)) {
      continue;
    }
    key.clear();
    keys.Append(id, key);
    key.push_back(device.name[row].value);
    key.push_back(label.of(view, id));
    const uint32_t group = result.groups.Find(key);
    result.stats.resize(result.groups.size());
    result.stats[group].Add(device.dur_ns[row]);
    if (result.instances.is_used()) {
      result.instances.Add(group, keys.ModuleInstance(id));
    }
  }
  return result;
}

Table WorkTable(Table table, const RankView& view, const WorkGroups& work, const GroupKeys& keys,
                const WorkLabel& label) {
  keys.AddColumnsBeforeName(table);
  AddString(table, "name", Role::kKey, label.name_doc).hints.names = true;
  keys.AddColumnsAfterName(table);
  AddString(table, label.column, Role::kKey, label.column_doc).hints.palette = Palette::kWork;
  work.instances.AddColumn(table);
  AddStatsColumns(table, label.things);
  for (uint32_t i = 0; i < work.stats.size(); ++i) {
    const std::span<const int64_t> key = work.groups.key(i);
    Row row(table);
    keys.PushBeforeName(row, key);
    row.Text(view.trace.Text(work.name(i)));
    keys.PushAfterName(row, key);
    row.Text(label.text(work.label(i)));
    work.instances.Push(row, i);
    PushStats(row, work.stats[i]);
  }
  return table;
}

KernelClass WorkClassOf(const RankView& view, DeviceId id) {
  return view.trace.device().kind[id.value] == DeviceKind::kKernel
             ? view.index.ClassOf(view.trace, id)
             : KernelClass::kCopy;
}

std::vector<DeviceId> WorkByStart(const RankView& view, const Selected& selected) {
  const DeviceEvents& device = view.trace.device();
  std::vector<DeviceId> work;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (selected.Keeps(DeviceId{row})) {
      work.push_back(DeviceId{row});
    }
  }
  std::stable_sort(work.begin(), work.end(), [&](DeviceId a, DeviceId b) {
    return device.ts_ns[a.value] < device.ts_ns[b.value];
  });
  return work;
}

}  // namespace borescope::internal
