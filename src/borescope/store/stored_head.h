// The beginning of a stored trace, and the list of its sections.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "borescope/store/file_identity.h"

namespace borescope::internal {

// Which build of this program wrote something.

// The build id that the linker gave to the program or library that this code is in: another one for
// every change of the code, its libraries or its compiler. Nothing where it gave none. Thread-safe.
std::optional<std::string> BuildIdentity();

inline constexpr std::array<char, 8> kStoredMagic = {'b', 's', 't', 'r', 'a', 'c', 'e', '\n'};
// Of what is described here; that of the columns is in StoredHead::build.
inline constexpr uint32_t kStoredVersion = 1;
// As the machine that wrote it has it.
inline constexpr uint32_t kStoredOrder = 0x01020304;
inline constexpr uint64_t kSectionAlignment = 64;

struct StoredHead {
  std::array<char, 8> magic = kStoredMagic;
  uint32_t version = kStoredVersion;
  uint32_t order = kStoredOrder;
  ContentHash build;      // of the build that wrote it, and the sizes of its columns' values
  ContentHash key;        // of the inputs
  uint64_t bytes = 0;     // of the whole file
  uint64_t sections = 0;  // rows of the list, which follows
  ContentHash checksum;   // of the list and of this with zeros here
};
static_assert(std::has_unique_object_representations_v<StoredHead>);

// One column, or the fields, or the places of texts, or their bytes.
struct StoredSection {
  uint64_t offset = 0;  // in the file; a multiple of kSectionAlignment
  uint64_t bytes = 0;
  ContentHash checksum;
};
static_assert(std::has_unique_object_representations_v<StoredSection>);

// The bytes of a value, and of several.
template <class T>
std::string_view RawBytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class T>
std::string_view RawBytes(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// The build, and the sizes of the values of each column: what a file must agree with to be read.
ContentHash BuildHash(const SecretHash& hash);

// What StoredHead::checksum must be.
ContentHash HeadChecksum(StoredHead head, std::span<const StoredSection> list,
                         const SecretHash& hash);

}  // namespace borescope::internal
