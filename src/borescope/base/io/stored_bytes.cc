#include "borescope/base/io/stored_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace borescope::internal {

Result<StoredBytes> StoredBytes::OfFile(const std::string& path) {
  StoredBytes source;
  source.descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (source.descriptor_ < 0 || fstat(source.descriptor_, &status) != 0) {
    return Error{ErrorCode::kIo, std::generic_category().message(errno),
                 "check its permissions and its disk", path};
  }
  source.size_ = S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
  return source;
}

StoredBytes StoredBytes::OfMemory(std::string_view bytes) {
  StoredBytes source;
  source.memory_ = bytes;
  source.size_ = bytes.size();
  return source;
}

StoredBytes::~StoredBytes() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

const unsigned char* StoredBytes::Read(uint64_t offset, size_t count,
                                       std::vector<unsigned char>& buffer) const {
  if (offset > size_ || count > size_ - offset) {
    return nullptr;
  }
  if (descriptor_ < 0) {
    return reinterpret_cast<const unsigned char*>(memory_.data()) + offset;
  }
  buffer.resize(count);
  size_t filled = 0;
  while (filled < count) {
    const ssize_t got = pread(descriptor_, buffer.data() + filled, count - filled,
                              static_cast<off_t>(offset + filled));
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return nullptr;
    }
    filled += got > 0 ? static_cast<size_t>(got) : 0;
  }
  return buffer.data();
}

}  // namespace borescope::internal
