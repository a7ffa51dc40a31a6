// Where memory lies at a moment of a replay: the segments of the allocator by address, and in them
// blocks in use, blocks whose free waits, and what is free. So one sees which line keeps a segment
// from being given back, and where free memory is that a request cannot use.
//
// Pure functions: safe from any thread. tests/oracle/allocator_twin_test.cc compares maps with what
// a twin of the allocator has at that moment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/postmortem/memory/areas.h"
#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/memory_rows.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/snapshot.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal::postmortem {

// As a snapshot has them at its end.
struct AddressMap {
  std::vector<MemorySegment> segments;  // by address; each row of pages of expandable ones is one
  std::vector<MemoryBlock> blocks;      // of the segments in their order; they tile them
  // Of each block whose it is, as `links` of a free name it (Replay); kNoIndex of free ones.
  std::vector<uint32_t> owners;
};

// The map after event `moment`; kNoIndex: before the first one. Follows from the events and the
// sizes that the replay gave blocks: what is left of segments is free, as free neighbours are one
// block. REQUIRES: the replay was possible.
AddressMap MapAt(const MemorySnapshot& snapshot, const DeviceMemory& device, const Replay& replay,
                 uint32_t moment);
// The map at the end of a device without events. Its blocks in use are the start blocks of `replay`
// in their order. REQUIRES: they tile the segments.
AddressMap MapOfBlocks(const DeviceMemory& device);

// Neighbouring blocks that are drawn as one.
struct MapPiece {
  // By category, then the bytes that are free, and those whose free waits.
  static constexpr size_t kFree = kMemoryCategories;
  static constexpr size_t kPending = kMemoryCategories + 1;

  uint64_t address = 0;
  uint32_t segment = 0;  // the first one's number in the map
  uint64_t blocks = 0;
  std::array<uint64_t, kMemoryCategories + 2> bytes = {};
  uint32_t stack = 0;  // of its largest block in use
  uint64_t largest = 0;

  uint64_t total() const;
  size_t kind() const;  // which of `bytes` is most
};
// All pieces by address, at most `most`. Neighbours of one kind in one segment are one piece; where
// there are still too many, small neighbours are: those that no picture can show apart.
std::vector<MapPiece> PiecesOf(const AddressMap& map, const MemoryCategories& categories,
                               size_t most);

struct MemorySegmentRow {
  std::optional<int64_t> rank = {};
  std::optional<std::string> file = {};
  int64_t device = 0;
  std::string moment = {};
  int64_t address = 0;
  std::string pool = {};
  int64_t stream = 0;
  std::optional<std::string> private_pool = {};
  bool expandable = false;
  int64_t bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t pending_bytes = 0;
  int64_t free_bytes = 0;
  int64_t free_blocks = 0;
  int64_t largest_free_bytes = 0;
  int64_t releasable_bytes = 0;
  std::optional<std::string> serves = {};
  int64_t blocks = 0;
  std::optional<std::string> category = {};
  std::optional<std::string> line = {};
  int64_t line_bytes = 0;

