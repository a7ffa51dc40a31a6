#include "borescope/store/file_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/base/parallel.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

__extension__ typedef unsigned __int128 Product;

// One step of SplitMix64: the words of the key from those of the secret.
uint64_t NextWord(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t word = state;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

uint64_t WordAt(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

Product PairAt(const char* bytes, const uint64_t* key) {
  return static_cast<Product>(WordAt(bytes) + key[0]) * (WordAt(bytes + 8) + key[1]);
}

ContentHash HashOf(Product sum) {
  return {{static_cast<uint64_t>(sum), static_cast<uint64_t>(sum >> 64)}};
}

std::string_view BytesOf(const std::vector<ContentHash>& hashes) {
  return {reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(ContentHash)};
}

}  // namespace

std::string HexOf(const ContentHash& hash) {
  return fmt::format("{:016x}{:016x}", hash.words[0], hash.words[1]);
}

SecretHash::SecretHash(const Secret& secret) : key_(kPieceWords * kLevels) {
  for (size_t part = 0; part < secret.size(); ++part) {
    uint64_t state = secret[part];
    for (uint64_t& word : key_) {
      word = word * 0x2545f4914f6cdd1d ^ NextWord(state);
    }
  }
}

// Four sums, so that one multiplication need not wait for another.
ContentHash SecretHash::OfPiece(std::string_view piece, size_t level) const {
  const uint64_t* key = key_.data() + level * kPieceWords;
  const char* bytes = piece.data();
  size_t left = piece.size();
  Product sums[4] = {};
  for (; left >= 64; left -= 64, bytes += 64, key += 8) {
    for (size_t lane = 0; lane < 4; ++lane) {
      sums[lane] += PairAt(bytes + 16 * lane, key + 2 * lane);
    }
  }
  if (left > 0) {
    char rest[64] = {};
    std::memcpy(rest, bytes, left);
    for (size_t lane = 0; 16 * lane < left; ++lane) {
      sums[lane] += PairAt(rest + 16 * lane, key + 2 * lane);
    }
  }
  return HashOf(sums[0] + sums[1] + sums[2] + sums[3]);
}

ContentHash SecretHash::OfChunk(std::string_view chunk, size_t level) const {
  std::array<ContentHash, kChunkBytes / kPieceBytes> pieces;
  size_t count = 0;
  for (; !chunk.empty(); chunk.remove_prefix(std::min(kPieceBytes, chunk.size()))) {
    pieces[count++] = OfPiece(chunk.substr(0, kPieceBytes), level);
  }
  return OfPiece({reinterpret_cast<const char*>(pieces.data()), count * sizeof(ContentHash)},
                 level + 1);
}

// Until one is left, which is joined with the size: contents that differ in length alone, or in
// zeros at their end, differ there.
ContentHash SecretHash::OfChunks(std::vector<ContentHash> chunks, uint64_t size) const {
  size_t level = 2;
  while (chunks.size() > 1) {
    BS_CHECK(level + 3 < kLevels);
    std::vector<ContentHash> above;
    std::string_view bytes = BytesOf(chunks);
    above.reserve(bytes.size() / kChunkBytes + 1);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kChunkBytes, bytes.size()))) {
      above.push_back(OfChunk(bytes.substr(0, kChunkBytes), level));
    }
    chunks = std::move(above);
    level += 2;
  }
  const std::vector<ContentHash> whole = {chunks.empty() ? ContentHash() : chunks.front(),
                                          {{size, chunks.size()}}};
  return OfPiece(BytesOf(whole), kLevels - 1);
}

ContentHash SecretHash::Of(std::string_view bytes) const {
  std::vector<ContentHash> chunks;
  chunks.reserve(bytes.size() / kChunkBytes + 1);
  const uint64_t size = bytes.size();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kChunkBytes, bytes.size()))) {
    chunks.push_back(OfChunk(bytes.substr(0, kChunkBytes), 0));
  }
  return OfChunks(std::move(chunks), size);
}

