#include "borescope/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace borescope {

std::optional<MappedFile> MappedFile::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return std::nullopt;
  }
  struct stat status{};
  const bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const size_t size = is_file ? static_cast<size_t>(status.st_size) : 0;
  void* bytes = size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (bytes == MAP_FAILED) {
    return std::nullopt;
  }
  return MappedFile({static_cast<const char*>(bytes), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    munmap(const_cast<char*>(bytes_.data()), bytes_.size());  // NOLINT
  }
}

void MappedFile::Forget() const {
  madvise(const_cast<char*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);  // NOLINT
}

}  // namespace borescope
