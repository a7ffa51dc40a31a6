// ByteSource: where bytes come from, read once from front to back: a file, standard input, memory,
// or a decompressed source. Used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

// Notices that a file changes while it is read: a profiler still writes it, a copy is in progress,
// or another file takes its place. What was read then is of no moment that ever was.

// Which file a path leads to, links resolved, and how it was last written.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t names = 0;
  int64_t bytes = 0;
  int64_t written_ns = 0;  // time of the last change, on the clock of the file system

  bool operator==(const FileState&) const = default;

  // Nothing where the path leads to no ordinary file. kIo if the system cannot tell (StatusOf).
  static Result<std::optional<FileState>> Of(const std::string& path);
};

// kIo, with what to do.
Error ChangedWhileRead(const std::string& path);

// What `body` returns of reading the file, unless the file is another one afterwards, or was
// changed: damage that it found then is no damage. Files that are not ordinary are not watched.
template <class Body>
std::invoke_result_t<Body> ReadUnchanged(const std::string& path, const Body& body) {
  BS_ASSIGN(const std::optional<FileState> before, FileState::Of(path));
  std::invoke_result_t<Body> result = body();
  if (before.has_value()) {
    BS_ASSIGN(const std::optional<FileState> after, FileState::Of(path));
    if (after != before) {
      return ChangedWhileRead(path);
    }
  }
  return result;
}

// The bytes of a file or of memory, read piece by piece. Not mapped, because truncating a mapped
// file while it is read ends the process.

class StoredBytes {
 public:
  StoredBytes() = default;  // empty
  // Empty if the file cannot be read piece by piece, as it is not an ordinary one. kIo if it cannot
  // be opened.
  static Result<StoredBytes> OfFile(const std::string& path);
  // The bytes must outlive it.
  static StoredBytes OfMemory(std::string_view bytes);

  StoredBytes(StoredBytes&& other) noexcept
      : memory_(other.memory_),
        size_(std::exchange(other.size_, 0)),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  StoredBytes& operator=(StoredBytes&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  StoredBytes(const StoredBytes&) = delete;
  StoredBytes& operator=(const StoredBytes&) = delete;
  ~StoredBytes();

  // In bytes, at the time it was opened.
  uint64_t size() const { return size_; }

  // `count` bytes from `offset` on, in memory or in `buffer`, whose content is replaced. nullptr if
  // they do not exist (any more), with errno 0 then, or reading them failed, with its error.
  const unsigned char* Read(uint64_t offset, size_t count,
                            std::vector<unsigned char>& buffer) const;

 private:
  std::string_view memory_;
  uint64_t size_ = 0;
  int descriptor_ = -1;  // -1: in memory
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads up to `capacity` bytes into `out`; 0 means the end. May return fewer than requested. An
  // error names the stored byte, not the file.
  virtual Result<size_t> Read(char* out, size_t capacity) = 0;

  // Stored (compressed) bytes read from the file so far, and in total if known, else 0.
  virtual uint64_t stored_bytes() const = 0;
  virtual uint64_t stored_total() const = 0;
};

// The file at `path`, or standard input for "-". Directories and unreadable files are errors.
Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

// Bytes that outlive the source.
std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes);

// All bytes of the file at `path`, or of standard input for "-"; also of files whose size is not
// known before, such as those of /proc. A failed read is an error: streams of the standard library
// throw there.
Result<std::string> ReadWhole(const std::string& path);

// What is left of a source, but at most `most` bytes. Takes memory for what is there.
Result<std::string> ReadUpTo(ByteSource& source, size_t most);

// Reads until `capacity` bytes are available or the source ends.
Result<size_t> ReadFully(ByteSource& source, char* out, size_t capacity);

}  // namespace borescope::internal