namespace {

// Rooms for a chunk each, as many as threads read at once. With thread_local ones glibc ends the
// process where there is no memory to note their destructors.
class ReadBuffers {
 public:
  explicit ReadBuffers(size_t bytes) : bytes_(bytes) {}

  std::unique_ptr<char[]> Take() {
    const std::lock_guard lock(mutex_);
    if (unused_.empty()) {
      return std::make_unique_for_overwrite<char[]>(bytes_);
    }
    std::unique_ptr<char[]> room = std::move(unused_.back());
    unused_.pop_back();
    return room;
  }
  void GiveBack(std::unique_ptr<char[]> room) {
    const std::lock_guard lock(mutex_);
    unused_.push_back(std::move(room));
  }

 private:
  const size_t bytes_;  // of each
  std::mutex mutex_;
  std::vector<std::unique_ptr<char[]>> unused_;
};

}  // namespace

Result<ContentHash> SecretHash::Of(
    uint64_t size, int threads,
    const std::function<Result<void>(uint64_t, char*, size_t)>& read) const {
  std::vector<ContentHash> chunks((size + kChunkBytes - 1) / kChunkBytes);
  std::mutex mutex;
  std::optional<Error> error;
  ReadBuffers buffers(kChunkBytes);
  ParallelFor(chunks.size(), threads, [&](size_t i) {
    std::unique_ptr<char[]> room = buffers.Take();
    const uint64_t begin = i * kChunkBytes;
    const auto count = static_cast<size_t>(std::min<uint64_t>(kChunkBytes, size - begin));
    if (const Result<void> done = read(begin, room.get(), count); !done.ok()) {
      const std::lock_guard lock(mutex);
      error = done.error();
      return;
    }
    chunks[i] = OfChunk({room.get(), count}, 0);
    buffers.GiveBack(std::move(room));
  });
  if (error.has_value()) {
    return *error;
  }
  return OfChunks(std::move(chunks), size);
}

namespace {

std::optional<FileIdentity> IdentityOf(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return FileIdentity{.device = status.st_dev,
                      .inode = status.st_ino,
                      .bytes = static_cast<uint64_t>(status.st_size),
                      .written_ns = Nanoseconds(status.st_mtim),
                      .changed_ns = Nanoseconds(status.st_ctim)};
}

// As linux/magic.h and the sources of the file systems have them.
constexpr uint64_t kLocalFileSystems[] = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683E,  // Btrfs
    0x01021994,  // tmpfs
    0xF2F52010,  // F2FS
    0x2FC12FC1,  // ZFS
    0xCA451A4E,  // bcachefs
    0x794C7630,  // overlayfs, of containers
};

}  // namespace

int64_t Nanoseconds(const timespec& time) {
  constexpr int64_t kPerSecond = 1'000'000'000;
  constexpr int64_t kMostSeconds = std::numeric_limits<int64_t>::max() / kPerSecond;
  const int64_t seconds = std::clamp<int64_t>(time.tv_sec, -kMostSeconds, kMostSeconds);
  return AddSaturating(seconds * kPerSecond, time.tv_nsec);
}

std::optional<FileIdentity> FileIdentity::Of(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 ? IdentityOf(status) : std::nullopt;
}

std::optional<FileIdentity> FileIdentity::OfDescriptor(int descriptor) {
  struct stat status{};
  return fstat(descriptor, &status) == 0 ? IdentityOf(status) : std::nullopt;
}

bool KeepsChangeTimes(int descriptor) {
  struct statfs status{};
  if (fstatfs(descriptor, &status) != 0) {
    return false;
  }
  const auto type = static_cast<uint64_t>(static_cast<uint32_t>(status.f_type));
  return std::find(std::begin(kLocalFileSystems), std::end(kLocalFileSystems), type) !=
         std::end(kLocalFileSystems);
}

}  // namespace borescope::internal
