#include "borescope/analysis/measures/program_kind.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/selection/name_flags.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// Parts of the names of kernels that PyTorch or its compiler makes.
constexpr std::string_view kPyTorchParts[] = {
    "at::native", "at::cuda", "c10::", "torch::", "triton_poi_", "triton_red_", "triton_per_"};

bool IsPyTorchKernel(std::string_view name) {
  return std::any_of(
      std::begin(kPyTorchParts), std::end(kPyTorchParts),
      [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace

bool IsOfWholeProcess(const Trace& trace) { return !IsOfPyTorchProfiler(trace.meta().format); }

bool IsOfPyTorchProgram(const Trace& trace) {
  if (IsOfPyTorchProfiler(trace.meta().format) || HasHostKind(trace, HostKind::kOp)) {
    return true;
  }
  const std::vector<char> is_pytorch = FlagNames(trace.strings(), IsPyTorchKernel);
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (device.kind[row] == DeviceKind::kKernel && is_pytorch[device.name[row].value] != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace borescope::internal
