#include "borescope/recorder/run_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "borescope/recorder/control_page.h"
#include "borescope/recorder/process_facts.h"
#include "borescope/recorder/run_folder.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {
namespace {

using recording::ChunkHeader;

class File {
 public:
  File(const std::string& path, int flags)
      : path_(path), file_(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ >= 0) close(file_);
  }

  bool is_open() const { return file_ >= 0; }
  int number() const { return file_; }
  Error Failure(const char* what) const {
    return {ErrorCode::kIo, std::string(what) + ": " + std::strerror(errno), {}, path_};
  }
  // As many bytes as asked for; fewer only at the end of the file.
  Result<size_t> Read(uint64_t offset, void* bytes, size_t count) const {
    const ssize_t got = ReadAt(file_, offset, bytes, count);
    return got < 0 ? Result<size_t>(Failure("cannot be read")) : static_cast<size_t>(got);
  }
  Result<void> Write(uint64_t offset, const void* bytes, size_t count) const {
    const auto* const from = static_cast<const char*>(bytes);
    for (size_t done = 0; done < count;) {
      const ssize_t put =
          pwrite(file_, from + done, count - done, static_cast<off_t>(offset + done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return Failure("cannot be written");
      done += static_cast<size_t>(put);
    }
    return {};
  }
  // To be called once, of a file that was written: some systems report a full disk only here.
  Result<void> Close() {
    const int failed = close(file_);
    file_ = -1;
    return failed == 0 ? Result<void>() : Failure("cannot be written");
  }

 private:
  std::string path_;
  int file_;
};

// Copies one log, chunk by chunk, while its program may write to it.
class LogCopier {
 public:
  LogCopier(const File& from, const File& to, const recording::LogHeader& header, uint64_t until_ns)
      : from_(from), to_(to), header_(header), until_ns_(until_ns) {}

  Result<void> Copy(uint64_t bytes) {
    if (ftruncate(to_.number(), static_cast<off_t>(bytes)) != 0) return to_.Failure("cannot grow");
    const uint64_t alignment = std::has_single_bit(header_.chunk_alignment)
                                   ? std::max(header_.chunk_alignment, kLeast)
                                   : kLeast;
    BS_TRY(CopyHeader());
    uint64_t offset = std::max<uint64_t>(header_.header_bytes, kLeast);
    for (offset = RoundUp(offset, alignment); offset < bytes;) {
      ChunkHeader chunk{};
      BS_TRY(from_.Read(offset, &chunk, sizeof(chunk)));
      const bool is_chunk =
          chunk.magic == recording::kChunkMagic && chunk.bytes >= sizeof(ChunkHeader) &&
          chunk.bytes <= recording::kMostChunkBytes && chunk.bytes <= bytes - offset;
      if (is_chunk && chunk.kind == recording::ChunkKind::kStrings) {
        last_.push_back({offset, chunk});
      } else if (is_chunk) {
        BS_TRY(CopyChunk(offset, chunk));
      }
      offset += is_chunk ? RoundUp(chunk.bytes, alignment) : alignment;
    }
    // What a ring has overwritten by now: readers leave out what was copied before it was.
    for (const auto& [place, chunk] : last_) BS_TRY(CopyChunk(place, chunk));
    return {};
  }

 private:
  static constexpr uint32_t kLeast = recording::kLeastHeaderBytes;
  static uint64_t RoundUp(uint64_t bytes, uint64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  Result<void> CopyHeader() {
    recording::LogHeader header = header_;
    header.flags |= recording::kSealed;
    return to_.Write(0, &header, sizeof(header));
  }

  // As a chunk that holds nothing if its place was given to other records meanwhile, or it began
  // too late: what came between may be in a place that was copied before.
  Result<void> CopyChunk(uint64_t offset, ChunkHeader chunk) {
    const uint64_t begin = offset + sizeof(ChunkHeader);
    words_.assign(chunk.bytes / sizeof(uint64_t), 0);
    BS_ASSIGN(const size_t count,
              from_.Read(begin, words_.data(), chunk.bytes - sizeof(ChunkHeader)));
    ChunkHeader after{};
    BS_TRY(from_.Read(offset, &after, sizeof(after)));
    const bool is_same = after.magic == chunk.magic && after.generation == chunk.generation;
    const bool is_kept =
        is_same && (chunk.first_ns <= until_ns_ || chunk.kind == recording::ChunkKind::kStrings);
    if (!is_kept) chunk.magic = recording::kReusedChunkMagic;
    BS_TRY(to_.Write(offset, &chunk, sizeof(chunk)));
    return is_kept ? to_.Write(begin, words_.data(), count) : Result<void>();
  }

  const File& from_;
  const File& to_;
  const recording::LogHeader& header_;
  uint64_t until_ns_;
  std::vector<uint64_t> words_;
  std::vector<std::pair<uint64_t, ChunkHeader>> last_;
};

Result<void> CopyLog(const std::string& folder, const std::string& output, const LogFile& log,
                     uint64_t until_ns) {
  const File from(folder + "/" + log.name, O_RDONLY);
  if (!from.is_open()) return from.Failure("cannot be opened");
  File to(output + "/" + log.name, O_RDWR | O_CREAT | O_EXCL);
  if (!to.is_open()) return to.Failure("cannot be made");
  BS_TRY(LogCopier(from, to, log.header, until_ns).Copy(log.bytes));
  return to.Close();
}

Result<void> CopyLogs(const std::string& folder, const std::string& output) {
  BS_TRY(ControlPage::Make(output, false));
  const uint64_t until_ns = MonotonicNow();
  BS_ASSIGN(const std::vector<LogFile> logs, ListLogs(folder));
  for (const LogFile& log : logs) {
    BS_TRY(CopyLog(folder, output, log, until_ns));
  }
  return {};
}

}  // namespace

Result<void> CopyRun(const std::string& folder, const std::string& output) {
  BS_ASSIGN(ControlPage page, ControlPage::Open(folder));
  BS_TRY(MakeRunFolder(output, false));
  page.HoldRings();
  Result<void> copied = CopyLogs(folder, output);
  page.LetGoOfRings();
  std::error_code ignored;
  if (!copied.ok()) std::filesystem::remove_all(output, ignored);
  return copied;
}

}  // namespace borescope::internal
