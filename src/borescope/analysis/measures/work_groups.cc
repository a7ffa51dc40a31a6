#include "borescope/analysis/measures/work_groups.h"

#include <algorithm>

#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

bool IsAskedFor(const RankView& view, DeviceId id, WorkKinds kinds) {
  const bool is_kernel = view.trace.device().kind[id.value] == DeviceKind::kKernel;
  return kinds == WorkKinds::kAll || is_kernel == (kinds == WorkKinds::kKernels);
}

// The group of work: its key values, name and label.
uint32_t FindGroup(const RankView& view, DeviceId id, const WorkLabel& label,
                   std::vector<int64_t>& key, WorkGroups& result) {
  key.push_back(view.trace.device().name[id.value].value);
  key.push_back(label.of(view, id));
  const uint32_t group = result.groups.Find(key);
  result.stats.resize(result.groups.size());
  return group;
}

}  // namespace

WorkGroups GroupWork(const RankView& view, const Selected& selected, const GroupKeys& keys,
                     WorkKinds kinds, const WorkLabel& label) {
  const DeviceEvents& device = view.trace.device();
  WorkGroups result(keys);
  std::vector<int64_t> key;
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (!IsAskedFor(view, id, kinds) || !selected.Keeps(id)) {
      continue;
    }
    key.clear();
    keys.Append(id, key);
    const uint32_t group = FindGroup(view, id, label, key, result);
    result.stats[group].Add(device.dur_ns[row]);
    if (result.instances.is_used()) {
      result.instances.Add(group, keys.ModuleInstance(id));
    }
  }
  return result;
}

bool HasInferredKey(std::span<const std::string> by) {
  constexpr std::string_view kInferred[] = {"step",   "thread",          "phase", "domain",
                                            "module", "module-instance", "op"};
  return std::any_of(std::begin(kInferred), std::end(kInferred),
                     [by](std::string_view key) { return HasKey(by, key); });
}

void AddAlignedColumn(Table& table) {
  AddInt(table, "aligned_ns", Unit::kNanoseconds, Role::kSum,
         "Device work from before the recording that is inferred to belong here. In the other "
         "columns it is in the row of work without a known launch. Only with keys that can be "
         "inferred: step, phase, domain, module, module-instance, op.");
}

void GroupAligned(const RankView& view, const Selected& selected, const GroupKeys& keys,
                  WorkKinds kinds, const WorkLabel& label, WorkGroups& groups) {
  const std::shared_ptr<const AlignedWork> aligned = SharedAlignedWork(view);
  std::vector<int64_t> key;
  for (uint32_t row = 0; row < aligned->like.size() && aligned->IsConfident(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    if (!aligned->LikeOf(id).valid() || !IsAskedFor(view, id, kinds) || !selected.Keeps(id)) {
      continue;
    }
    key.clear();
    keys.AppendInferred(id, aligned->PlaceOf(id), key);
    const uint32_t group = FindGroup(view, id, label, key, groups);
    groups.aligned_ns.resize(groups.groups.size(), 0);
    AddSaturatingTo(groups.aligned_ns[group], view.trace.device().dur_ns[row]);
  }
}

void PushAligned(Table& table, const WorkGroups& work) {
  AddAlignedColumn(table);
  for (size_t i = 0; i < work.stats.size(); ++i) {
    Push(table.columns.back(), work.aligned(i));
  }
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
  for (const uint32_t row : EachRow(device.size())) {
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
