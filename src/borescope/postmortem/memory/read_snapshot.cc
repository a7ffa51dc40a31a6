#include "borescope/postmortem/memory/read_snapshot.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/pickle/plain_reader.h"
#include "borescope/ingest/pickle/plain_values.h"

namespace borescope::internal::postmortem {

namespace {

// The keys of the dictionaries that become rows, by their numbers in the store.
enum Key : uint32_t {
  kAction,
  kAddr,
  kDeviceFree,
  kSize,
  kStream,
  kTimeUs,
  kFrames,
  kPoolId,
  kState,
  kAddress,
  kRequestedSize,
  kHistory,
  kTotalSize,
  kBlocks,
  kDevice,
  kAllocatedSize,
  kSegmentType,
  kSegmentPoolId,
  kIsExpandable,
  kKeys,
};
constexpr std::string_view kKeyNames[] = {
    "action",         "addr",         "device_free",     "size",         "stream",
    "time_us",        "frames",       "pool_id",         "state",        "address",
    "requested_size", "history",      "total_size",      "blocks",       "device",
    "allocated_size", "segment_type", "segment_pool_id", "is_expandable"};
static_assert(std::size(kKeyNames) == kKeys);

// What dictionaries and lists are folded into.
enum Shape : uint8_t { kEvent, kBlock, kSegment, kEvents, kBlockList, kSegments };

// Rows from `begin` to `end`.
struct Rows {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool is_taken = false;  // a pickle can name one list many times
};
constexpr int64_t kMostDevices = 1024;

class SnapshotFolder : public PlainFolder {
 public:
  explicit SnapshotFolder(PlainStore& store) : store_(store) {
    for (const std::string_view name : kKeyNames) {
      store_.Intern(name);
    }
    lanes_.emplace_back();
  }

  std::optional<PlainValue> FoldDict(std::span<const PlainValue> members) override {
    const Fields fields(members);
    if (fields.has(kAction)) return FoldEvent(fields);
    if (fields.has(kTotalSize) && fields.has(kBlocks)) return FoldSegment(fields);
    if (fields.has(kSize) && fields.has(kState)) return FoldBlock(fields);
    return std::nullopt;
  }

  std::optional<PlainValue> FoldList(std::optional<PlainValue> before,
                                     std::span<const PlainValue> elements) override {
    if (before.has_value()) {
      if (before->kind != PlainKind::kFolded || before->bits >= lists_.size()) return before;
      Extend(lists_[before->bits], before->shape, elements);
      return before;
    }
    if (elements.empty() || elements[0].kind != PlainKind::kFolded ||
        elements[0].shape > kSegment) {
      return std::nullopt;
    }
    const uint8_t row = elements[0].shape;
    const auto shape = static_cast<uint8_t>(row + kEvents);
    lists_.push_back({.begin = elements[0].bits, .end = elements[0].bits});
    Extend(lists_.back(), shape, elements);
    return PlainFolded(shape, lists_.size() - 1);
  }

  // Moves what was read into a snapshot.
  Result<MemorySnapshot> Finish(PlainValue root);

  uint64_t bad_fields() const { return bad_fields_; }

 private:
  // The values of the known keys of a dictionary.
  struct Fields {
    explicit Fields(std::span<const PlainValue> members) {
      for (size_t i = 0; i + 1 < members.size(); i += 2) {
        if (!members[i].IsText() || members[i].bits >= kKeys) continue;
        values[members[i].bits] = members[i + 1];
        set |= 1U << members[i].bits;
      }
    }
    bool has(Key key) const { return (set >> key & 1U) != 0; }
    PlainValue operator[](Key key) const { return has(key) ? values[key] : PlainValue(); }
    PlainValue values[kKeys];
    uint32_t set = 0;
  };

  // Lists hold rows that were made one after the other; anything else in them is counted.
  void Extend(Rows& rows, uint8_t shape, std::span<const PlainValue> elements) {
    for (const PlainValue& element : elements) {
      if (element.IsFolded(static_cast<uint8_t>(shape - kEvents)) && element.bits == rows.end) {
        ++rows.end;
      } else {
        ++bad_fields_;
      }
    }
  }

  uint64_t Unsigned(PlainValue value) {
    const std::optional<uint64_t> number = store_.Address(value);
    if (!number.has_value()) ++bad_fields_;
    return number.value_or(0);
  }

