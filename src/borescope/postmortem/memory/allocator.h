// A model of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp): where it puts a
// request, when it asks the driver for a segment, and what it gives back. A replay feeds it what
// was recorded and compares; a what-if feeds it the same requests under other settings.
//
// The rules, in its own words: sizes are rounded; each pool (small requests up to 1 MiB, large
// ones, those of graphs by themselves) and stream has its own free blocks; the smallest that is
// large enough is taken and, if enough is left, split; neighbours that are free are one block.
// Where none is found a segment is requested from the driver; if that fails, free segments are
// given back and it is asked again; then the program is out of memory.
//
// Not thread-safe. Sizes and addresses in bytes. tests/oracle/allocator_twin_test.cc has an obvious
// version of the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::postmortem {

inline constexpr uint64_t kSmallestBlock = 512;
inline constexpr uint64_t kSmallRequest = kMiB;         // up to here requests are small
inline constexpr uint64_t kSmallSegment = 2 * kMiB;     // segments, and pages, of the small pool
inline constexpr uint64_t kLargeRequest = 10 * kMiB;    // from here on a segment of its own size
inline constexpr uint64_t kSegmentRounding = 2 * kMiB;  // of such segments

// The bytes of the block for a request.
uint64_t RoundRequest(uint64_t requested, const AllocatorSettings& settings);
// The bytes requested from the driver for a block of `size` bytes.
uint64_t SegmentSize(uint64_t size, const AllocatorSettings& settings);

// What the allocator may have.
struct AllocatorBounds {
  std::optional<uint64_t> limit;              // set_per_process_memory_fraction
  std::optional<uint64_t> capacity;           // what the driver has for this process
  uint64_t device_bytes = uint64_t{1} << 42;  // for the address ranges of expandable segments
};

struct AllocatorCounters {
  uint64_t allocated = 0;  // bytes of blocks in use
  uint64_t active = 0;     // these and those whose free waits for a stream
  uint64_t reserved = 0;   // bytes of segments
  uint64_t requested = 0;  // bytes that were asked for, of blocks in use
  uint64_t peak_allocated = 0;
  uint64_t peak_reserved = 0;
  uint64_t retries = 0;
  uint64_t ooms = 0;
};

enum class BlockState : uint8_t { kFree, kUnmapped, kAllocated, kPending };

// One block of the layout, by address.
struct LayoutBlock {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t requested = 0;  // 0 unless allocated or pending
  uint64_t segment = 0;    // address of its segment
  uint16_t lane = 0;
  bool is_small = false;
  bool is_expandable = false;
  bool is_whole = false;  // the only block of its segment
  BlockState state = BlockState::kFree;
  uint32_t owner = kNoIndex;
};

class Allocator {
 public:
  // `lanes` outlives this.
  Allocator(const AllocatorSettings& settings, std::span<const MemoryLane> lanes,
            const AllocatorBounds& bounds = {});

  // --- What a program does ---

  // Serves a request: its block, or kNoIndex if the program is out of memory. `owner` is whose
  // request it is: a number of the caller, that frees name again.
  uint32_t Allocate(uint64_t requested, uint16_t lane, uint32_t owner);
  // The program gives the block back; another stream may still use it.
  void RequestFree(uint32_t block, uint32_t owner);
  // No stream uses it any longer: it is free. Nothing if a retry completed it already.
  void CompleteFree(uint32_t block, uint32_t owner);
  // torch.cuda.empty_cache().
  void EmptyCache();

  // --- What a recording says ---

