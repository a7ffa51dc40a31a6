#include "borescope/base/column_data.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "borescope/base/memory_limit.h"
#include "borescope/base/spilled_blocks.h"
#include "borescope/base/stop.h"

// Sanitizers watch what comes from the heap, and only that.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BORESCOPE_MAPS_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BORESCOPE_MAPS_BLOCKS 0
#endif
#endif
#ifndef BORESCOPE_MAPS_BLOCKS
#if defined(__linux__)
#define BORESCOPE_MAPS_BLOCKS 1
#else
#define BORESCOPE_MAPS_BLOCKS 0
#endif
#endif

namespace borescope::internal {

namespace {

// From this size on a block is of large pages. Of shorter ones the end, where a large page is one
// for a few values, would be too much.
constexpr size_t kShortestOfLargePages = size_t{8} << 20;
constexpr size_t kLargePage = size_t{2} << 20;

// What the block of so many bytes takes of the addresses. Linux puts what is as long as whole large
// pages where such pages lie, also when it grows; a block that begins elsewhere has to be moved
// page by page, and gets few large ones.
size_t WholePages(size_t bytes) {
  static const auto small_page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t page = bytes >= kShortestOfLargePages ? kLargePage : small_page;
  return (bytes + page - 1) / page * page;
}

#if BORESCOPE_MAPS_BLOCKS

bool IsMapped(size_t bytes) { return bytes >= kLargeBlockBytes; }

void* Checked(void* mapped) {
  if (mapped == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return mapped;
}

void* Map(size_t bytes) {
  return Checked(
      mmap(nullptr, WholePages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void* Remap(void* block, size_t bytes, size_t new_bytes) {
  return Checked(mremap(block, WholePages(bytes), WholePages(new_bytes), MREMAP_MAYMOVE));
}

// Advice for what will be filled. It has to be for the whole block: a mapping in parts could not
// grow.
void UseLargePages(void* block, size_t bytes) {
  if (bytes >= kShortestOfLargePages) {
    static_cast<void>(madvise(block, WholePages(bytes), MADV_HUGEPAGE));
  }
}

void Unmap(void* block, size_t bytes) noexcept { munmap(block, WholePages(bytes)); }

#else

bool IsMapped(size_t) { return false; }
void* Map(size_t) { throw std::bad_alloc(); }
void* Remap(void*, size_t, size_t) { throw std::bad_alloc(); }
void UseLargePages(void*, size_t) {}
void Unmap(void*, size_t) noexcept {}

#endif

bool IsSpilled(const void* block, size_t bytes) {
  return bytes >= kLargeBlockBytes && IsSpilledBlock(block);
}

// A block in a file, where the limit of memory wants that and there is room; else nullptr.
void* AllocateInFile(size_t bytes, size_t more) {
  const StopScope* const scope = bytes >= kLargeBlockBytes ? CurrentStopScope() : nullptr;
  const MemoryLimit* const limit = scope == nullptr ? nullptr : scope->memory();
  return limit != nullptr && limit->SpillsColumns(more)
             ? MakeSpilledBlock(limit->spill(), WholePages(bytes))
             : nullptr;
}

void* AllocateInMemory(size_t bytes) {
  if (!IsMapped(bytes)) {
    return ::operator new(bytes);
  }
  void* const block = Map(bytes);
  UseLargePages(block, bytes);
  return block;
}

// The values to another block.
void* MoveTo(void* moved, void* block, size_t bytes, size_t used) {
  if (used != 0) {
    std::memcpy(moved, block, used);
  }
  FreeBlock(block, bytes);
  return moved;
}

// A block in memory that is and stays large.
void* ResizeInMemory(void* block, size_t bytes, size_t new_bytes) {
  void* const moved = Remap(block, bytes, new_bytes);
  if (new_bytes > bytes) {
    UseLargePages(moved, new_bytes);
  }
  return moved;
}

}  // namespace

size_t GrownBlockBytes(size_t bytes, size_t needed) {
  const size_t more = bytes >= kLargeBlockBytes ? bytes / 4 : bytes;
  return std::max(needed, bytes + more);
}

void* ResizeBlock(void* block, size_t bytes, size_t used, size_t new_bytes) {
  if (new_bytes == 0) {
    FreeBlock(block, bytes);
    return nullptr;
  }
  used = std::min(used, new_bytes);
  if (IsSpilled(block, bytes)) {
    void* const moved =
        new_bytes >= kLargeBlockBytes ? ResizeSpilledBlock(block, WholePages(new_bytes)) : nullptr;
    return moved != nullptr ? moved : MoveTo(AllocateInMemory(new_bytes), block, bytes, used);
  }
  if (new_bytes > bytes) {
    if (void* const in_file = AllocateInFile(new_bytes, new_bytes - bytes)) {
      return MoveTo(in_file, block, bytes, used);
    }
  }
  return IsMapped(bytes) && IsMapped(new_bytes)
             ? ResizeInMemory(block, bytes, new_bytes)
             : MoveTo(AllocateInMemory(new_bytes), block, bytes, used);
}

void FreeBlock(void* block, size_t bytes) noexcept {
  if (block == nullptr) {
    return;
  }
  if (IsSpilled(block, bytes)) {
    FreeSpilledBlock(block);
  } else if (IsMapped(bytes)) {
    Unmap(block, bytes);
  } else {
    ::operator delete(block);
  }
}

bool AreZeros(const void* begin, size_t bytes) {
  const auto* const at = static_cast<const unsigned char*>(begin);
  // Most others are not 0 at once. If the first is, and each equals the next, all are.
  return bytes == 0 || (at[0] == 0 && std::memcmp(at, at + 1, bytes - 1) == 0);
}

void MakeZeros(void* begin, size_t bytes) {
  if (!AreZeros(begin, bytes)) {
    std::memset(begin, 0, bytes);
  }
}

}  // namespace borescope::internal
