// Which file a path leads to and how it was last changed: what shows, on file systems that are
// known to keep it, that its content is what it was.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

// SecretHash: a fast hash of bytes by a secret key, to know contents again and to notice damage.
//
// A piece of 8 KiB becomes the sum of (a + k) * (b + l) over its pairs of words, modulo 2^128, k
// and l being words of the key (NH, from "UMAC: Fast and Secure Message Authentication", 1999): two
// different pieces of one length have equal sums for at most 2^-64 of all keys. What a megabyte
// becomes is hashed once more, and so on, each time with other words of the key. Who does not know
// the key cannot choose contents that are mistaken for each other.

struct ContentHash {
  std::array<uint64_t, 2> words{};

  friend bool operator==(const ContentHash&, const ContentHash&) = default;
};

// 32 hexadecimal digits.
std::string HexOf(const ContentHash& hash);

// Immutable; safe to use from any number of threads.
class SecretHash {
 public:
  using Secret = std::array<uint64_t, 4>;

  explicit SecretHash(const Secret& secret);

  // Of bytes in memory.
  ContentHash Of(std::string_view bytes) const;

  // Of `size` bytes that `read` yields: called from several threads at once with an offset and room
  // for the bytes, all of which it has to fill. Equals Of() of the same bytes.
  Result<ContentHash> Of(uint64_t size, int threads,
                         const std::function<Result<void>(uint64_t, char*, size_t)>& read) const;

 private:
  static constexpr size_t kPieceWords = 1024;
  static constexpr size_t kPieceBytes = kPieceWords * sizeof(uint64_t);
  static constexpr size_t kChunkBytes = size_t{1} << 20;
  static constexpr size_t kLevels = 8;

  ContentHash OfPiece(std::string_view piece, size_t level) const;
  ContentHash OfChunk(std::string_view chunk, size_t level) const;
  ContentHash OfChunks(std::vector<ContentHash> chunks, uint64_t size) const;

  std::vector<uint64_t> key_;  // kPieceWords for each level
};

// A time of a file in nanoseconds; one that is too far away for 64 bits is the last there is.
int64_t Nanoseconds(const timespec& time);

struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t written_ns = 0;  // last change of the content, which programs can set
  int64_t changed_ns = 0;  // last change of anything, which they cannot

  // Nothing where the path leads to no ordinary file.
  static std::optional<FileIdentity> Of(const std::string& path);
  static std::optional<FileIdentity> OfDescriptor(int descriptor);

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
static_assert(std::has_unique_object_representations_v<FileIdentity>);

// Whether every write to a file moves FileIdentity::changed_ns by the clock of this machine: file
// systems of this machine, not those of a network or of a program.
bool KeepsChangeTimes(int descriptor);

}  // namespace borescope::internal
