#include "borescope/base/spilled_blocks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace borescope::internal {
namespace {

struct SpilledBlock {
  std::unique_ptr<Descriptor> file;
  std::shared_ptr<SpillFiles> files;
  size_t bytes = 0;
};

// Never destroyed: columns of static objects may be freed later than any static object here.
struct SpilledTable {
  std::mutex mutex;
  std::map<const void*, SpilledBlock> blocks;
  std::atomic<size_t> count = 0;
  std::atomic<size_t> bytes = 0;
};

SpilledTable& Spilled() {
  static SpilledTable* const table = new SpilledTable;
  return *table;
}

using SpilledNode = std::map<const void*, SpilledBlock>::node_type;

// REQUIRES: there is one. What is taken can be kept again without memory.
SpilledNode TakeSpilled(const void* block) {
  SpilledTable& table = Spilled();
  const std::scoped_lock lock(table.mutex);
  SpilledNode taken = table.blocks.extract(block);
  --table.count;
  table.bytes -= taken.mapped().bytes;
  return taken;
}

void KeepSpilled(SpilledNode node) {
  SpilledTable& table = Spilled();
  const std::scoped_lock lock(table.mutex);
  table.bytes += node.mapped().bytes;
  ++table.count;
  table.blocks.insert(std::move(node));
}

void* MapSpilled(int file, size_t bytes) {
  void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return block == MAP_FAILED ? nullptr : block;
}

void* RemapSpilled(void* block, const SpilledBlock& about, size_t new_bytes) {
#if defined(__linux__)
  void* const moved = mremap(block, about.bytes, new_bytes, MREMAP_MAYMOVE);
  return moved == MAP_FAILED ? nullptr : moved;
#else
  void* const moved = MapSpilled(about.file->number(), new_bytes);
  if (moved != nullptr) {
    munmap(block, about.bytes);
  }
  return moved;
#endif
}

// Gives back the space that is mapped no longer; a file that keeps it takes no harm.
void Truncate(const SpilledBlock& about) {
  static_cast<void>(!ftruncate(about.file->number(), static_cast<off_t>(about.bytes)));
}

void ReleasePages(const void* block, const SpilledBlock& about) {
#if defined(__linux__)
  // Only begins to write; errors come up where the content is read.
  static_cast<void>(sync_file_range(about.file->number(), 0, 0, SYNC_FILE_RANGE_WRITE));
  static_cast<void>(madvise(const_cast<void*>(block), about.bytes, MADV_DONTNEED));  // NOLINT
#else
  static_cast<void>(block);
  static_cast<void>(about);
#endif
}

}  // namespace

void* MakeSpilledBlock(const std::shared_ptr<SpillFiles>& files, size_t bytes) {
  std::map<const void*, SpilledBlock> made;
  SpilledBlock& about = made[nullptr];
  about = {files->Make(bytes), files, bytes};
  void* const block = about.file == nullptr ? nullptr : MapSpilled(about.file->number(), bytes);
  if (block != nullptr) {
    SpilledNode node = made.extract(made.begin());
    node.key() = block;
    KeepSpilled(std::move(node));
  }
  return block;
}

bool IsSpilledBlock(const void* block) {
  SpilledTable& table = Spilled();
  if (table.count == 0) {
    return false;
  }
  const std::scoped_lock lock(table.mutex);
  return table.blocks.contains(block);
}

void* ResizeSpilledBlock(void* block, size_t new_bytes) {
  SpilledNode node = TakeSpilled(block);
  SpilledBlock& about = node.mapped();
  const bool grows = new_bytes > about.bytes;
  void* moved = nullptr;
  if (!grows || about.files->Extend(about.file->number(), about.bytes, new_bytes)) {
    moved = RemapSpilled(block, about, new_bytes);
  }
  if (moved != nullptr) {
    node.key() = moved;
    about.bytes = new_bytes;
    grows ? ReleasePages(moved, about) : Truncate(about);
  }
  KeepSpilled(std::move(node));
  return moved;
}

void FreeSpilledBlock(void* block) noexcept { munmap(block, TakeSpilled(block).mapped().bytes); }

void ReleaseSpilledBlocks() {
  SpilledTable& table = Spilled();
  const std::scoped_lock lock(table.mutex);
  for (const auto& [block, about] : table.blocks) {
    ReleasePages(block, about);
  }
}

size_t SpilledBytes() { return Spilled().bytes; }

}  // namespace borescope::internal
