#include "borescope/postmortem/memory/areas.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/postmortem/memory/held.h"

namespace borescope::internal::postmortem {

namespace {

bool HasAllTimes(const DeviceMemory& device) {
  return std::all_of(device.events.begin(), device.events.end(),
                     [](const MemoryEvent& event) { return event.time_us != kNoTime; });
}

// In which part of the recording each event lies; ascending along the events.
class RecordingParts {
 public:
  RecordingParts(const DeviceMemory& device, size_t parts)
      : device_(device), parts_(parts), has_times_(HasAllTimes(device)) {
    for (const MemoryEvent& event : device.events) {
      begin_ = std::min(begin_, event.time_us);
      end_ = std::max(end_, event.time_us);
    }
    has_times_ = has_times_ && end_ > begin_;
  }

  // The part by time and the one by number.
  std::pair<size_t, size_t> Of(uint32_t event) {
    const double number = static_cast<double>(event) / static_cast<double>(device_.events.size());
    if (has_times_) {
      const auto span = static_cast<double>(end_) - static_cast<double>(begin_) + 1;
      // Times that go back stay where the events before them are.
      last_ = std::max(last_, PartAt((static_cast<double>(device_.events[event].time_us) -
                                      static_cast<double>(begin_)) /
                                     span));
    }
    return {last_, PartAt(number)};
  }

 private:
  size_t PartAt(double place) const {
    return std::min(static_cast<size_t>(place * static_cast<double>(parts_)), parts_ - 1);
  }

  const DeviceMemory& device_;
  size_t parts_;  // of each kind
  bool has_times_;
  int64_t begin_ = std::numeric_limits<int64_t>::max();
  int64_t end_ = std::numeric_limits<int64_t>::min();
  size_t last_ = 0;  // by time
};

// Runs over the events, and keeps what is wanted of each part.
class AreaSweep {
 public:
  AreaSweep(const DeviceMemory& device, const Replay& replay, const MemoryCategories& categories)
      : device_(device), replay_(replay), categories_(categories), ending_(device, replay) {
    for (size_t i = 0; i < replay.start_blocks.size(); ++i) {
      now_.bytes[static_cast<size_t>(categories.start[i])] += replay.start_blocks[i].size;
    }
    int64_t change = 0;
    for (const MemoryEvent& event : device.events) {
      AddSaturatingTo(change, ReservedBy(event));
    }
    reserved_ = SubtractSaturating(SignedSaturating(replay.end.reserved), change);
  }

  std::vector<MemoryArea> Run(size_t parts_wanted);

 private:
  void Apply(uint32_t i);
  void Keep(const MemoryArea& area) {
    if (areas_.empty() || areas_.back().event != area.event) areas_.push_back(area);
  }
  // Of a part that ended.
  void Flush() {
    if (!has_part_) return;
    Keep(most_);
    Keep(now_);
    has_part_ = false;
  }

  const DeviceMemory& device_;
  const Replay& replay_;
  const MemoryCategories& categories_;
  EndingBlocks ending_;
  MemoryArea now_;
  MemoryArea most_;  // of the part
  bool has_part_ = false;
  int64_t reserved_ = 0;
  std::vector<MemoryArea> areas_;
};

void AreaSweep::Apply(uint32_t i) {
  const MemoryEvent& event = device_.events[i];
  now_.event = i;
  AddSaturatingTo(reserved_, ReservedBy(event));
  now_.reserved = static_cast<uint64_t>(std::max<int64_t>(0, reserved_));
  ending_.Of(i, [&](uint32_t owner) {
    const MemoryCategory category = owner >= Replay::kStartBlock
                                        ? categories_.start[owner - Replay::kStartBlock]
                                        : categories_.events[owner];
    now_.bytes[static_cast<size_t>(category)] -= replay_.BytesOf(owner);
  });
  if (event.action == MemoryAction::kAlloc) {
    now_.bytes[static_cast<size_t>(categories_.events[i])] += replay_.BlockBytes(i);
  }
}

std::vector<MemoryArea> AreaSweep::Run(size_t parts_wanted) {
  RecordingParts parts(device_, parts_wanted);
  const size_t first_failure = replay_.ooms.size() - std::min(replay_.ooms.size(), kMostFailures);
  size_t next_failure = first_failure;
  std::pair<size_t, size_t> part;
  for (const uint32_t i : EachRow(device_.events.size())) {
    if (const std::pair<size_t, size_t> now = parts.Of(i); now != part) {
      Flush();
      part = now;
    }
    Apply(i);
    if (!has_part_ || now_.allocated() > most_.allocated()) most_ = now_;
    has_part_ = true;
    if (next_failure < replay_.ooms.size() && replay_.ooms[next_failure].event == i) {
      Keep(most_);
      MemoryArea failed = now_;
      failed.failed = replay_.ooms[next_failure].size;
      if (!areas_.empty() && areas_.back().event == i) areas_.pop_back();
      areas_.push_back(failed);
      has_part_ = false;  // what follows in the part is looked at again
      ++next_failure;
    }
  }
  Flush();
  return std::move(areas_);
}

}  // namespace

uint64_t MemoryArea::allocated() const {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
}

std::vector<MemoryArea> FindAreas(const DeviceMemory& device, const Replay& replay,
                                  const MemoryCategories& categories, size_t most) {
  if (device.events.empty()) return {};
  return AreaSweep(device, replay, categories).Run(std::max<size_t>(1, most / 4));
}

void AddAreaRows(std::optional<int64_t> rank, const DeviceMemory& device,
                 const std::vector<MemoryArea>& areas, std::vector<MemoryAreaRow>& rows) {
  const bool has_times = HasAllTimes(device);
  for (const MemoryArea& area : areas) {
    const auto bytes = [&](MemoryCategory category) {
      return SignedSaturating(area.bytes[static_cast<size_t>(category)]);
    };
    MemoryAreaRow row;
    row.rank = rank;
    row.device = device.device;
    row.event = area.event;
    if (has_times) row.ts_unix_ns = device.events[area.event].time_us * 1000;
    row.parameter_bytes = bytes(MemoryCategory::kParameter);
    row.gradient_bytes = bytes(MemoryCategory::kGradient);
    row.optimizer_state_bytes = bytes(MemoryCategory::kOptimizerState);
    row.activation_bytes = bytes(MemoryCategory::kActivation);
    row.library_workspace_bytes = bytes(MemoryCategory::kWorkspace);
    row.held_bytes = bytes(MemoryCategory::kHeld);
    row.temporary_bytes = bytes(MemoryCategory::kTemporary);
    row.before_recording_bytes = bytes(MemoryCategory::kBefore);
    row.reserved_bytes = SignedSaturating(area.reserved);
    if (area.failed > 0) row.failed_bytes = SignedSaturating(area.failed);
    rows.push_back(row);
  }
}

}  // namespace borescope::internal::postmortem
