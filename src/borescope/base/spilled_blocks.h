// Blocks of columns that lie in temporary files, which the system may write to the disk and take
// from memory whenever it needs the room. Part of column_data.h.
//
// Thread-safe, of one block one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "borescope/base/io/paths.h"

namespace borescope::internal {

// Temporary files for columns that do not fit into a limit of memory. They have no name, so that
// nothing is left of them however the process ends, and only this user could have opened them.
// Their space on the disk is taken when they are made or grow, so that a full disk is noticed
// there, and not by a signal where memory is written.

// Thread-safe.
class SpillFiles {
 public:
  explicit SpillFiles(std::string folder) : folder_(std::move(folder)) {}
  SpillFiles(const SpillFiles&) = delete;
  SpillFiles& operator=(const SpillFiles&) = delete;

  // In the folder TMPDIR, without that in /var/tmp or /tmp. Nullptr if none lies on a disk: files
  // of a file system that is memory would save nothing.
  static std::shared_ptr<SpillFiles> Usual();

  const std::string& folder() const { return folder_; }
  // Free space in the folder for this user; 0 where the system does not say.
  uint64_t FreeBytes() const;

  // A new file with that much space; nullptr, and a failure, if there is none.
  std::unique_ptr<Descriptor> Make(uint64_t bytes);
  // Space up to `to_bytes` for one that has `from_bytes`. False, and a failure, if there is none.
  bool Extend(int file, uint64_t from_bytes, uint64_t to_bytes);

  // Why there was no space the last time, with a remedy: one clause, without a full stop.
  std::optional<std::string> failure() const;

 private:
  void Note(int error, uint64_t bytes);

  std::string folder_;
  mutable std::mutex mutex_;
  std::optional<std::string> failure_;
};

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
