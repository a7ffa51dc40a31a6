// The view busy: time of all work of a device, where overlapping work counts as often, over the
// time from the first start to the last end of any work on any device.
#include <algorithm>
#include <map>
#include <utility>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/stop.h"
#include "borescope/packs/rpd/tables.h"

namespace borescope::internal {

Result<Tables> MapRpdBusy(const RankView& view, const Params&) {
  Table table{"busy", "Device time (as rocmProfileData)", {}};
  AddRankKey(table);
  AddInt(table, "gpuId", Unit::kNone, Role::kKey, kGpuDoc);
  AddInt(table, "GpuTime", Unit::kNone, Role::kDerived, "Sum of the durations on the device, ns.");
  AddInt(table, "WallTime", Unit::kNone, Role::kDerived,
         "First start to last end of the work of all devices, ns.");
  AddFloat(table, "Busy", Unit::kNone, Role::kDerived, "GpuTime / WallTime; may exceed 1.");
  const DeviceEvents& device = view.trace.device();
  std::map<int64_t, int64_t> time_of;
  int64_t begin_ns = view.trace.end_ns();
  int64_t end_ns = view.trace.begin_ns();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(device.kind[row])) {
      int64_t& time_ns = time_of[view.trace.DeviceOf(DeviceId{row})];
      time_ns = AddSaturating(time_ns, device.dur_ns[row]);
      begin_ns = std::min(begin_ns, device.ts_ns[row]);
      end_ns = std::max(end_ns, device.end_ns(DeviceId{row}));
    }
  }
  for (const auto& [gpu, time_ns] : time_of) {
    const int64_t wall_ns = end_ns - begin_ns;
    Row(table).Int(view.rank).Int(gpu).Int(time_ns).Int(wall_ns).Share(time_ns, wall_ns);
  }
  return Tables{std::move(table)};
}

}  // namespace borescope::internal
