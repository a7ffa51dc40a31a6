#include <limits>

#include "borescope/analysis/inductor.h"
#include "borescope/analysis/param_specs.h"
#include "borescope/base/intervals.h"

namespace borescope {

TritonSources::TritonSources(const RankView& view)
    : view_(view), launch_of_name_(view.trace.strings().size(), kNoDetail) {
  std::vector<char> is_ambiguous(launch_of_name_.size());
  const HostEvents& host = view.trace.host();
  const TritonLaunches& launches = view.trace.triton();
  for (uint32_t row = 0; row < host.size(); ++row) {
    const uint32_t launch = DetailOf(HostId{row});
    if (launch == kNoDetail) {
      continue;
    }
    uint32_t& known = launch_of_name_[host.name[row].value];
    if (known == kNoDetail) {
      known = launch;
    } else if (launches.kernel_file[known] != launches.kernel_file[launch]) {
      is_ambiguous[host.name[row].value] = 1;
    }
  }
  for (size_t name = 0; name < launch_of_name_.size(); ++name) {
    if (is_ambiguous[name] != 0) {
      launch_of_name_[name] = kNoDetail;
    }
  }
}

uint32_t TritonSources::DetailOf(HostId op) const {
  const HostEvents& host = view_.trace.host();
  const uint32_t detail = host.detail[op.value];
  return host.kind[op.value] == HostKind::kOp && detail != kNoDetail
             ? view_.trace.ops().triton[detail]
             : kNoDetail;
}

uint32_t TritonSources::LaunchOf(DeviceId id) const {
  if (view_.trace.device().kind[id.value] != DeviceKind::kKernel) {
    return kNoDetail;
  }
  const HostId op = view_.index.correlation.op_of[id.value];
  const uint32_t launch = op.valid() ? DetailOf(op) : kNoDetail;
  return launch != kNoDetail ? launch : launch_of_name_[view_.trace.device().name[id.value].value];
}

StringId TritonSources::FileOf(DeviceId id) const {
  const uint32_t launch = LaunchOf(id);
  return launch == kNoDetail ? StringId{0} : view_.trace.triton().kernel_file[launch];
}

int64_t TritonSources::BytesOf(DeviceId id) const {
  const uint32_t launch = LaunchOf(id);
  return launch == kNoDetail ? kMissing : view_.trace.triton().bytes[launch];
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

int64_t InductorWallNs(const Selected& selected, const Params& params) {
  const int64_t wall_ns = params.Number(kWallParam);
  if (wall_ns == 0) {
    return Coverage(selected.windows());
  }
  int64_t all_ns = 0;
  const bool is_too_long = __builtin_mul_overflow(wall_ns, params.Number(kRunsParam), &all_ns);
  return is_too_long ? std::numeric_limits<int64_t>::max() : all_ns;
}

}  // namespace borescope
