// The caching allocator once more, as its rules read: one list of all blocks in order, which every
// step walks from its begin. What src/borescope/postmortem/memory/allocator.h does with ordered
// sets and chains must come out the same.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/postmortem/memory/allocator.h"

namespace borescope::internal::testkit {

class SlowAllocator {
 public:
  SlowAllocator(const postmortem::AllocatorSettings& settings,
                std::vector<postmortem::MemoryLane> lanes,
                const postmortem::AllocatorBounds& bounds);

  // Whether the request was served.
  bool Allocate(uint64_t requested, uint16_t lane, uint32_t owner);
  void RequestFree(uint32_t owner);
  void CompleteFree(uint32_t owner);
  void EmptyCache();

  // In the order of Allocator::Layout.
  std::vector<postmortem::LayoutBlock> Layout() const;
  uint64_t Allocated() const;
  uint64_t Active() const;
  uint64_t Reserved() const;
  uint64_t Requested() const;
  uint64_t retries = 0;
  uint64_t ooms = 0;

  // What happened last, as a recording has it.
  struct Happened {
    bool is_given;  // or taken back
    bool is_pages;
    uint64_t address;
    uint64_t size;
    uint16_t lane;
  };
  std::vector<Happened> happened;
  std::vector<uint32_t> completed;  // owners whose frees a retry completed

 private:
  struct Block {
    postmortem::LayoutBlock at;
    uint64_t freed_at = 0;  // the number of searches when it became free
  };

  // Places in `blocks_` of the free blocks for such a request, by size and address.
  std::vector<size_t> Candidates(uint64_t size, uint16_t lane) const;
  size_t Find(uint64_t size, uint16_t lane);
  size_t Grow(uint64_t size, uint16_t lane);
  size_t GrowPages(uint64_t size, uint16_t lane);
  void Free(size_t place);
  void Split(size_t place, uint64_t size);
  void JoinNeighbours();
  bool IsWhole(size_t place) const;
  void Collect();
  bool ReleaseLarge(uint64_t size, uint16_t lane);
  void Release(size_t place);
  size_t PlaceOf(uint64_t address) const;
  void Add(uint64_t address, uint64_t size, uint16_t lane, bool is_small, bool is_expandable);

  postmortem::AllocatorSettings settings_;
  std::vector<postmortem::MemoryLane> lanes_;
  postmortem::AllocatorBounds bounds_;
  std::vector<Block> blocks_;  // by address
  uint64_t searches_ = 0;
  uint64_t next_address_ = uint64_t{1} << 44;
};

}  // namespace borescope::internal::testkit