  // The free block that a request of `size` bytes (rounded) would get; kNoIndex if none fits.
  uint32_t Find(uint64_t size, uint16_t lane);
  // Of expandable segments: the address that a request would get that needs more pages. Nothing
  // if that is in a range that there is not yet.
  std::optional<uint64_t> PlanPages(uint64_t size, uint16_t lane) const;
  // The free block that begins there and has `size` bytes or more; else kNoIndex.
  uint32_t FreeBlockAt(uint64_t address, uint64_t size);
  // Uses a free block for the request; what is left over is split off. The block in use.
  uint32_t Take(uint32_t block, uint64_t size, uint64_t requested, uint32_t owner);
  // Uses the free bytes at `address`. `is_exact`: the block has `size` bytes whatever the rules
  // for splitting say. kNoIndex if the bytes there are not free, or no block can begin there: each
  // is a multiple of the smallest from the begin of its segment.
  uint32_t TakeAt(uint64_t address, uint64_t size, uint64_t requested, uint32_t owner,
                  bool is_exact);
  // A segment that the driver gave; its free block. kNoIndex if it overlaps another.
  uint32_t AddSegment(uint64_t address, uint64_t size, uint16_t lane, bool is_small);
  // An address range for expandable segments, without pages.
  bool AddRange(uint64_t address, uint64_t size, uint16_t lane, bool is_small);
  // Pages in such a range; false if they are there already, none can begin there, or there is no
  // range.
  bool MapAt(uint64_t address, uint64_t size);
  bool UnmapAt(uint64_t address, uint64_t size);
  // Gives a segment back; false if it is not whole and free.
  bool ReleaseAt(uint64_t address);
  // A recorded failure, and a recorded retry.
  void CountOom() { ++counters_.ooms; }
  void CountRetry() { ++counters_.retries; }

  // --- What there is ---

  const AllocatorCounters& counters() const { return counters_; }
  uint64_t BlockSize(uint32_t block) const { return blocks_[block].size; }
  uint64_t BlockAddress(uint32_t block) const { return blocks_[block].address; }
  // All blocks by segment and address, unmapped ones included.
  std::vector<LayoutBlock> Layout() const;
  // How many there are at most.
  uint64_t blocks() const { return blocks_.size() - unused_blocks_.size(); }
  // Blocks that searches passed which take them one by one: for pages, and for the block of an
  // expandable segment that can grow least.
  uint64_t walked() const { return walked_; }
  // Whether a retry would give a segment back: one that is free and whole, and of no private pool.
  bool HasReleasable() const { return releasable_ > 0; }
  // Bytes of free blocks that are part of a segment: PyTorch's inactive_split_bytes.
  uint64_t InactiveSplit() const;
  // Bytes that a segment for `size` bytes needs of the driver, less what free pages before it give.
  uint64_t Needed(uint64_t size, uint16_t lane) const;
  const AllocatorSettings& settings() const { return settings_; }

 private:
  struct Block {
    uint64_t address = 0;
    uint64_t size = 0;
    uint64_t requested = 0;
    uint64_t searches = 0;  // of its pool, when it became free
    uint32_t prev = kNoIndex;
    uint32_t next = kNoIndex;
    uint32_t segment = kNoIndex;
    uint32_t owner = kNoIndex;
    BlockState state = BlockState::kFree;
  };
  struct Segment {
    uint64_t address = 0;
    uint64_t size = 0;
    uint32_t first = kNoIndex;
    uint32_t list = 0;
    bool is_expandable = false;
  };
  struct Key {
    uint64_t size;
    uint64_t address;
    uint32_t block;
    friend bool operator<(const Key& a, const Key& b) {
      return a.size != b.size ? a.size < b.size : a.address < b.address;
    }
  };
  // Memory of lists' nodes, which are small and of few sizes. Not that of libstdc++ 12, whose pools
  // crash where there is no memory for their own books.
  class NodePool : public std::pmr::memory_resource {
   private:
    static constexpr size_t kGrain = 16;
    static constexpr size_t kMostBytes = 256;
    struct Unused {
      Unused* next;
    };
    static size_t SizeOf(size_t bytes) { return (bytes + kGrain - 1) / kGrain; }
    void* do_allocate(size_t bytes, size_t alignment) override {
      if (bytes > kMostBytes || alignment > kGrain) {
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
      }
      Unused*& first = unused_[SizeOf(bytes)];
      if (first == nullptr) {
        return chunks_.allocate(SizeOf(bytes) * kGrain, kGrain);
      }
      return std::exchange(first, first->next);
    }
    void do_deallocate(void* room, size_t bytes, size_t alignment) override {
      if (bytes > kMostBytes || alignment > kGrain) {
        std::pmr::new_delete_resource()->deallocate(room, bytes, alignment);
        return;
      }
      Unused*& first = unused_[SizeOf(bytes)];
      first = new (room) Unused{first};
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
      return this == &other;
    }