  uint32_t StackOf(PlainValue frames) {
    if (!frames.IsContainer()) return 0;
    const auto [found, is_new] =
        stack_ids_.try_emplace(frames.bits, static_cast<uint32_t>(stacks_.size() + 1));
    if (is_new) stacks_.push_back(frames);
    return found->second;
  }

  uint16_t LaneOf(PlainValue stream, PlainValue pool) {
    if (stream == last_stream_ && pool == last_pool_) return last_lane_;
    MemoryLane lane;
    lane.stream = stream.kind == PlainKind::kNone ? 0 : Unsigned(stream);
    const std::span<const PlainValue> ids = store_.Items(pool);
    if (ids.size() == 2) {
      lane.pool_first = store_.Int(ids[0]).value_or(0);
      lane.pool_second = store_.Int(ids[1]).value_or(0);
    }
    last_stream_ = stream;
    last_pool_ = pool;
    last_lane_ = AddLane(lane);
    return last_lane_;
  }
  uint16_t AddLane(const MemoryLane& lane) {
    const auto found = std::find(lanes_.begin(), lanes_.end(), lane);
    if (found != lanes_.end()) return static_cast<uint16_t>(found - lanes_.begin());
    constexpr size_t kMost = std::numeric_limits<uint16_t>::max();
    if (lanes_.size() >= kMost) return kMost - 1;
    lanes_.push_back(lane);
    return static_cast<uint16_t>(lanes_.size() - 1);
  }

  std::optional<PlainValue> FoldEvent(const Fields& fields) {
    MemoryEvent event;
    event.action = ActionOf(fields[kAction]);
    const bool is_oom = event.action == MemoryAction::kOom;
    const PlainValue address =
        is_oom && fields.has(kDeviceFree) ? fields[kDeviceFree] : fields[kAddr];
    event.address = Unsigned(address);
    event.size = Unsigned(fields[kSize]);
    event.lane = LaneOf(fields[kStream], fields[kPoolId]);
    event.stack = StackOf(fields[kFrames]);
    constexpr int64_t kLatestUs = int64_t{1} << 52;
    if (const auto time = store_.Int(fields[kTimeUs]); time >= 0 && time <= kLatestUs) {
      event.time_us = *time;
    } else if (fields[kTimeUs].kind != PlainKind::kNone) {
      ++bad_fields_;
    }
    events_.push_back(event);
    return PlainFolded(kEvent, events_.size() - 1);
  }

  MemoryAction ActionOf(PlainValue action) {
    if (!action.IsText()) return MemoryAction::kOther;
    const auto [found, is_new] = actions_.try_emplace(action.bits, MemoryAction::kOther);
    if (is_new) found->second = FindMemoryAction(store_.Text(action));
    return found->second;
  }

  std::optional<PlainValue> FoldBlock(const Fields& fields) {
    MemoryBlock block;
    block.size = Unsigned(fields[kSize]);
    block.address = fields.has(kAddress) ? Unsigned(fields[kAddress]) : 0;
    const std::string_view state = store_.Text(fields[kState]);
    block.state = state == "active_allocated" ? MemoryBlockState::kAllocated
                  : state == "inactive"       ? MemoryBlockState::kFree
                                              : MemoryBlockState::kPending;
    block.requested = fields.has(kRequestedSize) ? Unsigned(fields[kRequestedSize]) : 0;
    PlainValue frames = fields[kFrames];
    // The oldest format: what the block was used for, newest first.
    if (const std::span<const PlainValue> history = store_.Items(fields[kHistory]);
        !history.empty()) {
      const PlainValue newest = history[0];
      frames = store_.Find(newest, "frames");
      block.requested = store_.Address(store_.Find(newest, "real_size")).value_or(0);
    }
    block.stack = block.state == MemoryBlockState::kFree ? 0 : StackOf(frames);
    blocks_.push_back(block);
    return PlainFolded(kBlock, blocks_.size() - 1);
  }

