#include "borescope/index/steps.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace borescope {
namespace {

std::vector<Step> FindSteps(const Trace& trace) {
  const HostEvents& host = trace.host();
  std::vector<Step> steps;
  for (uint32_t row = 0; row < host.size(); ++row) {
    // Recordings of 2022 and before hold step annotations as plain operators.
    if (host.kind[row] != HostKind::kAnnotation && host.kind[row] != HostKind::kOp) {
      continue;
    }
    if (const std::optional<int64_t> number = StepNumber(trace.Name(HostId{row}))) {
      steps.push_back({*number, host.ts_ns[row], host.end_ns(HostId{row}), HostId{row}});
    }
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tuple(a.begin_ns, a.number, a.annotation) <
           std::tuple(b.begin_ns, b.number, b.annotation);
  });
  // Some files hold a step twice, as an annotation and as an operator.
  const auto same = [](const Step& a, const Step& b) {
    return a.begin_ns == b.begin_ns && a.number == b.number;
  };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  int64_t latest_end_ns = std::numeric_limits<int64_t>::min();
  for (Step& step : steps) {
    latest_end_ns = std::max(latest_end_ns, step.end_ns);
    step.latest_end_ns = latest_end_ns;
  }
  return steps;
}

}  // namespace

std::optional<int64_t> StepNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size() || name.size() > 32) {
    return std::nullopt;
  }
  int64_t number = 0;
  for (const char c : name.substr(kPrefix.size())) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = std::min<int64_t>(number * 10 + (c - '0'), int64_t{1} << 53);
  }
  return number;
}

uint32_t Steps::At(int64_t ts_ns) const {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), ts_ns,
                       [](int64_t ts, const Step& step) { return ts < step.begin_ns; });
  for (auto step = after; step != steps.begin();) {
    --step;
    if (ts_ns < step->end_ns) {
      return static_cast<uint32_t>(step - steps.begin());
    }
    if (ts_ns >= step->latest_end_ns) {
      break;
    }
  }
  return kNoStep;
}

Steps BuildSteps(const Trace& trace, const Correlation& correlation) {
  Steps result;
  result.steps = FindSteps(trace);
  if (result.steps.empty()) {
    return result;
  }
  const DeviceEvents& device = trace.device();
  result.device_step.resize(device.size());
  for (uint32_t row = 0; row < device.size(); ++row) {
    const HostId launch = correlation.launch_of[row];
    result.device_step[row] =
        result.At(launch.valid() ? trace.host().ts_ns[launch.value] : device.ts_ns[row]);
  }
  return result;
}

}  // namespace borescope