    std::pmr::monotonic_buffer_resource chunks_;
    std::array<Unused*, kMostBytes / kGrain + 1> unused_{};  // by SizeOf
  };
  // The free blocks of one stream in one pool.
  struct List {
    std::pmr::set<Key> free;                     // by size and address
    std::pmr::map<uint64_t, uint32_t> unmapped;  // by address
  };

  uint32_t ListOf(uint64_t size, uint16_t lane) const {
    return uint32_t{lane} * 2 + (size <= kSmallRequest ? 1 : 0);
  }
  static bool IsSmall(uint32_t list) { return (list & 1) != 0; }
  bool IsReleasable(const Block& block) const {
    const Segment& segment = segments_[block.segment];
    return IsWhole(block) && !segment.is_expandable && !IsPrivate(segment.list);
  }
  bool IsPrivate(uint32_t list) const { return lanes_[list / 2].is_private(); }
  uint64_t PageSize(uint32_t list) const {
    return IsSmall(list) ? kSmallSegment : settings_.large_segment;
  }
  bool UsesPages(uint32_t list) const { return settings_.expandable && !IsPrivate(list); }
  bool IsWhole(const Block& block) const {
    return block.prev == kNoIndex && block.next == kNoIndex;
  }
  bool IsFree(uint32_t block) const {
    return block != kNoIndex && blocks_[block].state == BlockState::kFree;
  }
  bool IsOpen(uint32_t block) const {  // free, or without pages
    return IsFree(block) || (block != kNoIndex && blocks_[block].state == BlockState::kUnmapped);
  }

  uint32_t NewBlock(const Block& block);
  void DropBlock(uint32_t block);
  void Insert(uint32_t block);
  void Remove(uint32_t block);
  uint32_t SplitFront(uint32_t block, uint64_t size);
  uint32_t MergeNeighbours(uint32_t block);
  bool ShouldSplit(const Block& block, uint64_t size) const;
  uint32_t FindIn(const List& list, uint64_t size) const;
  uint64_t GrownSize(const Block& block) const;
  uint32_t FindPages(uint64_t size, const List& list) const;
  bool Refuses(uint64_t more) const;
  bool IsPending(uint32_t block, uint32_t owner) const {
    return blocks_[block].owner == owner && blocks_[block].state == BlockState::kPending;
  }
  uint32_t Place(uint64_t address, uint64_t size, uint16_t lane, bool is_small);
  uint32_t New(uint64_t size, uint32_t list);
  uint32_t NewPages(uint64_t size, uint32_t list);
  uint32_t Map(uint32_t block, uint64_t size);
  void Unmap(uint32_t block);
  void Release(uint32_t block);
  void Collect();
  bool ReleaseAvailable(uint64_t size, uint32_t list);
  void CompletePending();
  uint32_t OpenBlockAt(uint64_t address);

  AllocatorSettings settings_;
  std::span<const MemoryLane> lanes_;
  AllocatorBounds bounds_;
  AllocatorCounters counters_;
  std::unique_ptr<NodePool> nodes_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> unused_blocks_;
  std::vector<Segment> segments_;
  std::vector<uint32_t> unused_segments_;
  std::map<uint64_t, uint32_t> segment_at_;
  std::vector<List> lists_;
  std::vector<std::pair<uint32_t, uint32_t>> pending_;  // block and owner; some completed since
  size_t waiting_ = 0;                                  // of these, not completed
  uint64_t searches_ = 0;                               // of the default pool of large blocks
  uint64_t next_address_ = uint64_t{1} << 44;           // of the model's own driver
  size_t releasable_ = 0;                               // free blocks that a retry gives back
  // Open blocks by address, from the first time on that one is looked for: programs that only
  // allocate and free never do.
  std::pmr::map<uint64_t, uint32_t> open_at_;
  bool has_open_at_ = false;
  mutable uint64_t walked_ = 0;
};

}  // namespace borescope::internal::postmortem
