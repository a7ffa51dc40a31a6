#include <limits>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/intervals.h"
#include "borescope/base/stop.h"
#include "borescope/packs/inductor/inductor.h"

namespace borescope::internal {

TritonSources::TritonSources(const RankView& view)
    : view_(view), of_name_(view.trace.strings().size()) {
  const HostEvents& host = view.trace.host();
  for (uint32_t row = 0; row < host.all_size(); ++row) {
    CheckStopAt(row);
    const uint32_t launch = DetailOf(HostId{row});
    if (launch != kNoDetail) {
      Learn(host.name[row], launch);
    }
  }
}

void TritonSources::Learn(StringId name, uint32_t launch) {
  const TritonLaunches& launches = view_.trace.triton();
  Common& common = of_name_[name.value];
  if (!common.is_known) {
    common = {launch, launches.bytes[launch], true};
    return;
  }
  if (common.launch != kNoDetail &&
      launches.kernel_file[common.launch] != launches.kernel_file[launch]) {
    common.launch = kNoDetail;
  }
  if (common.bytes != launches.bytes[launch]) {
    common.bytes = kMissing;
  }
}

uint32_t TritonSources::DetailOf(HostId op) const {
  const HostEvents& host = view_.trace.host();
  const uint32_t detail = host.detail[op.value];
  return host.kind[op.value] == HostKind::kOp && detail != kNoDetail
             ? uint32_t{view_.trace.ops().triton[detail]}
             : kNoDetail;
}

uint32_t TritonSources::LaunchOf(DeviceId id) const {
  if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) {
    return kNoDetail;
  }
  const HostId op = view_.index.correlation.op_of[id.value];
  const uint32_t launch = op.valid() ? DetailOf(op) : kNoDetail;
  return launch != kNoDetail ? launch : of_name_[view_.trace.device().name[id.value].value].launch;
}

StringId TritonSources::FileOf(DeviceId id) const {
  const uint32_t launch = LaunchOf(id);
  return launch == kNoDetail ? StringId{0} : view_.trace.triton().kernel_file[launch];
}

// An operator may launch others beside its kernel, whose name begins with the operator's.
int64_t TritonSources::BytesOf(DeviceId id) const {
  if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) {
    return kMissing;
  }
  const HostId op = view_.index.correlation.op_of[id.value];
  const uint32_t launch = op.valid() ? DetailOf(op) : kNoDetail;
  if (launch == kNoDetail) {
    return of_name_[view_.trace.device().name[id.value].value].bytes;
  }
  const bool is_its_kernel = view_.trace.Name(id).starts_with(view_.trace.Name(op));
  return is_its_kernel ? view_.trace.triton().bytes[launch] : kMissing;
}

InductorCategory TritonSources::CategoryOf(DeviceId id) const {
  if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) {
    return InductorCategory::kCopy;
  }
  const uint32_t launch = LaunchOf(id);
  const bool by_triton =
      launch != kNoDetail && view_.trace.Text(view_.trace.triton().backend[launch]) == "triton";
  return InductorCategoryOf(view_.trace.Name(id), view_.index.ClassOf(view_.trace, id), by_triton);
}

int64_t InductorWallNs(const IntervalSet& selected, const Params& params) {
  const int64_t wall_ns = params.Number(kWallParam);
  if (wall_ns == 0) {
    return Coverage(selected);
  }
  int64_t all_ns = 0;
  const bool is_too_long = __builtin_mul_overflow(wall_ns, params.Number(kRunsParam), &all_ns);
  return is_too_long ? std::numeric_limits<int64_t>::max() : all_ns;
}

}  // namespace borescope::internal
