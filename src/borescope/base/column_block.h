// The memory of columns (column_data.h). Large blocks are mapped by the system for themselves: they
// grow and shrink without a copy, pages that were never written take nothing, and what is freed
// goes back at once. Small ones come from the heap.
//
// All are functions of a block and the size it was made with; any thread may call them, of one
// block one at a time. Memory that runs out is std::bad_alloc, and changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::internal {

// From this size on a block is large.
inline constexpr size_t kLargeBlockBytes = size_t{256} << 10;

// The size to ask for when a block has to grow: large ones by a quarter, as growing costs them
// little, small ones to the double.
size_t GrownBlockBytes(size_t bytes, size_t needed);

// A block with `new_bytes`, which begins with the first `used` bytes of `block`, if it has as many;
// `block` is gone. A block of 0 bytes is nullptr, in both directions. What is beyond is not
// defined.
void* ResizeBlock(void* block, size_t bytes, size_t used, size_t new_bytes);
void FreeBlock(void* block, size_t bytes) noexcept;

// Whether all of so many bytes are 0.
bool AreZeros(const void* begin, size_t bytes);
// Makes all of them 0, without writing what is so already: pages of large blocks that were never
// written stay such, and take no memory.
void MakeZeros(void* begin, size_t bytes);

}  // namespace borescope::internal
