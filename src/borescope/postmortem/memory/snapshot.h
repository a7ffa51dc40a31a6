// A memory snapshot of PyTorch (torch.cuda.memory._snapshot) as plain values: the segments that the
// caching allocator had at the end with their blocks, the events of each device that led there, the
// annotations of the program, and the settings of the allocator. Texts, frames and stacks are held
// once. docs/use/postmortem-memory.md says how such files come to be.
//
// Addresses and sizes are in bytes, times in microseconds of Unix time, as recorded. Built by one
// thread, then only read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/column_data.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/id.h"
#include "borescope/trace/string_pool.h"

namespace borescope::internal::postmortem {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint32_t kNoIndex = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

// One line of a stack.
struct MemoryFrame {
  StringId file;
  StringId name;
  int64_t line = 0;
  friend bool operator==(const MemoryFrame&, const MemoryFrame&) = default;
};

// Frames and stacks, each once. A stack is a list of frames, innermost first; stack 0 is the empty
// one, of what was recorded without.
class MemoryStacks {
 public:
  MemoryStacks();

  uint32_t AddFrame(std::string_view file, std::string_view name, int64_t line);
  // The same with texts that are interned already.
  uint32_t AddFrame(StringId file, StringId name, int64_t line);
  uint32_t AddStack(std::span<const uint32_t> frames);
  StringId Intern(std::string_view text) { return texts_.Intern(text); }

  std::span<const uint32_t> Frames(uint32_t stack) const {
    return std::span(stack_frames_).subspan(begins_[stack], begins_[stack + 1] - begins_[stack]);
  }
  const MemoryFrame& Frame(uint32_t frame) const { return frames_[frame]; }
  std::string_view Text(StringId text) const { return texts_.Get(text); }
  size_t stacks() const { return begins_.size() - 1; }
  size_t frames() const { return frames_.size(); }

 private:
  StringPool texts_;
  std::vector<MemoryFrame> frames_;
  std::vector<uint32_t> stack_frames_;
  std::vector<size_t> begins_ = {0};
  HashMap<uint64_t, std::vector<uint32_t>> frame_ids_;  // by a hash of the frame
  HashMap<uint64_t, std::vector<uint32_t>> stack_ids_;  // by a hash of its frames
};

// Where blocks can be exchanged: those of one stream in one pool. (0, 0) is the default pool;
// others are those of CUDA graphs and of torch.cuda.MemPool.
struct MemoryLane {
  uint64_t stream = 0;
  int64_t pool_first = 0;
  int64_t pool_second = 0;
  bool is_private() const { return pool_first != 0 || pool_second != 0; }
  friend bool operator==(const MemoryLane&, const MemoryLane&) = default;
};

enum class MemoryAction : uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kSnapshot,
  kOom,
  kOther,  // counted, and ignored
};
// The action that a snapshot calls so; kOther for names that are not known.
MemoryAction FindMemoryAction(std::string_view name);
std::string_view Name(MemoryAction action);

struct MemoryEvent {
  uint64_t address = 0;  // of kOom: the bytes that were free on the device
  uint64_t size = 0;     // of kAlloc and frees as requested, else whole
  int64_t time_us = kNoTime;
  uint32_t stack = 0;
  uint16_t lane = 0;
  MemoryAction action = MemoryAction::kOther;
};
static_assert(sizeof(MemoryEvent) == 32);  // there are millions of them

enum class MemoryBlockState : uint8_t { kAllocated, kPending, kFree };

struct MemoryBlock {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t requested = 0;
  uint32_t stack = 0;
  MemoryBlockState state = MemoryBlockState::kFree;
};

struct MemorySegment {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t allocated = 0;  // as the allocator counted
  uint32_t first_block = 0;
  uint32_t blocks = 0;
  uint32_t stack = 0;
  uint16_t lane = 0;
  bool is_small = false;  // of the pool of small blocks
  bool is_expandable = false;
};

// A part of the program that had a name: Optimizer.step#AdamW.step, or a range of the user.
struct MemoryAnnotation {
  int64_t time_us = kNoTime;
  StringId name;
  bool is_start = false;
};

// What of PYTORCH_CUDA_ALLOC_CONF decides where blocks lie.
struct AllocatorSettings {
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

  bool expandable = false;                      // expandable_segments
  uint64_t max_split = kUnlimited;              // max_split_size_mb, in bytes
  uint64_t max_non_split_rounding = 20 * kMiB;  // max_non_split_rounding_mb, in bytes
  uint64_t large_segment = 20 * kMiB;           // large_segment_size_mb, in bytes
  double gc_threshold = 0;                      // garbage_collection_threshold, 0…1
  std::array<uint64_t, 16> divisions = {};      // roundup_power2_divisions from 1 MiB on
};

struct DeviceMemory {
  int64_t device = 0;
  std::vector<MemorySegment> segments;  // by address
  std::vector<MemoryBlock> blocks;      // of the segments in their order
  ColumnData<MemoryEvent> events;       // oldest first
  std::vector<MemoryAnnotation> annotations;
  uint64_t inconsistent = 0;  // segments whose blocks do not add up to them
};

struct MemorySnapshot {
  MemoryStacks stacks;
  std::vector<MemoryLane> lanes = {MemoryLane{}};
  AllocatorSettings settings;
  std::string settings_text;          // PYTORCH_CUDA_ALLOC_CONF
  std::vector<DeviceMemory> devices;  // by device; those with segments or events
  uint64_t events_ignored = 0;        // of actions that are not known
  bool has_times = false;
  bool is_python_only = false;  // stacks="python": no frame of C++ is in any stack

  uint16_t AddLane(const MemoryLane& lane);
  // The device `number`, made if there is none yet.
  DeviceMemory& Device(int64_t number);
};

// The last words of a reader: sorts, gives blocks without an address theirs, counts segments whose
// blocks do not fit, and drops devices that have nothing.
void Finish(MemorySnapshot& snapshot);

// What `large_segment_size_mb` and `max_non_split_rounding_mb` of a settings text say. The other
// settings have fields of their own in a snapshot.
void ReadSettingsText(std::string_view text, AllocatorSettings& settings);

}  // namespace borescope::internal::postmortem
