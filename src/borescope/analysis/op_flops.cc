#include "borescope/analysis/op_flops.h"

#include <algorithm>

namespace borescope {
namespace {

bool HasDeviceWork(const DeviceEvents& device) {
  return std::any_of(device.kind.begin(), device.kind.end(), IsDeviceWork);
}

void CountLaunching(const RankView& view, const Selected& selected, OpCosts& costs,
                    std::vector<char>& is_counted) {
  for (uint32_t row = 0; row < view.trace.device().size(); ++row) {
    HostId call = view.index.correlation.op_of[row];
    if (!call.valid() || !selected.Keeps(DeviceId{row})) {
      continue;
    }
    while (call.valid() && costs.ModelOf(call) == nullptr) {
      call = view.index.tree.parent[call.value];
    }
    if (call.valid()) {
      is_counted[call.value] = 1;
    }
  }
}

// Its operators below do the work, and are counted already.
void DropCompositesAbove(const RankView& view, OpCosts& costs, std::vector<char>& is_counted) {
  const std::vector<HostId>& parent = view.index.tree.parent;
  std::vector<char> is_above(is_counted.size());
  for (uint32_t row = 0; row < is_counted.size(); ++row) {
    HostId outer = is_counted[row] != 0 ? parent[row] : HostId{};
    while (outer.valid() && is_above[outer.value] == 0) {
      is_above[outer.value] = 1;
      outer = parent[outer.value];
    }
  }
  for (uint32_t row = 0; row < is_counted.size(); ++row) {
    if (is_above[row] != 0 && is_counted[row] != 0 && costs.ModelOf(HostId{row})->is_composite) {
      is_counted[row] = 0;
    }
  }
}

}  // namespace

std::vector<char> CountedCalls(const RankView& view, const Selected& selected, OpCosts& costs) {
  std::vector<char> is_counted(view.trace.host().size());
  if (HasDeviceWork(view.trace.device())) {
    CountLaunching(view, selected, costs, is_counted);
    DropCompositesAbove(view, costs, is_counted);
    return is_counted;
  }
  for (uint32_t row = 0; row < is_counted.size(); ++row) {
    const OpModel* model = costs.ModelOf(HostId{row});
    is_counted[row] =
        model != nullptr && !model->is_composite && selected.Keeps(HostId{row}) ? 1 : 0;
  }
  return is_counted;
}

}  // namespace borescope
