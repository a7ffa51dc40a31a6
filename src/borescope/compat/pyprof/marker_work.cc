#include "borescope/compat/pyprof/marker_work.h"

#include <algorithm>
#include <limits>

#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/base/check.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kModelled = "modelled";
constexpr std::string_view kHelper = "helper";
constexpr std::string_view kNoModel = "no model";

int64_t PartOf(uint64_t whole, size_t index, size_t count) {
  const uint64_t part = whole / count + (index < whole % count ? 1 : 0);
  const auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(part, most));
}

// A product of matrices, or a convolution: each gradient of them costs what forward does.
bool HasGradientCost(OpFamily family) {
  return family == OpFamily::kGemm || family == OpFamily::kConvolution;
}

}  // namespace

WorkShare ShareOfCost(const OpCost& cost, size_t index, size_t count) {
  BS_CHECK(count > 0);
  if (cost.status == CostStatus::kBytesOnly) {
    return {.bytes = PartOf(cost.bytes(), index, count), .status = CostStatusName(cost.status)};
  }
  if (!KnowsFlops(cost.status)) return {.status = CostStatusName(cost.status)};
  WorkShare share{.flops = PartOf(cost.main_flops(), index, count),
                  .bytes = PartOf(cost.bytes(), index, count),
                  .status = kModelled};
  if (cost.status == CostStatus::kUnknownType) {
    share.bytes.reset();
    share.status = CostStatusName(cost.status);
  }
  return share;
}

HostId MarkerWork::Choose(const std::vector<HostId>& ranges) {
  HostId innermost;
  HostId modelled;
  for (size_t i = ranges.size(); i-- > 0;) {
    if (view_.trace.host().kind[ranges[i].value] != HostKind::kAnnotation) continue;
    const PyProfMarker& marker = markers_.Of(ranges[i]);
    if (marker.kind != MarkerKind::kArguments) continue;
    if (!innermost.valid()) innermost = ranges[i];
    const CostStatus status = CostOf(ranges[i]).status;
    if (status == CostStatus::kUnknownOp) continue;
    if (KnowsFlops(status)) return ranges[i];
    if (!modelled.valid()) modelled = ranges[i];
  }
  return modelled.valid() ? modelled : innermost;
}

void MarkerWork::Add(DeviceId kernel, HostId owner, HostId arguments, bool is_backward) {
  Call& call = calls_[owner.value];
  call.arguments = arguments;
  call.is_backward = is_backward;
  call.kernels.push_back(kernel);
}

const OpCost& MarkerWork::CostOf(HostId arguments) {
  const StringId text = view_.trace.host().name[arguments.value];
  const auto [found, is_new] = costs_.try_emplace(text.value);
  if (is_new) {
    found->second = CostOfCall(markers_.Of(arguments).call, options_);
  }
  return found->second;
}

bool MarkerWork::IsMatrix(const Call& call) {
  return IsMatrixFamily(CostOf(call.arguments).family);
}

// The kernels that `is_main` of a call, in row order.
template <class IsMain>
std::vector<DeviceId> Filtered(const std::vector<DeviceId>& kernels, const IsMain& is_main) {
  std::vector<DeviceId> mains;
  std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(mains), is_main);
  std::sort(mains.begin(), mains.end());
  return mains;
}

void MarkerWork::FindMainKernels(Call& call) {
  if (IsMatrix(call)) {
    call.mains = Filtered(call.kernels, [&](DeviceId id) {
      return MatrixUseOf(view_.trace.Name(id), false) != MatrixUse::kNotMatrix;
    });
  }
  if (!call.mains.empty()) return;
  const DeviceEvents& device = view_.trace.device();
  const DeviceId longest = *std::max_element(
      call.kernels.begin(), call.kernels.end(),
      [&](DeviceId a, DeviceId b) { return device.dur_ns[a.value] < device.dur_ns[b.value]; });
  call.mains = Filtered(call.kernels, [&](DeviceId id) {
    return device.name[id.value] == device.name[longest.value];
  });
}

WorkShare MarkerWork::BackwardShare(const Call& call, size_t index) {
  OpCost cost = CostOf(call.arguments);
  if (KnowsFlops(cost.status) && !HasGradientCost(cost.family)) return {.status = kNoModel};
  cost.vector_flops = 0;
  // Of two gradients each is the share of one kernel; more kernels share both.
  const size_t mains = call.mains.size();
  if (mains <= 2) return ShareOfCost(cost, 0, 1);
  cost.matrix_flops = (Quantity(cost.matrix_flops) * 2).value();
  cost.read_bytes = (Quantity(cost.read_bytes) * 2).value();
  cost.written_bytes = (Quantity(cost.written_bytes) * 2).value();
  return ShareOfCost(cost, index, mains);
}

WorkShare MarkerWork::ShareOf(DeviceId kernel, HostId owner) {
  Call& call = calls_[owner.value];
  if (call.mains.empty()) FindMainKernels(call);
  const auto main = std::lower_bound(call.mains.begin(), call.mains.end(), kernel);
  const bool is_main = main != call.mains.end() && *main == kernel;
  const auto index = static_cast<size_t>(main - call.mains.begin());
  WorkShare share = call.is_backward
                        ? BackwardShare(call, index)
                        : ShareOfCost(CostOf(call.arguments), index, call.mains.size());
  if (!is_main && share.flops.has_value()) {
    share = {.flops = 0, .bytes = 0, .status = kHelper};
  }
  return share;
}

MatrixUse MarkerWork::UseOf(DeviceId kernel, HostId owner) {
  Call& call = calls_[owner.value];
  if (call.mains.empty()) FindMainKernels(call);
  const bool is_main = std::binary_search(call.mains.begin(), call.mains.end(), kernel);
  return MatrixUseOf(view_.trace.Name(kernel), is_main && IsMatrix(call));
}

}  // namespace borescope::internal
