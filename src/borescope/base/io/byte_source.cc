#include "borescope/base/io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "borescope/base/io/paths.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

Result<std::optional<FileState>> FileState::Of(const std::string& path) {
  BS_ASSIGN(const struct stat status, StatusOf(path));
  if (!S_ISREG(status.st_mode)) {
    return std::optional<FileState>();
  }
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return std::optional(FileState{.device = status.st_dev,
                                 .inode = status.st_ino,
                                 .names = status.st_nlink,
                                 .bytes = status.st_size,
                                 .written_ns = static_cast<int64_t>(
                                     static_cast<uint64_t>(status.st_mtim.tv_sec) * kNanoseconds +
                                     static_cast<uint64_t>(status.st_mtim.tv_nsec))});
}

Error ChangedWhileRead(const std::string& path) {
  return {ErrorCode::kIo, "changed while it was read",
          "wait until the program that writes it has finished, then try again", path};
}

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
  errno = 0;  // which says afterwards whether reading failed or the file has become shorter
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
    if (got == 0) {
      errno = 0;
    }
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return nullptr;
    }
    filled += got > 0 ? static_cast<size_t>(got) : 0;
  }
  return buffer.data();
}

namespace {

Error IoError(const std::string& path, int error, std::string_view remedy) {
  return {ErrorCode::kIo, std::strerror(error), std::string(remedy), path};
}

class FileSource : public ByteSource {
 public:
  FileSource(int descriptor, uint64_t total) : descriptor_(descriptor), total_(total) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (descriptor_ != STDIN_FILENO) {
      close(descriptor_);
    }
  }

  Result<size_t> Read(char* out, size_t capacity) override {
    for (;;) {
      const ssize_t got = read(descriptor_, out, capacity);
      if (got >= 0) {
        done_ += static_cast<uint64_t>(got);
        return static_cast<size_t>(got);
      }
      if (errno != EINTR) {
        return Error{.code = ErrorCode::kIo,
                     .cause = std::strerror(errno),
                     .remedy = "copy the file to a local disk and try again",
                     .offset = done_};
      }
    }
  }

  uint64_t stored_bytes() const override { return done_; }
  uint64_t stored_total() const override { return total_; }

 private:
  int descriptor_;
  uint64_t total_;
  uint64_t done_ = 0;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    const size_t size = std::min(capacity, bytes_.size() - done_);
    if (size != 0) {
      std::memcpy(out, bytes_.data() + done_, size);
    }
    done_ += size;
    return size;
  }

  uint64_t stored_bytes() const override { return done_; }
  uint64_t stored_total() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  size_t done_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  if (path == "-") {
    return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(STDIN_FILENO, 0));
  }
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return IoError(path, errno, RemedyOfAbsent(path));
  }
  struct stat status{};
  if (fstat(descriptor, &status) != 0) {
    const int failure = errno;
    close(descriptor);
    return IoError(path, failure, "check its disk");
  }
  if (S_ISDIR(status.st_mode)) {
    close(descriptor);
    return IoError(path, EISDIR, "give the files in it, or the directory as a run");
  }
  const auto total = S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(descriptor, total));
}

std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

Result<std::string> ReadWhole(const std::string& path) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  return InFile(path, ReadUpTo(*source, SIZE_MAX));
}

Result<std::string> ReadUpTo(ByteSource& source, size_t most) {
  constexpr size_t kLeast = size_t{4} << 10;
  constexpr size_t kMostAtOnce = size_t{1} << 20;
  std::string bytes;
  while (bytes.size() < most) {
    const size_t size = bytes.size();
    const size_t piece = std::min(std::clamp(size, kLeast, kMostAtOnce), most - size);
    bytes.resize(size + piece);
    BS_ASSIGN(const size_t got, ReadFully(source, bytes.data() + size, piece));
    bytes.resize(size + got);
    if (got < piece) {
      break;
    }
  }
  return bytes;
}

Result<size_t> ReadFully(ByteSource& source, char* out, size_t capacity) {
  constexpr size_t kMostAtOnce = size_t{4} << 20;  // inflated within milliseconds
  size_t size = 0;
  while (size < capacity) {
    CheckStop();
    BS_ASSIGN(const size_t got, source.Read(out + size, std::min(capacity - size, kMostAtOnce)));
    if (got == 0) {
      break;
    }
    size += got;
  }
  return size;
}

}  // namespace borescope::internal
