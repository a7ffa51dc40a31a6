// The views ktop and kernel. `ktop` adds up the time of the launching calls on the host, not that
// of the kernels; both know only kernels whose call told their shape, so that those of graphs are
// missing.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/packs/rpd/tables.h"

namespace borescope::internal {
namespace {

// Kernels whose launch and shape are known, by start.
std::vector<DeviceId> DescribedKernels(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  std::vector<DeviceId> kernels;
  for (const DeviceId id : RpdOps(view)) {
    if (device.kind[id.value] == DeviceKind::kKernel && device.detail[id.value] != kNoDetail &&
        view.index.correlation.launch_of[id.value].valid()) {
      kernels.push_back(id);
    }
  }
  return kernels;
}

// Each call once, under the name of its first kernel.
Table KtopTable(const RankView& view, const std::vector<DeviceId>& kernels) {
  Table table{"ktop", "Time of launching calls by kernel (as rocmProfileData)", {}};
  AddRpdTotals(table);
  std::vector<char> is_counted(view.trace.host().size());
  std::map<uint32_t, RpdTotals> totals;
  for (const DeviceId id : kernels) {
    const HostId call = view.index.correlation.launch_of[id.value];
    if (std::exchange(is_counted[call.value], 1) != 0) {
      continue;
    }
    RpdTotals& of_name = totals[view.trace.device().name[id.value].value];
    ++of_name.calls;
    of_name.total_ns = AddSaturating(of_name.total_ns, view.trace.host().dur_ns[call.value]);
    of_name.whole_ns = of_name.total_ns;
  }
  for (const auto& [name, of_name] : totals) {
    PushRpdTotals(table, view.trace.Text(StringId{name}), of_name);
  }
  return table;
}

Table KernelTable(const RankView& view, const std::vector<DeviceId>& works) {
  Table table{"kernel", "Kernels and their shapes (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"gpuId", "queueId", "start", "end", "duration"});
  AddString(table, "stream", Role::kDerived, "Stream as the launch named it.");
  AddRpdInts(table, {"gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ",
                     "groupSegmentSize", "privateSegmentSize"});
  AddString(table, "kernelName", Role::kDerived, "Name of the kernel.");
  const DeviceEvents& device = view.trace.device();
  const Kernels& kernels = view.trace.kernels();
  for (const DeviceId id : works) {
    const uint32_t detail = device.detail[id.value];
    Row row(table);
    row.Int(view.rank).Int(view.trace.DeviceOf(id)).Int(view.trace.StreamOf(id));
    row.Int(device.ts_ns[id.value]).Int(device.end_ns(id)).Int(device.dur_ns[id.value]);
    row.MaybeText(view.trace.Text(kernels.stream_handle[detail]));
    for (const auto* part :
         {&kernels.grid_x, &kernels.grid_y, &kernels.grid_z, &kernels.block_x, &kernels.block_y,
          &kernels.block_z, &kernels.shared_bytes, &kernels.private_bytes}) {
      const int32_t value = (*part)[detail];
      value < 0 ? row.Missing() : row.Int(value);
    }
    row.Text(view.trace.Name(id));
  }
  return table;
}

}  // namespace

Result<Tables> MapRpdKernels(const RankView& view, const Params&) {
  const std::vector<DeviceId> kernels = DescribedKernels(view);
  return Tables{KtopTable(view, kernels), KernelTable(view, kernels)};
}

Result<Tables> FinishRpdKernels(Tables findings, const Params&) {
  findings[0] = FinishRpdTotals(findings[0], RpdRounding::kOld);
  return findings;
}

}  // namespace borescope::internal