  std::optional<PlainValue> FoldSegment(const Fields& fields) {
    MemorySegment segment;
    segment.address = Unsigned(fields[kAddress]);
    segment.size = Unsigned(fields[kTotalSize]);
    segment.allocated = fields.has(kAllocatedSize) ? Unsigned(fields[kAllocatedSize]) : 0;
    segment.lane = LaneOf(fields[kStream], fields[kSegmentPoolId]);
    segment.is_small = store_.Text(fields[kSegmentType]) == "small";
    segment.is_expandable = store_.Int(fields[kIsExpandable]).value_or(0) != 0;
    segment.stack = StackOf(fields[kFrames]);
    if (const PlainValue list = fields[kBlocks]; list.IsFolded(kBlockList) &&
                                                 list.bits < lists_.size() &&
                                                 !std::exchange(lists_[list.bits].is_taken, true)) {
      segment.first_block = static_cast<uint32_t>(lists_[list.bits].begin);
      segment.blocks = static_cast<uint32_t>(lists_[list.bits].end - lists_[list.bits].begin);
    }
    segments_.push_back({store_.Int(fields[kDevice]).value_or(0), segment});
    return PlainFolded(kSegment, segments_.size() - 1);
  }

  void AddStacks(MemorySnapshot& snapshot);
  void AddSegments(PlainValue list, MemorySnapshot& snapshot);
  void AddEvents(PlainValue traces, MemorySnapshot& snapshot);
  void AddAnnotations(PlainValue list, MemorySnapshot& snapshot);
  void ReadSettings(PlainValue settings, MemorySnapshot& snapshot);

