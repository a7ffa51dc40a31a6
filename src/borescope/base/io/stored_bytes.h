// The bytes of a file or of memory, read piece by piece. Not mapped, because truncating a mapped
// file while it is read ends the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

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
  // they do not exist (any more).
  const unsigned char* Read(uint64_t offset, size_t count,
                            std::vector<unsigned char>& buffer) const;

 private:
  std::string_view memory_;
  uint64_t size_ = 0;
  int descriptor_ = -1;  // -1: in memory
};

}  // namespace borescope::internal
