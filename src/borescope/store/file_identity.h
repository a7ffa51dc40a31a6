// Which file a path leads to and how it was last changed: what shows, on file systems that are
// known to keep it, that its content is what it was.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <type_traits>

namespace borescope::internal {

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
