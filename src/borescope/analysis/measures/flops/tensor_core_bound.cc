#include "borescope/analysis/measures/flops/tensor_core_bound.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/opmodel/devices/tensor_cores.h"

namespace borescope::internal {
namespace {

constexpr int64_t kFirstWithTf32 = 8;  // NVIDIA's compute capability of Ampere

bool HasTf32(const Trace& trace, int64_t gpu) {
  for (const DeviceInfo& info : trace.meta().devices) {
    if (info.id == gpu) {
      return trace.meta().vendor == Vendor::kNvidia && info.compute_major >= kFirstWithTf32;
    }
  }
  return false;
}

// Of a kernel by name: whether it multiplies 32-bit numbers on vector units.
bool IsFp32Product(std::string_view kernel, KernelClass kind) {
  const bool is_product = kind == KernelClass::kGemm || kind == KernelClass::kConv;
  return is_product && MatrixUseOf(kernel) == MatrixUse::kNo &&
         (Contains(kernel, "sgemm") || Contains(kernel, "f32f32_f32f32") ||
          Contains(kernel, "scudnn") || Contains(kernel, "fprop_f32"));
}

class BoundFinder {
 public:
  explicit BoundFinder(const RankView& view)
      : device_(view.trace.device()),
        trace_(view.trace),
        is_product_(ProductsOnVectorUnits(view)),
        aligned_(SharedAlignedWork(view)),
        is_known_(device_.size(), 0) {}

  TensorCoreBound Find(const ModelledWork& work, const Roofs& roofs) {
    bound_.share.assign(device_.size(), 1);
    for (uint32_t row = 0; row < device_.size(); ++row) {
      if (is_product_[row] != 0) {
        AddSaturatingTo(bound_.products_ns, device_.dur_ns[row]);
        bound_.share[row] = 0;
      }
    }
    for (const ModelledCall& call : work.calls) {
      BoundCall(call, work, roofs);
    }
    BoundInherited();
    CountKnown();
    return std::move(bound_);
  }

 private:
  void BoundCall(const ModelledCall& call, const ModelledWork& work, const Roofs& roofs) {
    const std::span<const DeviceId> works = work.WorksOf(call);
    int64_t all_ns = 0;
    int64_t products_ns = 0;
    for (const DeviceId id : works) {
      AddSaturatingTo(all_ns, device_.dur_ns[id.value]);
      AddSaturatingTo(products_ns, is_product_[id.value] != 0 ? device_.dur_ns[id.value] : 0);
    }
    const bool is_counted = products_ns > 0 && call.cost().matrix_flops > 0 &&
                            work.info[works.front().value].status == WorkStatus::kModelled;
    if (!is_counted) {
      return;
    }
    ModelledCall with_tf32 = call;
    with_tf32.matrix_use = MatrixUse::kYes;
    const int64_t gpu = trace_.DeviceOf(works.front());
    const DeviceSpec* spec = roofs.SpecOf(gpu);
    const std::optional<RoofTime> least = roofs.TimeOf(with_tf32, "tf32", gpu);
    if (spec == nullptr || !CeilingOf(*spec, Peak::kTf32Matrix) || !least) {
      return;
    }
    const double share =
        std::min(1.0, static_cast<double>(least->longest()) / static_cast<double>(all_ns));
    for (const DeviceId id : works) {
      bound_.share[id.value] = share;
      is_known_[id.value] = 1;
    }
  }

  // Work from before the recording takes as long as the work that it surely is like.
  void BoundInherited() {
    for (uint32_t row = 0; row < device_.size(); ++row) {
      CheckStopAt(row);
      const DeviceId like = aligned_->AsLaunched(DeviceId{row});
      if (like.value != row && is_known_[like.value] != 0) {
        bound_.share[row] = bound_.share[like.value];
        is_known_[row] = 1;
      }
    }
  }

  void CountKnown() {
    for (uint32_t row = 0; row < device_.size(); ++row) {
      const bool counts = is_product_[row] != 0 && is_known_[row] != 0;
      AddSaturatingTo(bound_.known_ns, counts ? device_.dur_ns[row] : 0);
    }
  }

  const DeviceEvents& device_;
  const Trace& trace_;
  const std::vector<char> is_product_;
  const std::shared_ptr<const AlignedWork> aligned_;
  std::vector<char> is_known_;  // per device row
  TensorCoreBound bound_;
};

}  // namespace

std::vector<char> ProductsOnVectorUnits(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  enum : char { kNo, kYes, kUnknown };
  std::vector<char> of_name(view.trace.strings().size(), kUnknown);
  std::vector<char> is_product(device.size(), kNo);
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (device.kind[row] != DeviceKind::kKernel) {
      continue;
    }
    char& known = of_name[device.name[row].value];
    if (known == kUnknown) {
      const DeviceId id{row};
      known = IsFp32Product(view.trace.Name(id), view.index.ClassOf(view.trace, id)) ? kYes : kNo;
    }
    if (known == kYes && HasTf32(view.trace, view.trace.DeviceOf(DeviceId{row}))) {
      is_product[row] = kYes;
    }
  }
  return is_product;
}

Result<TensorCoreBound> BoundOfTensorCores(const RankView& view, const Params& params) {
  BS_ASSIGN(const OpModelOptions options, ModelOptionsOf(params));
  BS_ASSIGN(const ModelledWork work, ModelWork(view, options));
  BS_ASSIGN(const Roofs roofs, Roofs::Make(view, params));
  return BoundFinder(view).Find(work, roofs);
}

}  // namespace borescope::internal
