// A file as bytes in memory, without reading what nobody asks for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace borescope {

class MappedFile {
 public:
  // None where the file cannot be mapped: not there, empty, or no file.
  static std::optional<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // As long as the file was when it was opened.
  std::string_view bytes() const { return bytes_; }
  // Gives back the memory of what was read; it may be read again.
  void Forget() const;

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

}  // namespace borescope
