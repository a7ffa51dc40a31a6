// Blocks of columns that lie in temporary files (spill_files.h), which the system may write to the
// disk and take from memory whenever it needs the room. Part of column_block.h.
//
// Thread-safe, of one block one thread at a time.
#pragma once

#include <cstddef>
#include <memory>

#include "borescope/base/spill_files.h"

namespace borescope::internal {

// A block of so many bytes, whole pages; nullptr if the files have no room.
void* MakeSpilledBlock(const std::shared_ptr<SpillFiles>& files, size_t bytes);

// O(1) while there are no such blocks.
bool IsSpilledBlock(const void* block);

// The block with another size, perhaps at another place; nullptr, with nothing changed, if there is
// no room.
void* ResizeSpilledBlock(void* block, size_t new_bytes);
void FreeSpilledBlock(void* block) noexcept;

// Lets go of the memory that shows such blocks, of all there are: what was changed is on its way to
// the disk, and what is read again comes from there or from what the system keeps of it.
void ReleaseSpilledBlocks();

// What all of them take in files.
size_t SpilledBytes();

}  // namespace borescope::internal
