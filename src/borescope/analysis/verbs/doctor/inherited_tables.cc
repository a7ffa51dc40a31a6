#include "borescope/analysis/verbs/doctor/inherited_tables.h"

#include <array>
#include <map>
#include <string>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 20;

Table NewInherited() {
  Table table{"inherited", "Device work from before the recording, and what it is like", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddInt(table, "works", Unit::kCount, Role::kSum,
         "Kernels, copies and memsets that were launched before the recording began.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of the durations of all device work.");
  AddInt(table, "cut_ns", Unit::kNanoseconds, Role::kDerived,
         "When the last of it has ended, since the begin of the recording: rates are of the time "
         "after it.");
  AddString(table, "level", Role::kDerived,
            "What it was compared by: full (name, stream, grid, block, bytes) or name (name and "
            "stream, where the rest was not recorded or says less).");
  AddInt(table, "alike_runs", Unit::kCount, Role::kDerived,  // "runs" is of comparisons
         "Runs of neighbours that look like neighbours in the recording; of all devices.");
  AddInt(table, "back", Unit::kCount, Role::kDerived,
         "Works that look the same backwards from where the recording goes on; of all devices.");
  AddInt(table, "forward", Unit::kCount, Role::kDerived,
         "Works after that place that look like the first recorded ones; of all devices.");
  AddFloat(table, "assigned_share", Unit::kShare, Role::kDerived,
           "Of its time: what has a place in the recording that it is like.");
  AddFloat(table, "self_precision", Unit::kShare, Role::kDerived,
           "Of the first recorded works, placed in the same way as if their launches were not "
           "recorded: those with the right operator and phase, of the placed ones. Missing where "
           "too little was recorded.");
  AddFloat(table, "self_recall", Unit::kShare, Role::kDerived, "The same, of all of them.");
  AddString(table, "confidence", Role::kDerived,
            "high, medium, low or none. Other answers use the places where it is high or medium.");
  return table;
}

struct OnDevice {
  int64_t all_ns = 0;  // of all device work
  int64_t assigned_ns = 0;
};

// By number; of devices with work from before the recording alone.
std::map<int64_t, OnDevice> TimesByDevice(const RankView& view, const InheritedWork& inherited,
                                          const AlignedWork& aligned) {
  const DeviceEvents& device = view.trace.device();
  std::map<int64_t, OnDevice> times;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    if (!IsDeviceWork(device.kind[row]) || inherited.On(view.trace.DeviceOf(id)) == nullptr) {
      continue;
    }
    OnDevice& time = times[view.trace.DeviceOf(id)];
    AddSaturatingTo(time.all_ns, device.dur_ns[row]);
    if (!aligned.like.empty() && aligned.like[row].valid()) {
      AddSaturatingTo(time.assigned_ns, device.dur_ns[row]);
    }
  }
  return times;
}

void PushShare(Row& row, double share) { share <= 1 ? row.Float(share) : row.Missing(); }

Table InheritedTable(const RankView& view, const InheritedWork& inherited,
                     const AlignedWork& aligned) {
  Table table = NewInherited();
  const std::map<int64_t, OnDevice> times = TimesByDevice(view, inherited, aligned);
  for (const auto& [gpu, device] : inherited.devices) {
    const OnDevice& time = times.at(gpu);
    Row row(table);
    row.Int(view.rank).Int(gpu).Int(device.works).Int(device.device_ns);
    row.Share(device.device_ns, time.all_ns);
    row.Int(SubtractSaturating(device.cut_ns, view.trace.begin_ns()));
    row.Text(aligned.is_by_name ? "name" : "full").Int(static_cast<int64_t>(aligned.found.runs));
    row.Int(static_cast<int64_t>(aligned.found.back));
    row.Int(static_cast<int64_t>(aligned.found.forward));
    row.Share(time.assigned_ns, device.device_ns);
    PushShare(row, aligned.self_precision);
    PushShare(row, aligned.self_recall);
    row.Text(AlignmentConfidenceName(aligned.confidence));
  }
  return table;
}

// Work by what it is like, in the order of first appearance; what is like nothing has no key but
// its device.
Table InheritedWorkTable(const RankView& view, const InheritedWork& inherited,
                         const AlignedWork& aligned) {
  const std::array<std::string, 6> by{"rank", "step", "gpu", "phase", "module", "op"};
  const GroupKeys keys(view, by, StepRule::kLaunch);
  struct Sums {
    int64_t works = 0;
    int64_t device_ns = 0;
  };
  Grouper groups(keys.size());
  std::vector<Sums> sums;
  std::vector<int64_t> key;
  for (const DeviceId id : inherited.Rows()) {
    key.clear();
    if (!aligned.like.empty() && aligned.like[id.value].valid()) {
      keys.AppendInferred(id, aligned.PlaceOf(id), key);
    } else {
      key = {view.rank, kMissing, view.trace.DeviceOf(id), kMissing, kMissing, kMissing};
    }
    const uint32_t group = groups.Find(key);
    sums.resize(groups.size());
    ++sums[group].works;
    AddSaturatingTo(sums[group].device_ns, view.trace.device().dur_ns[id.value]);
  }
  Table table{"inherited_work", "What device work from before the recording is like", {}};
  keys.AddColumnsBeforeName(table);
  keys.AddColumnsAfterName(table);
  const auto say = [&](std::string_view name, std::string_view doc) {
    table.Find(name)->doc = doc;
  };
  say("step",
      "Number of the step in which it was launched, which may be one before the first "
      "recorded one; missing where it is not known.");
  say("phase", "Of the work that it is like; missing where no work is.");
  say("module", "Class of the innermost nn.Module of the work that it is like, if any.");
  say("op", "Innermost operator of the work that it is like, if any.");
  AddInt(table, "works", Unit::kCount, Role::kSum, "Kernels, copies and memsets.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum,
         "Sum of their durations; adds up to that of the device in `inherited`.");
  table.preview_rows = kPreviewRows;
  for (uint32_t i = 0; i < sums.size(); ++i) {
    Row row(table);
    keys.PushBeforeName(row, groups.key(i));
    keys.PushAfterName(row, groups.key(i));
    row.Int(sums[i].works).Int(sums[i].device_ns);
  }
  return table;
}

}  // namespace

Tables InheritedTables(const RankView& view) {
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  const std::shared_ptr<const AlignedWork> aligned = SharedAlignedWork(view);
  return {InheritedTable(view, *inherited, *aligned),
          InheritedWorkTable(view, *inherited, *aligned)};
}

}  // namespace borescope::internal
