#include "borescope/base/spilled_blocks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#if defined(__linux__)
#endif

namespace borescope::internal {

namespace {

// False where the system does not say.
bool IsMemoryFileSystem(const std::string& folder) {
#if defined(__linux__)
  constexpr long kTmpfs = 0x01021994;  // statfs(2)
  constexpr long kRamfs = 0x858458f6;
  struct statfs about{};
  return statfs(folder.c_str(), &about) == 0 && (about.f_type == kTmpfs || about.f_type == kRamfs);
#else
  static_cast<void>(folder);
  return false;
#endif
}

bool IsOnDisk(const std::string& folder) {
  return access(folder.c_str(), W_OK | X_OK) == 0 && !IsMemoryFileSystem(folder);
}

int OpenUnnamed(const std::string& folder) {
#if defined(O_TMPFILE)
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
    return file;
  }
#endif
  std::string path = folder + "/.borescope-columns-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) {
    unlink(path.c_str());
  }
  return named;
}

// 0, or what posix_fallocate says.
int TakeSpace(int file, uint64_t from, uint64_t to) {
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(to - from));
  }
  return error;
}

}  // namespace

std::shared_ptr<SpillFiles> SpillFiles::Usual() {
  const char* const named = std::getenv("TMPDIR");
  if (named != nullptr && *named != '\0') {
    return IsOnDisk(named) ? std::make_shared<SpillFiles>(named) : nullptr;
  }
  for (const char* const folder : {"/var/tmp", "/tmp"}) {
    if (IsOnDisk(folder)) {
      return std::make_shared<SpillFiles>(folder);
    }
  }
  return nullptr;
}

uint64_t SpillFiles::FreeBytes() const {
  struct statvfs about{};
  return statvfs(folder_.c_str(), &about) == 0 ? uint64_t{about.f_bavail} * about.f_frsize : 0;
}

std::unique_ptr<Descriptor> SpillFiles::Make(uint64_t bytes) {
  auto file = std::make_unique<Descriptor>(OpenUnnamed(folder_));
  if (file->number() < 0) {
    Note(errno, bytes);
    return nullptr;
  }
  return Extend(file->number(), 0, bytes) ? std::move(file) : nullptr;
}

bool SpillFiles::Extend(int file, uint64_t from_bytes, uint64_t to_bytes) {
  const int error = TakeSpace(file, from_bytes, to_bytes);
  if (error != 0) {
    Note(error, to_bytes - from_bytes);
  }
  return error == 0;
}

std::optional<std::string> SpillFiles::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void SpillFiles::Note(int error, uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  failure_ = folder_ + ": no room for " + std::to_string(bytes >> 20U) +
             " MiB of columns: " + std::strerror(error) +
             "; free some, or name a folder on another disk with TMPDIR";
}

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
