#include "borescope/query/job_data.h"

#include <fmt/format.h>

#include <limits>

#include "borescope/base/stop.h"

namespace borescope::internal::query {
namespace {

constexpr size_t kLongestList = 400;  // letters

// A number for a list of a source; what is asked for of it is in the lowest bits.
uint64_t KeyOf(size_t source, uint32_t list, uint64_t what) {
  constexpr uint64_t kKinds = 4;
  return (uint64_t{source} << 34U) + uint64_t{list} * kKinds + what;
}

// "a, b" of as many as fit.
template <class Items, class Write>
std::string Listed(const Items& items, const Write& write) {
  std::string text;
  for (const auto& item : items) {
    if (text.size() > kLongestList) {
      return text + ", …";
    }
    text += (text.empty() ? "" : ", ") + write(item);
  }
  return text;
}

}  // namespace

JobData::JobData(std::vector<JobSource> sources) : sources_(std::move(sources)) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].dump.has_value()) AddDump(i);
    if (sources_[i].snapshot.has_value()) AddSnapshot(i);
  }
  replays_.resize(devices_);
}

void JobData::AddDump(size_t source) {
  const FlightDump& dump = *sources_[source].dump;
  const DumpPart part{&dump, source};
  entries_.Add(part, dump.entries.size());
  groups_.Add(part, dump.groups.size());
  status_.Add(part, dump.status.size());
}

void JobData::AddSnapshot(size_t source) {
  const postmortem::MemorySnapshot& snapshot = *sources_[source].snapshot;
  for (const postmortem::DeviceMemory& device : snapshot.devices) {
    const DevicePart part{&snapshot, &device, devices_++, snapshot_stacks_,
                          static_cast<uint32_t>(segments_.size())};
    segments_.Add(part, device.segments.size());
    blocks_.Add(part, device.blocks.size());
    events_.Add(part, device.events.size());
    annotations_.Add(part, device.annotations.size());
  }
  snapshots_.push_back(&snapshot);
  snapshot_stacks_ += static_cast<int64_t>(snapshot.stacks.stacks());
}

const std::vector<LogFindingRow>& JobData::logs() const {
  if (!logs_.has_value()) {
    logs_ = read_logs_ == nullptr ? std::vector<LogFindingRow>() : read_logs_();
  }
  return *logs_;
}

const JobData::Replayed& JobData::ReplayOf(const DevicePart& device) const {
  std::unique_ptr<Replayed>& made = replays_[device.number];
  if (made == nullptr) {
    auto replayed = std::make_unique<Replayed>();
    replayed->replay = postmortem::ReplayDevice(*device.snapshot, *device.device);
    replayed->is_possible = replayed->replay.impossible.empty();
    if (replayed->is_possible) {
      replayed->held = postmortem::HeldAfterEach(*device.device, replayed->replay);
    }
    made = std::move(replayed);
  }
  return *made;
}

const JobData::Stacks& JobData::StacksOf() const {
  if (stacks_.has_value()) {
    return *stacks_;
  }
  Stacks stacks;
  size_t rows = 0;
  for (const postmortem::MemorySnapshot* const snapshot : snapshots_) {
    for (uint32_t stack = 0; stack < snapshot->stacks.stacks(); ++stack) {
      CheckStopAt(stack);
      rows += snapshot->stacks.Frames(stack).size();
      stacks.ends.push_back(rows);
    }
  }
  for (size_t source = 0; source < sources_.size(); ++source) {
    if (!sources_[source].dump.has_value()) continue;
    const FlightDump& dump = *sources_[source].dump;
    for (const FlightEntry& entry : dump.entries) {
      if (entry.frames == FlightEntry::kNothing) continue;
      const auto [at, is_new] =
          stacks.numbers.emplace(KeyOf(source, entry.frames, 0),
                                 snapshot_stacks_ + static_cast<int64_t>(stacks.frames.size()));
      if (is_new) {
        CheckStop();
        stacks.frames.push_back(dump.Frames(entry));
        rows += stacks.frames.back().size();
        stacks.ends.push_back(rows);
      }
    }
  }
  stacks_ = std::move(stacks);
  return *stacks_;
}

std::optional<int64_t> JobData::StackOf(const DumpPart& part, const FlightEntry& entry) const {
  const Stacks& stacks = StacksOf();
  const auto found = stacks.numbers.find(KeyOf(part.source, entry.frames, 0));
  return entry.frames == FlightEntry::kNothing || found == stacks.numbers.end()
             ? std::nullopt
             : std::optional(found->second);
}

size_t JobData::frames() const {
  const Stacks& stacks = StacksOf();
  return stacks.ends.empty() ? 0 : stacks.ends.back();
}

JobFrame JobData::FrameAt(uint32_t row) const {
  const Stacks& stacks = StacksOf();
  const auto stack = static_cast<size_t>(
      std::upper_bound(stacks.ends.begin(), stacks.ends.end(), row) - stacks.ends.begin());
  const size_t depth = row - (stack == 0 ? 0 : stacks.ends[stack - 1]);
  JobFrame frame;
  frame.stack = static_cast<int64_t>(stack);
  frame.depth = static_cast<int64_t>(depth);
  if (frame.stack >= snapshot_stacks_) {
    const FlightFrame& found = stacks.frames[stack - static_cast<size_t>(snapshot_stacks_)][depth];
    frame.file = found.file;
    frame.name = found.function;
    frame.line = found.line;
    return frame;
  }
  size_t of_snapshot = stack;
  for (const postmortem::MemorySnapshot* const snapshot : snapshots_) {
    const postmortem::MemoryStacks& all = snapshot->stacks;
    if (of_snapshot < all.stacks()) {
      const postmortem::MemoryFrame& found =
          all.Frame(all.Frames(static_cast<uint32_t>(of_snapshot))[depth]);
      frame.file = all.Text(found.file);
      frame.name = all.Text(found.name);
      frame.line = found.line;
      break;
    }
    of_snapshot -= all.stacks();
  }
  return frame;
}

std::string_view JobData::Text(uint64_t key, const std::function<std::string()>& make) const {
  std::unique_ptr<std::string>& text = texts_[key];
  if (text == nullptr) {
    text = std::make_unique<std::string>(make());
  }
  return *text;
}

std::string_view JobData::SizesText(const DumpPart& part, uint32_t list) const {
  return Text(KeyOf(part.source, list, 1), [&] {
    const PlainStore& store = part.dump->store->values;
    const auto extents = [&](const PlainValue& shape) {
      return "[" +
             Listed(store.Items(shape),
                    [&](const PlainValue& extent) {
                      return std::to_string(store.Int(extent).value_or(0));
                    }) +
             "]";
    };
    return "[" + Listed(store.Items({.kind = PlainKind::kList, .bits = list}), extents) + "]";
  });
}

std::string_view JobData::TypesText(const DumpPart& part, uint32_t list) const {
  return Text(KeyOf(part.source, list, 2), [&] {
    const PlainStore& store = part.dump->store->values;
    return Listed(
        store.Items({.kind = PlainKind::kList, .bits = list}),
        [&](const PlainValue& type) { return std::string(store.Text(type).substr(0, 40)); });
  });
}

std::string_view JobData::RanksText(const DumpPart& part, uint32_t group) const {
  return Text(KeyOf(part.source, group, 3),
              [&] { return RankList(part.dump->groups[group].ranks); });
}

}  // namespace borescope::internal::query
