#include "borescope/analysis/verbs/variability/work_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

constexpr int64_t kBytes = -1;  // in the place of an element type: the amount is one of bytes

// Two numbers in one member: of a grid and a block there are six, of every kernel.
int64_t Pair(int32_t first, int32_t second) {
  return static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(first)) << 32) |
                              static_cast<uint32_t>(second));
}

int32_t First(int64_t pair) { return static_cast<int32_t>(static_cast<uint64_t>(pair) >> 32); }
int32_t Second(int64_t pair) { return static_cast<int32_t>(static_cast<uint64_t>(pair)); }

struct Amount {
  int64_t count = kMissing;
  int64_t type = kMissing;  // StringId of the elements' type, or kBytes
};

Amount AmountOf(const RankView& view, DeviceId id) {
  const Trace& trace = view.trace;
  if (trace.device().kind[id.value] != DeviceKind::kKernel) {
    return Amount{CopyBytes(trace, id), kBytes};
  }
  const uint32_t args = CollectiveArgsOf(view, id);
  const Collectives& collectives = trace.collectives();
  return args == kNoDetail || collectives.in_elems[args] == kMissing
             ? Amount()
             : Amount{collectives.in_elems[args], collectives.dtype[args].value};
}

std::string AmountText(const Trace& trace, Amount amount) {
  if (amount.count == kMissing) {
    return {};
  }
  const std::string_view type =
      amount.type == kBytes ? "bytes" : trace.Text(StringId{static_cast<uint32_t>(amount.type)});
  return fmt::format("{} {}", amount.count, type.empty() ? "elements" : type);
}

std::string ShapeText(std::span<const int64_t> members) {
  const int32_t grid_x = First(members[0]);
  const int32_t block_x = Second(members[1]);
  const std::span<const int64_t> shape = members.first(3);
  if (std::all_of(shape.begin(), shape.end(),
                  [](int64_t pair) { return First(pair) < 0 && Second(pair) < 0; })) {
    return {};
  }
  return fmt::format("{},{},{} x {},{},{}", grid_x, Second(members[0]), First(members[1]), block_x,
                     First(members[2]), Second(members[2]));
}

}  // namespace

void AppendWorkSize(const RankView& view, DeviceId id, std::vector<int64_t>& key) {
  const DeviceEvents& device = view.trace.device();
  const Kernels& kernels = view.trace.kernels();
  const uint32_t row = device.detail[id.value];
  if (device.kind[id.value] == DeviceKind::kKernel && row != kNoDetail) {
    key.push_back(Pair(kernels.grid_x[row], kernels.grid_y[row]));
    key.push_back(Pair(kernels.grid_z[row], kernels.block_x[row]));
    key.push_back(Pair(kernels.block_y[row], kernels.block_z[row]));
  } else {
    key.insert(key.end(), 3, Pair(-1, -1));
  }
  const Amount amount = AmountOf(view, id);
  key.push_back(amount.count);
  key.push_back(amount.type);
}

std::string WorkSizeText(const Trace& trace, std::span<const int64_t> members) {
  BS_DCHECK(members.size() == kWorkSizeKeys);
  const std::string amount = AmountText(trace, {members[3], members[4]});
  const std::string shape = ShapeText(members);
  return amount + (amount.empty() || shape.empty() ? "" : ", ") + shape;
}

}  // namespace borescope::internal
