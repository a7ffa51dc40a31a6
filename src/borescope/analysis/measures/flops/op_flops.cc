#include "borescope/analysis/measures/flops/op_flops.h"

#include <algorithm>

#include "borescope/analysis/measures/recorded.h"

namespace borescope::internal {
namespace {

// Without them nothing has known FLOPs.
bool HasShapes(const Trace& trace) {
  const ColumnData<StringId>& dims = trace.ops().input_dims;
  return std::any_of(dims.begin(), dims.end(),
                     [&](StringId text) { return !trace.Text(text).empty(); });
}

int64_t FlopsOf(const OpCost& cost) {
  return KnowsFlops(cost.status) ? static_cast<int64_t>(cost.main_flops()) : kMissing;
}

Result<void> CountWithDevice(const RankView& view, const Selected& selected, CallFlops& flops) {
  BS_ASSIGN(const ModelledWork work, ModelWork(view, {}));
  for (const ModelledCall& call : work.calls) {
    // What this recording captured itself is no call of this table.
    if (call.is_replay && !view.trace.host().IsCaptured(call.op)) continue;
    const std::span<const DeviceId> works = work.WorksOf(call);
    const bool is_known = work.info[works.front().value].status == WorkStatus::kModelled;
    const bool is_selected =
        std::any_of(works.begin(), works.end(), [&](DeviceId id) { return selected.Keeps(id); });
    if (!is_known || !is_selected) continue;
    if (call.is_replay) {
      flops.replayed.push_back({call.op, works.front(), FlopsOf(call.cost())});
    } else {
      flops.of_call[call.op.value] = FlopsOf(call.cost());
    }
  }
  return {};
}

void CountOnHost(const RankView& view, const Selected& selected, std::vector<int64_t>& flops) {
  OpCosts costs(view.trace);
  for (uint32_t row = 0; row < flops.size(); ++row) {
    const OpModel* model = costs.ModelOf(HostId{row});
    if (model != nullptr && !model->is_composite && selected.Keeps(HostId{row})) {
      flops[row] = FlopsOf(costs.Of(HostId{row}));
    }
  }
}

}  // namespace

Result<CallFlops> FlopsOfCalls(const RankView& view, const Selected& selected) {
  CallFlops flops;
  flops.of_call.assign(view.trace.host().size(), kMissing);
  if (!HasShapes(view.trace)) return flops;
  if (HasDeviceWork(view.trace)) {
    BS_TRY(CountWithDevice(view, selected, flops));
  } else {
    CountOnHost(view, selected, flops.of_call);
  }
  return flops;
}

}  // namespace borescope::internal
