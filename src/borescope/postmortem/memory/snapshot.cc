#include "borescope/postmortem/memory/snapshot.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace borescope::internal::postmortem {

namespace {

constexpr std::pair<std::string_view, MemoryAction> kActions[] = {
    {"alloc", MemoryAction::kAlloc},
    {"free_requested", MemoryAction::kFreeRequested},
    {"free_completed", MemoryAction::kFreeCompleted},
    {"segment_alloc", MemoryAction::kSegmentAlloc},
    {"segment_free", MemoryAction::kSegmentFree},
    {"segment_map", MemoryAction::kSegmentMap},
    {"segment_unmap", MemoryAction::kSegmentUnmap},
    {"snapshot", MemoryAction::kSnapshot},
    {"oom", MemoryAction::kOom},
};

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

// Gives the blocks of a segment addresses where the format has none, and says whether they tile it.
bool TileSegment(const MemorySegment& segment, std::span<MemoryBlock> blocks) {
  uint64_t at = segment.address;
  bool fits = true;
  for (MemoryBlock& block : blocks) {
    if (block.address == 0) block.address = at;
    fits = fits && block.address == at && block.size <= segment.address + segment.size - at;
    at += block.size;
  }
  return fits && at == segment.address + segment.size;
}

}  // namespace

MemoryStacks::MemoryStacks() { AddStack({}); }

uint32_t MemoryStacks::AddFrame(std::string_view file, std::string_view name, int64_t line) {
  return AddFrame(texts_.Intern(file), texts_.Intern(name), line);
}

uint32_t MemoryStacks::AddFrame(StringId file, StringId name, int64_t line) {
  const MemoryFrame frame{file, name, line};
  const uint64_t hash = Mix(Mix(file.value, name.value), static_cast<uint64_t>(line));
  std::vector<uint32_t>& same = frame_ids_[hash];
  for (const uint32_t id : same) {
    if (frames_[id] == frame) return id;
  }
  const auto id = static_cast<uint32_t>(frames_.size());
  frames_.push_back(frame);
  same.push_back(id);
  return id;
}

uint32_t MemoryStacks::AddStack(std::span<const uint32_t> frames) {
  uint64_t hash = frames.size();
  for (const uint32_t frame : frames) {
    hash = Mix(hash, frame);
  }
  std::vector<uint32_t>& same = stack_ids_[hash];
  for (const uint32_t id : same) {
    const std::span<const uint32_t> known = Frames(id);
    if (std::equal(known.begin(), known.end(), frames.begin(), frames.end())) return id;
  }
  const auto id = static_cast<uint32_t>(stacks());
  stack_frames_.insert(stack_frames_.end(), frames.begin(), frames.end());
  begins_.push_back(stack_frames_.size());
  same.push_back(id);
  return id;
}

MemoryAction FindMemoryAction(std::string_view name) {
  for (const auto& [known, action] : kActions) {
    if (known == name) return action;
  }
  return MemoryAction::kOther;
}

std::string_view Name(MemoryAction action) {
  for (const auto& [name, known] : kActions) {
    if (known == action) return name;
  }
  return "other";
}

uint16_t MemorySnapshot::AddLane(const MemoryLane& lane) {
  const auto found = std::find(lanes.begin(), lanes.end(), lane);
  if (found != lanes.end()) return static_cast<uint16_t>(found - lanes.begin());
  // More streams than a program can have: the last lane is that of all that follow.
  constexpr size_t kMost = std::numeric_limits<uint16_t>::max();
  if (lanes.size() >= kMost) return kMost - 1;
  lanes.push_back(lane);
  return static_cast<uint16_t>(lanes.size() - 1);
}

DeviceMemory& MemorySnapshot::Device(int64_t number) {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceMemory& device) {
    return device.device == number;
  });
  if (found != devices.end()) return *found;
  DeviceMemory& made = devices.emplace_back();
  made.device = number;
  return made;
}

void Finish(MemorySnapshot& snapshot) {
  std::erase_if(snapshot.devices, [](const DeviceMemory& device) {
    return device.segments.empty() && device.events.empty();
  });
  std::sort(snapshot.devices.begin(), snapshot.devices.end(),
            [](const DeviceMemory& a, const DeviceMemory& b) { return a.device < b.device; });
  for (DeviceMemory& device : snapshot.devices) {
    for (const MemorySegment& segment : device.segments) {
      const std::span blocks =
          std::span(device.blocks).subspan(segment.first_block, segment.blocks);
      if (!TileSegment(segment, blocks)) ++device.inconsistent;
    }
    std::stable_sort(
        device.segments.begin(), device.segments.end(),
        [](const MemorySegment& a, const MemorySegment& b) { return a.address < b.address; });
    std::stable_sort(
        device.annotations.begin(), device.annotations.end(),
        [](const MemoryAnnotation& a, const MemoryAnnotation& b) { return a.time_us < b.time_us; });
    for (size_t i = 1; i < device.segments.size(); ++i) {
      const MemorySegment& before = device.segments[i - 1];
      if (before.size > device.segments[i].address - before.address) ++device.inconsistent;
    }
    snapshot.has_times =
        snapshot.has_times ||
        std::any_of(device.events.begin(), device.events.end(),
                    [](const MemoryEvent& event) { return event.time_us != kNoTime; });
  }
}

void ReadSettingsText(std::string_view text, AllocatorSettings& settings) {
  const auto mebibytes = [&](std::string_view key, uint64_t& bytes) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos) return;
    uint64_t value = 0;
    const std::string_view rest = text.substr(at + key.size());
    if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec == std::errc() &&
        value > 0 && value < (uint64_t{1} << 30)) {
      bytes = value * kMiB;
    }
  };
  mebibytes("large_segment_size_mb:", settings.large_segment);
  mebibytes("max_non_split_rounding_mb:", settings.max_non_split_rounding);
}

}  // namespace borescope::internal::postmortem
