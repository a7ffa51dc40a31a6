#include "borescope/analysis/core/selection/selection_members.h"

#include <fmt/format.h>

#include <string_view>

#include "borescope/analysis/core/selection/device_steps.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

void EraseInstances(const RankView& view, std::string_view annotation,
                    std::set<int64_t>& instances) {
  if (!instances.empty()) {
    const auto count = static_cast<int64_t>(CountInstances(view.trace, annotation));
    instances.erase(instances.begin(), instances.lower_bound(count));
  }
}

void KeepCommon(std::set<int64_t>& numbers, const std::set<int64_t>& other) {
  std::erase_if(numbers, [&](int64_t number) { return !other.contains(number); });
}

void AppendNames(std::string_view what, const std::set<int64_t>& numbers,
                 std::vector<std::string>& names) {
  for (const int64_t number : numbers) {
    names.push_back(fmt::format("{} {}", what, number));
  }
}

}  // namespace

std::set<int64_t> SinglesOf(const NumberRanges& numbers) {
  std::set<int64_t> singles;
  for (const auto& [first, last] : numbers.ranges) {
    if (first == last) {
      singles.insert(first);
    }
  }
  return singles;
}

SelectionMembers FindUnknown(const RankView& view, const Selection& selection) {
  SelectionMembers unknown{SinglesOf(selection.steps), SinglesOf(selection.gpus),
                           SinglesOf(selection.streams), SinglesOf(selection.instances)};
  for (const Step& step : view.steps().steps) {
    unknown.steps.erase(step.number);
  }
  const Tracks& tracks = view.trace.tracks();
  const bool asks_tracks = !unknown.gpus.empty() || !unknown.streams.empty();
  for (uint32_t track = 0; asks_tracks && track < tracks.size(); ++track) {
    if (HasDeviceWork(view.trace, track)) {
      unknown.gpus.erase(tracks.pid[track]);
      unknown.streams.erase(tracks.tid[track]);
    }
  }
  const MemoryEvents& memory = view.trace.memory();
  for (size_t row = 0; row < memory.size() && !unknown.gpus.empty(); ++row) {
    if (memory.device_type[row] > 0) {  // not the CPU; the verb memory selects by these
      unknown.gpus.erase(memory.device[row]);
    }
  }
  EraseInstances(view, selection.annotation, unknown.instances);
  return unknown;
}

std::set<int64_t> FindStepsWithoutWork(const RankView& view, const Selection& selection) {
  std::set<int64_t> without;
  if (selection.steps.empty() || selection.step_rule != StepRule::kLaunch) {
    return without;
  }
  const std::vector<Step>& steps = view.steps().steps;
  for (const Step& step : steps) {
    if (selection.steps.Contains(step.number)) {
      without.insert(step.number);
    }
  }
  const DeviceEvents& device = view.trace.device();
  bool has_work = false;
  for (uint32_t row = 0; row < device.size() && !without.empty(); ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(device.kind[row])) {
      has_work = true;
      const uint32_t step = StepOf(view, DeviceId{row}, StepRule::kLaunch);
      without.erase(step == kNoStep ? kMissing : steps[step].number);
    }
  }
  return has_work ? without : std::set<int64_t>();
}

void Intersect(SelectionMembers& unknown, const SelectionMembers& other) {
  KeepCommon(unknown.steps, other.steps);
  KeepCommon(unknown.gpus, other.gpus);
  KeepCommon(unknown.streams, other.streams);
  KeepCommon(unknown.instances, other.instances);
}

std::vector<std::string> NamesOf(const SelectionMembers& members) {
  std::vector<std::string> names;
  AppendNames("step", members.steps, names);
  AppendNames("gpu", members.gpus, names);
  AppendNames("stream", members.streams, names);
  AppendNames("instance", members.instances, names);
  return names;
}

}  // namespace borescope::internal