  PlainStore& store_;
  ColumnData<MemoryEvent> events_;
  std::vector<MemoryBlock> blocks_;
  std::vector<std::pair<int64_t, MemorySegment>> segments_;  // with their devices
  std::vector<Rows> lists_;
  std::vector<MemoryLane> lanes_;
  std::vector<PlainValue> stacks_;  // stack i + 1
  HashMap<uint64_t, uint32_t> stack_ids_;
  HashMap<uint64_t, MemoryAction> actions_;
  PlainValue last_stream_ = {.kind = PlainKind::kOpen};
  PlainValue last_pool_;
  uint16_t last_lane_ = 0;
  uint64_t bad_fields_ = 0;
};

// Whether a frame is of Python: those of C++ name a library's source, or nothing.
bool IsPython(std::string_view file) { return file.ends_with(".py") || file.starts_with('<'); }

// The frames of all stacks, and the numbers of stacks in rows as the snapshot has them.
void SnapshotFolder::AddStacks(MemorySnapshot& snapshot) {
  std::vector<uint32_t> numbers = {0};
  HashMap<uint64_t, uint32_t> frame_ids;
  std::vector<uint32_t> frames;
  bool has_python = false;
  bool has_native = false;
  for (const PlainValue& stack : stacks_) {
    frames.clear();
    for (const PlainValue& frame : store_.Items(stack)) {
      const auto [found, is_new] = frame_ids.try_emplace(frame.bits, 0);
      if (is_new) {
        const std::string_view file = store_.Text(store_.Find(frame, "filename"));
        has_python = has_python || IsPython(file);
        has_native = has_native || !IsPython(file);
        // A line that is not known is written as 2^64 - 1.
        const std::optional<int64_t> line = store_.Int(store_.Find(frame, "line"));
        found->second = snapshot.stacks.AddFrame(file, store_.Text(store_.Find(frame, "name")),
                                                 std::max<int64_t>(line.value_or(0), 0));
      }
      frames.push_back(found->second);
    }
    numbers.push_back(snapshot.stacks.AddStack(frames));
  }
  snapshot.is_python_only = has_python && !has_native;
  for (MemoryEvent& event : events_) {
    event.stack = numbers[event.stack];
  }
  for (MemoryBlock& block : blocks_) {
    block.stack = numbers[block.stack];
  }
  for (auto& [device, segment] : segments_) {
    segment.stack = numbers[segment.stack];
  }
}

void SnapshotFolder::AddSegments(PlainValue list, MemorySnapshot& snapshot) {
  Rows rows;
  if (list.IsFolded(kSegments) && list.bits < lists_.size()) rows = lists_[list.bits];
  for (uint64_t i = rows.begin; i < rows.end; ++i) {
    const auto& [number, read] = segments_[i];
    if (number < 0 || number >= kMostDevices) {
      ++bad_fields_;
      continue;
    }
    DeviceMemory& device = snapshot.Device(number);
    MemorySegment segment = read;
    segment.first_block = static_cast<uint32_t>(device.blocks.size());
    device.blocks.insert(device.blocks.end(), blocks_.begin() + read.first_block,
                         blocks_.begin() + read.first_block + read.blocks);
    device.segments.push_back(segment);
  }
}

void SnapshotFolder::AddEvents(PlainValue traces, MemorySnapshot& snapshot) {
  const std::vector<PlainValue> lists(store_.Items(traces).begin(), store_.Items(traces).end());
  for (size_t number = 0; number < std::min<size_t>(lists.size(), kMostDevices); ++number) {
    if (!lists[number].IsFolded(kEvents) || lists[number].bits >= lists_.size()) continue;
    Rows& rows = lists_[lists[number].bits];
    if (std::exchange(rows.is_taken, true)) {  // another device's list once more
      ++bad_fields_;
      continue;
    }
    DeviceMemory& device = snapshot.Device(static_cast<int64_t>(number));
    for (uint64_t i = rows.begin; i < rows.end; ++i) {
      snapshot.events_ignored += events_[i].action == MemoryAction::kOther ? 1 : 0;
    }
    if (rows.begin == 0 && rows.end == events_.size()) {
      device.events = std::move(events_);
      events_.clear();
      continue;
    }
    if (rows.begin == rows.end) continue;
    device.events.assign(events_.begin() + rows.begin, events_.begin() + rows.end);
  }
}

void SnapshotFolder::AddAnnotations(PlainValue list, MemorySnapshot& snapshot) {
  for (const PlainValue& item : store_.Items(list)) {
    const std::optional<int64_t> time = store_.Int(store_.Find(item, "time_us"));
    const int64_t number = store_.Int(store_.Find(item, "device")).value_or(0);
    const auto device = std::find_if(snapshot.devices.begin(), snapshot.devices.end(),
                                     [&](const DeviceMemory& one) { return one.device == number; });
    if (!time.has_value() || device == snapshot.devices.end()) continue;
    device->annotations.push_back({*time,
                                   snapshot.stacks.Intern(store_.Text(store_.Find(item, "name"))),
                                   store_.Text(store_.Find(item, "stage")) == "START"});
  }
}

void SnapshotFolder::ReadSettings(PlainValue settings, MemorySnapshot& snapshot) {
  AllocatorSettings& to = snapshot.settings;
  const std::string_view text = store_.Text(store_.Find(settings, "PYTORCH_CUDA_ALLOC_CONF"));
  snapshot.settings_text = text;
  ReadSettingsText(text, to);
  to.expandable = store_.Int(store_.Find(settings, "expandable_segments")).value_or(0) != 0;
  const int64_t max_split = store_.Int(store_.Find(settings, "max_split_size")).value_or(-1);
  if (max_split > 0) to.max_split = static_cast<uint64_t>(max_split);
  const double threshold =
      store_.Number(store_.Find(settings, "garbage_collection_threshold")).value_or(0);
  if (threshold > 0 && threshold <= 1) to.gc_threshold = threshold;
  const PlainValue divisions = store_.Find(settings, "roundup_power2_divisions");
  for (size_t i = 0; i < to.divisions.size(); ++i) {
    const int64_t count =
        store_.Int(store_.Find(divisions, std::to_string(uint64_t{1} << i))).value_or(0);
    if (count > 0 && count <= 1024) to.divisions[i] = static_cast<uint64_t>(count);
  }
}

Result<MemorySnapshot> SnapshotFolder::Finish(PlainValue root) {
  const PlainValue segments = store_.Find(root, "segments");
  const PlainValue traces = store_.Find(root, "device_traces");
  if (segments.kind == PlainKind::kNone && traces.kind == PlainKind::kNone) {
    return Error{.code = ErrorCode::kUnsupportedFormat,
                 .cause = "it has neither segments nor device_traces",
                 .remedy = "write it with torch.cuda.memory._dump_snapshot()"};
  }
  MemorySnapshot snapshot;
  snapshot.lanes = lanes_;
  AddStacks(snapshot);
  AddSegments(segments, snapshot);
  AddEvents(traces, snapshot);
  AddAnnotations(store_.Find(root, "external_annotations"), snapshot);
  ReadSettings(store_.Find(root, "allocator_settings"), snapshot);
  postmortem::Finish(snapshot);
  return snapshot;
}

}  // namespace

Result<SnapshotFile> ReadSnapshot(ByteSource& source) {
  SnapshotFile file;
  PlainStore store;
  SnapshotFolder folder(store);
  BS_ASSIGN(const PlainRead read, ReadPlain(source, store, folder));
  BS_ASSIGN(file.snapshot, folder.Finish(read.root));
  file.is_cut = read.is_cut;
  file.bad_fields = folder.bad_fields();
  file.bytes = read.bytes;
  return file;
}

}  // namespace borescope::internal::postmortem
