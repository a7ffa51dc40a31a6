#include "borescope/index/steps/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "borescope/base/stop.h"
#include "borescope/index/steps/step_pieces.h"
#include "borescope/index/steps/step_processes.h"

namespace borescope::internal {
namespace {

// What texts of a recording mean to steps, by their StringId.
enum class NameKind : uint8_t { kNone, kStep, kServerStep };

std::vector<NameKind> KindsOfNames(const Trace& trace, const StepPattern* pattern) {
  std::vector<NameKind> kinds(trace.strings().size(), NameKind::kNone);
  for (uint32_t i = 0; i < kinds.size(); ++i) {
    CheckStopAt(i);
    const std::string_view name = trace.Text(StringId{i});
    if (pattern != nullptr) {
      kinds[i] = pattern->Matches(name) ? NameKind::kStep : NameKind::kNone;
    } else if (StepNumber(name).has_value()) {
      kinds[i] = NameKind::kStep;
    } else if (IsServerStep(name)) {
      kinds[i] = NameKind::kServerStep;
    }
  }
  return kinds;
}

// Rows of training steps. Recordings of 2022 and before have their annotations as plain operators.
std::vector<HostId> FindTraining(const Trace& trace, const std::vector<NameKind>& kinds) {
  const HostEvents& host = trace.host();
  std::vector<HostId> found;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (kinds[host.name[row].value] == NameKind::kStep &&
        (host.kind[row] == HostKind::kAnnotation || host.kind[row] == HostKind::kOp)) {
      found.push_back(HostId{row});
    }
  }
  return found;
}

// Annotations of a kind that are not inside another one of their thread.
std::vector<HostId> FindOutermost(const Trace& trace, const std::vector<NameKind>& kinds,
                                  NameKind kind) {
  const HostEvents& host = trace.host();
  std::vector<HostId> found;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] != HostKind::kAnnotation || kinds[host.name[row].value] != kind) {
      continue;
    }
    const bool is_inside = !found.empty() && host.track[found.back().value] == host.track[row] &&
                           host.ts_ns[row] < host.end_ns(found.back());
    if (!is_inside) {
      found.push_back(HostId{row});
    }
  }
  return found;
}

std::vector<HostId> FindAnnotations(const Trace& trace, const StepPattern* pattern) {
  const std::vector<NameKind> kinds = KindsOfNames(trace, pattern);
  if (pattern != nullptr) {
    return FindOutermost(trace, kinds, NameKind::kStep);
  }
  std::vector<HostId> training = FindTraining(trace, kinds);
  return training.empty() ? FindOutermost(trace, kinds, NameKind::kServerStep) : training;
}

// Sorted by time, with the numbers of their names; 0 if these have none.
std::vector<Step> FindSteps(const Trace& trace, const std::vector<HostId>& annotations,
                            const std::vector<uint32_t>& process_of) {
  const HostEvents& host = trace.host();
  std::vector<Step> steps;
  steps.reserve(annotations.size());
  for (const HostId row : annotations) {
    steps.push_back({StepNumber(trace.Name(row)).value_or(0), host.ts_ns[row.value],
                     host.end_ns(row), row, process_of[host.track[row.value].value]});
  }
  const auto place = [&](const Step& step) {
    const StringId name = host.name[step.annotation.value];
    // Equal numbers may be written differently.
    return std::tuple(step.begin_ns, step.number, step.process,
                      StepNumber(trace.Text(name)).has_value() ? 0 : name.value);
  };
  std::sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
    return std::tuple(place(a), a.annotation) < std::tuple(place(b), b.annotation);
  });
  // Some files have a step twice, as an annotation and as an operator.
  const auto same = [&](const Step& a, const Step& b) { return place(a) == place(b); };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  return steps;
}

// Counts the steps of each process, unless all names have numbers.
void NumberSteps(const Trace& trace, Steps& result) {
  const bool have_numbers = std::all_of(
      result.steps.begin(), result.steps.end(),
      [&](const Step& step) { return StepNumber(trace.Name(step.annotation)).has_value(); });
  std::vector<int64_t> counts(have_numbers ? 0 : result.processes.size());
  for (Step& step : result.steps) {
    step.number = have_numbers ? step.number : counts[step.process]++;
  }
}

void CutByProcess(Steps& result) {
  std::vector<std::vector<uint32_t>> of_process(result.processes.size() + 1);
  for (uint32_t i = 0; i < result.steps.size(); ++i) {
    of_process[result.steps[i].process].push_back(i);
    of_process.back().push_back(i);
  }
  for (const std::vector<uint32_t>& some : of_process) {
    result.pieces.push_back(CutSteps(result.steps, some));
  }
}

ColumnData<uint32_t> StepsOfLaunches(const Trace& trace, const Correlation& correlation,
                                     const Steps& steps) {
  const HostEvents& host = trace.host();
  ColumnData<uint32_t> found(trace.device().size(), kNoStep);
  for (uint32_t row = 0; row < found.size(); ++row) {
    CheckStopAt(row);
    if (const HostId launch = correlation.launch_of[row]; launch.valid()) {
      found[row] = steps.At(host.track[launch.value], host.ts_ns[launch.value]);
    }
  }
  return found;
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

std::string_view FoldStepName(std::string_view name) {
  return StepNumber(name).has_value() ? kAnyStep : name;
}

bool IsServerStep(std::string_view name) {
  return name.starts_with("execute_") || (name.starts_with("step[") && name.ends_with(']'));
}

Steps BuildSteps(const Trace& trace, const Correlation& correlation, const StepPattern* pattern) {
  Steps result;
  const std::vector<HostId> annotations = FindAnnotations(trace, pattern);
  if (annotations.empty()) {
    return result;
  }
  FindProcesses(trace, annotations, result);
  result.steps = FindSteps(trace, annotations, result.process_of);
  NumberSteps(trace, result);
  CutByProcess(result);
  FindProcessesOfDevices(trace, correlation, result);
  result.device_step = StepsOfLaunches(trace, correlation, result);
  return result;
}

Result<Steps> MatchSteps(const Trace& trace, const Correlation& correlation,
                         std::string_view pattern) {
  BS_ASSIGN(const StepPattern expression, StepPattern::Parse(pattern));
  Steps steps = BuildSteps(trace, correlation, &expression);
  if (steps.steps.empty()) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("`step_pattern`: no host annotation matches '{}'", pattern),
                 "borescope annotations lists those there are", trace.meta().file};
  }
  return steps;
}

}  // namespace borescope::internal
