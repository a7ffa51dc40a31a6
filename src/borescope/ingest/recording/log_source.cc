#include "borescope/ingest/recording/log_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace borescope::internal {

Result<LogSource> LogSource::OpenFile(const std::string& path) {
  LogSource source;
  source.file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (source.file_ < 0 || fstat(source.file_, &status) != 0) {
    return Error{ErrorCode::kIo, std::generic_category().message(errno),
                 "check that the file exists and may be read", path};
  }
  source.size_ = static_cast<uint64_t>(std::max<off_t>(0, status.st_size));
  return source;
}

LogSource LogSource::OfMemory(std::string_view bytes) {
  LogSource source;
  source.memory_ = bytes;
  source.size_ = bytes.size();
  return source;
}

LogSource::LogSource(LogSource&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      memory_(other.memory_),
      size_(other.size_),
      failure_(std::move(other.failure_)) {}

LogSource& LogSource::operator=(LogSource&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(failure_, other.failure_);
  return *this;
}

LogSource::~LogSource() {
  if (file_ >= 0) {
    close(file_);
  }
}

size_t LogSource::Read(uint64_t offset, void* out, size_t bytes) const {
  if (bytes == 0 || offset >= size_) {
    return 0;
  }
  bytes = static_cast<size_t>(std::min<uint64_t>(bytes, size_ - offset));
  if (file_ < 0) {
    std::memcpy(out, memory_.data() + offset, bytes);
    return bytes;
  }
  size_t done = 0;
  while (done < bytes) {
    const ssize_t more = pread(file_, static_cast<char*>(out) + done, bytes - done,
                               static_cast<off_t>(offset + done));
    if (more < 0 && errno == EINTR) {
      continue;
    }
    if (more < 0 && failure_.ok()) {
      failure_ = Error{.code = ErrorCode::kIo,
                       .cause = std::generic_category().message(errno),
                       .remedy = "copy the file to a local disk and try again",
                       .offset = offset + done};
    }
    if (more <= 0) {
      break;
    }
    done += static_cast<size_t>(more);
  }
  return done;
}

}  // namespace borescope::internal