  static constexpr TableNames kTable{"memory_segments", "Where memory lies, most free bytes first",
                                     10};
  static constexpr ColumnOf<MemorySegmentRow> kColumns[] = {
      {"rank", &MemorySegmentRow::rank, Role::kKey, kRankDoc},
      {"device", &MemorySegmentRow::device, Role::kKey, kDeviceDoc},
      {"moment", &MemorySegmentRow::moment, Role::kKey,
       "peak: the first event with the most allocated; oom: the last failure; end."},
      {"address", &MemorySegmentRow::address, Role::kKey,
       "Where the segment begins; negative from 2^63 on. Each row of pages of expandable_segments "
       "is one."},
      {"pool", &MemorySegmentRow::pool, Role::kDerived,
       "small or large: which requests it serves."},
      {"stream", &MemorySegmentRow::stream, Role::kDerived, "Stream whose requests it serves."},
      {"private_pool", &MemorySegmentRow::private_pool, Role::kDerived,
       "The pool of a CUDA graph or of torch.cuda.MemPool, as 1.0; missing for the default one."},
      {"expandable", &MemorySegmentRow::expandable, Role::kDerived, "Of expandable_segments."},
      {"bytes", &MemorySegmentRow::bytes, Unit::kBytes, Role::kDerived, "Its size."},
      {"allocated_bytes", &MemorySegmentRow::allocated_bytes, Unit::kBytes, Role::kDerived,
       "Of it, blocks in use."},
      {"pending_bytes", &MemorySegmentRow::pending_bytes, Unit::kBytes, Role::kDerived,
       "Freed, but a stream may still use it."},
      {"free_bytes", &MemorySegmentRow::free_bytes, Unit::kBytes, Role::kDerived, "Free."},
      {"free_blocks", &MemorySegmentRow::free_blocks, Unit::kCount, Role::kDerived,
       "In so many pieces."},
      {"largest_free_bytes", &MemorySegmentRow::largest_free_bytes, Unit::kBytes, Role::kDerived,
       "The largest of these."},
      {"releasable_bytes", &MemorySegmentRow::releasable_bytes, Unit::kBytes, Role::kDerived,
       "What torch.cuda.empty_cache() would give back to the device: the segment if it is free as "
       "a whole, or whole free pages."},
      {"serves", &MemorySegmentRow::serves, Role::kDerived,
       "At oom, what the free bytes are for the request that failed: usable, too small, other "
       "pool, other stream or private pool."},
      {"blocks", &MemorySegmentRow::blocks, Unit::kCount, Role::kDerived, "Blocks in use."},
      {"category", &MemorySegmentRow::category, Role::kDerived,
       "What holds most of it, as in memory_live; missing if nothing does."},
      {"line", &MemorySegmentRow::line, Role::kDerived,
       "The line of the program that allocated that: it keeps the segment."},
      {"line_bytes", &MemorySegmentRow::line_bytes, Unit::kBytes, Role::kDerived,
       "What this line holds of it in this category."},
      {"file", &MemorySegmentRow::file, Role::kDerived, kFileDoc}};
};

struct MemoryMapRow {
  std::optional<int64_t> rank = {};
  int64_t device = 0;
  std::string moment = {};
  int64_t address = 0;
  int64_t segment = 0;
  std::string category = {};
  int64_t bytes = 0;
  int64_t free_bytes = 0;
  int64_t blocks = 0;
  std::optional<std::string> line = {};

  static constexpr TableNames kTable{"memory_map", "Blocks by address", 10};
  static constexpr ColumnOf<MemoryMapRow> kColumns[] = {
      {"rank", &MemoryMapRow::rank, Role::kKey, kRankDoc},
      {"device", &MemoryMapRow::device, Role::kKey, kDeviceDoc},
      {"moment", &MemoryMapRow::moment, Role::kKey, "As in memory_segments."},
      {"address", &MemoryMapRow::address, Role::kKey,
       "Where the first of these blocks begins; negative from 2^63 on."},
      {"segment", &MemoryMapRow::segment, Role::kDerived,
       "Number of its segment at that moment, by address."},
      {"category", &MemoryMapRow::category, Role::kDerived,
       "As in memory_live; free; or pending: freed, but a stream may still use it. Of blocks that "
       "are too small to be drawn apart, what most of their bytes are."},
      {"bytes", &MemoryMapRow::bytes, Unit::kBytes, Role::kDerived, "Of these blocks together."},
      {"free_bytes", &MemoryMapRow::free_bytes, Unit::kBytes, Role::kDerived,
       "Free bytes of these."},
      {"blocks", &MemoryMapRow::blocks, Unit::kCount, Role::kDerived, "Number of blocks."},
      {"line", &MemoryMapRow::line, Role::kDerived,
       "The line of the program that allocated the largest one that is in use."}};
};

// What of a device the rows are about.
struct MapMoment {
  std::optional<int64_t> rank = {};
  std::optional<std::string> file = {};
  std::string moment = {};
  const OomState* failed = nullptr;  // the request that failed then
};
// One row a segment, most free bytes first.
void AddSegmentRows(const MapMoment& moment, const MemorySnapshot& snapshot, int64_t device,
                    const AddressMap& map, const MemorySites& sites,
                    const MemoryCategories& categories, std::vector<MemorySegmentRow>& rows);
void AddMapRows(const MapMoment& moment, int64_t device, const std::vector<MapPiece>& pieces,
                const MemorySites& sites, std::vector<MemoryMapRow>& rows);

}  // namespace borescope::internal::postmortem
