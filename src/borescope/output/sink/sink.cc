#include "borescope/output/sink/sink.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/base/io/foreign_links.h"
#include "borescope/base/io/paths.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

constexpr size_t kOutBytes = 256 * 1024;
// ISA-L counts in 32 bits.
constexpr size_t kMostAtOnce = size_t{1} << 30;

}  // namespace

struct GzipSink::State {
  State() : tables(ISAL_DEF_LVL1_DEFAULT), out(kOutBytes) {
    isal_deflate_init(&stream);
    stream.gzip_flag = IGZIP_GZIP;
    stream.level = 1;
    stream.level_buf = tables.data();
    stream.level_buf_size = static_cast<uint32_t>(tables.size());
    StartOutput();
  }

  void StartOutput() {
    stream.next_out = out.data();
    stream.avail_out = static_cast<uint32_t>(out.size());
  }

  isal_zstream stream{};
  std::vector<uint8_t> tables;  // the library's own
  std::vector<uint8_t> out;     // filled up to stream.avail_out bytes
};

GzipSink::GzipSink(Sink& target) : target_(target), state_(std::make_unique<State>()) {}

GzipSink::~GzipSink() = default;

Result<void> GzipSink::HandOver() {
  const size_t used = state_->out.size() - state_->stream.avail_out;
  state_->StartOutput();
  return target_.Write({reinterpret_cast<const char*>(state_->out.data()), used});
}

Result<void> GzipSink::Deflate() {
  if (state_->stream.avail_out == 0) {
    BS_TRY(HandOver());
  }
  // It fails on parameters only.
  BS_CHECK(isal_deflate(&state_->stream) == COMP_OK);
  return {};
}

Result<void> GzipSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMostAtOnce);
    bytes.remove_prefix(piece.size());
    // The library reads through this pointer and never writes.
    state_->stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(piece.data()));
    state_->stream.avail_in = static_cast<uint32_t>(piece.size());
    while (state_->stream.avail_in > 0) {
      BS_TRY(Deflate());
    }
  }
  return {};
}

Result<void> GzipSink::Finish() {
  state_->stream.end_of_stream = 1;
  while (state_->stream.internal_state.state != ZSTATE_END) {
    BS_TRY(Deflate());
  }
  return HandOver();
}

Result<void> WriteMaybeGzip(std::string_view path, Sink& file,
                            const std::function<Result<void>(Sink&)>& write) {
  if (!path.ends_with(".gz")) {
    return write(file);
  }
  GzipSink gzip(file);
  BS_TRY(write(gzip));
  return gzip.Finish();
}

namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 100;
constexpr int kMostLinks = 40;  // as Linux follows

// What to do about it; empty where the system's words say that.
std::string_view RemedyOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "make the folder first, or name another";
    case EACCES:
    case EPERM:
    case EROFS:
      return "name a file in a folder that you may write to";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room, or name a file on another disk";
    default:
      return "";
  }
}

Error WriteError(const std::string& path, int error) {
  return {ErrorCode::kIo, std::string("cannot write: ") + std::strerror(error),
          std::string(RemedyOf(error)), path};
}

// All of `bytes` to `descriptor`; zero or the errno of the failure.
int WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// ".NAME.UNIQUE", with as much of the name as a file system takes.
std::string NameBeside(const std::string& name, const std::string& unique) {
  const size_t room = NAME_MAX - 2 - unique.size();
  return "." + name.substr(0, room) + "." + unique;
}

// A new file in the folder of `target`, so that a rename stays within one file system. Its
// permissions are those of `mode` under the user's umask; -1 and errno on failure.
int CreateBeside(const fs::path& target, mode_t mode, std::string& name, Unfinished& unfinished) {
  const UnfinishedLock lock = LockUnfinished();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string unique = std::to_string(getpid()) + "-" + std::to_string(attempt);
    name = (target.parent_path() / NameBeside(target.filename().string(), unique)).string();
    const int made = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (made >= 0) {
      unfinished = Unfinished(lock, [name] { unlink(name.c_str()); });
    }
    if (made >= 0 || errno != EEXIST) {
      return made;
    }
  }
  return -1;
}

// The number of an open descriptor that `path` names, or -1. Opening it by its path would begin at
// the start of a file that others append to.
int NamedDescriptor(std::string_view path) {
  if (path == "/dev/stdout") {
    return STDOUT_FILENO;
  }
  if (path == "/dev/stderr") {
    return STDERR_FILENO;
  }
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int number = -1;
    if (path.starts_with(folder)) {
      path.remove_prefix(folder.size());
      const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
      return error == std::errc() && end == path.data() + path.size() ? number : -1;
    }
  }
  return -1;
}

}  // namespace

bool IsWrittenDirectly(const std::string& path) {
  struct stat status{};
  return NamedDescriptor(path) >= 0 ||
         (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

void BufferedSink::Flush() {
  if (status_.ok()) {
    status_ = sink_.Write(text_);
  }
  text_.clear();
}

Result<void> BufferedSink::Finish() {
  Flush();
  return status_;
}

Result<fs::path> BehindLinks(fs::path path) {
  for (int link = 0; link < kMostLinks; ++link) {
    BS_ASSIGN(const std::optional<fs::path> next, WhatLinkSays(path));
    if (!next.has_value()) {
      return path;
    }
    path = path.parent_path() / *next;  // of an absolute `next`: itself
  }
  return fs::path();
}

Result<void> DescriptorSink::Write(std::string_view bytes) {
  const int error = WriteAll(descriptor_, bytes);
  if (error == 0) {
    return {};
  }
  reader_is_gone_ = error == EPIPE;
  return WriteError(name_, error);
}

Result<void> DescriptorSink::Finish() {
  const int copy = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  // One that is not open has been written nothing.
  if (copy < 0 ? errno != EBADF : close(copy) != 0) {
    return WriteError(name_, errno);
  }
  return {};
}

Result<std::unique_ptr<FileSink>> FileSink::Open(const std::string& path) {
  // What cannot be looked at might be a pipe, which must not be replaced by a file.
  BS_ASSIGN(const struct stat status, StatusOf(path));
  const bool exists = status.st_mode != 0;
  if (exists && S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::kIo, "cannot write: it is a directory", "name a file in it", path};
  }
  std::unique_ptr<FileSink> sink(new FileSink(path, -1));
  const int named = NamedDescriptor(path);
  if (named < 0) {
    BS_TRY(CheckNoForeignLink(path));
  }
  if (named >= 0) {
    sink->descriptor_ = fcntl(named, F_DUPFD_CLOEXEC, 0);
  } else if (exists && !S_ISREG(status.st_mode)) {
    sink->descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    BS_ASSIGN(const fs::path target, BehindLinks(path));
    sink->target_ = target.string();
    if (sink->target_.empty()) {
      return WriteError(path, ELOOP);
    }
    sink->descriptor_ = CreateBeside(sink->target_, 0666, sink->temporary_, sink->unfinished_);
  }
  if (sink->descriptor_ < 0) {
    sink->temporary_.clear();
    return WriteError(path, errno);
  }
  sink->is_terminal_ = isatty(sink->descriptor_) != 0;
  if (exists && !sink->temporary_.empty()) {
    // Not being allowed to keep the old permissions is no reason to keep the old content.
    static_cast<void>(fchmod(sink->descriptor_, status.st_mode & 07777));
  }
  return sink;
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
  if (!temporary_.empty()) {
    const UnfinishedLock lock = LockUnfinished();
    unlink(temporary_.c_str());
    unfinished_.Forget(lock);
  }
}

Result<void> FileSink::Write(std::string_view bytes) {
  // To a terminal, a character that two writes share is lost.
  const int error =
      is_terminal_ ? WriteAll(descriptor_, ToPrintableLines(bytes)) : WriteAll(descriptor_, bytes);
  if (error != 0) {
    return WriteError(path_, error);
  }
  return {};
}

Result<void> FileSink::Close() {
  const int descriptor = std::exchange(descriptor_, -1);
  // Network file systems report a full disk only here.
  if (descriptor >= 0 && close(descriptor) != 0) {
    return WriteError(path_, errno);
  }
  return {};
}

Result<void> FileSink::Commit() {
  BS_TRY(Close());
  if (temporary_.empty()) {
    return {};
  }
  const UnfinishedLock lock = LockUnfinished();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return WriteError(path_, errno);
  }
  unfinished_.Forget(lock);
  temporary_.clear();
  return {};
}

Result<void> WriteFile(const std::string& path, const std::function<Result<void>(Sink&)>& write) {
  BS_ASSIGN(const std::unique_ptr<FileSink> sink, FileSink::Open(path));
  BS_TRY(write(*sink));
  return sink->Commit();
}

}  // namespace borescope::internal
