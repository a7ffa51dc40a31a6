#include "borescope/ingest/recording/log_chunks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

#include "borescope/base/stop.h"

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

namespace {

using recording::ChunkHeader;
using recording::LogHeader;

uint64_t AlignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Whether a chunk of a ring was given to other records after its header was read.
bool IsUsedAgain(const LogSource& source, const LogChunk& chunk) {
  ChunkHeader now{};
  source.Read(chunk.offset, &now, sizeof(now));
  return now.magic != chunk.header.magic || now.generation != chunk.header.generation;
}

}  // namespace

uint64_t ChunkAlignmentOf(const LogHeader& header) {
  const uint64_t alignment = header.chunk_alignment;
  return std::has_single_bit(alignment) && alignment >= recording::kLeastHeaderBytes
             ? alignment
             : recording::kLeastHeaderBytes;
}

bool IsLogChunk(const ChunkHeader& header) {
  const bool has_magic =
      header.magic == recording::kChunkMagic || header.magic == recording::kReusedChunkMagic;
  return has_magic && header.bytes >= sizeof(ChunkHeader) &&
         header.bytes <= recording::kMostChunkBytes && header.bytes % sizeof(uint64_t) == 0;
}

void SortChunks(std::vector<LogChunk>& chunks) {
  std::stable_sort(chunks.begin(), chunks.end(), [](const LogChunk& a, const LogChunk& b) {
    return std::tuple(a.header.first_ns, a.header.generation, a.header.sequence) <
           std::tuple(b.header.first_ns, b.header.generation, b.header.sequence);
  });
}

bool IsRecordingLog(std::string_view begin) {
  return begin.starts_with(std::string_view(recording::kLogMagic, sizeof(recording::kLogMagic)));
}

Result<LogHeader> ReadLogHeader(const LogSource& source, const std::string& name) {
  LogHeader header{};
  const size_t bytes = source.Read(0, &header, sizeof(header));
  if (!source.failure().ok()) {  // which says nothing about what the file is
    return InFile(name, source.failure().error());
  }
  if (!IsRecordingLog({header.magic, std::min(bytes, sizeof(header.magic))})) {
    return Error{.code = ErrorCode::kUnsupportedFormat,
                 .cause = "this is no log of borescope record",
                 .remedy = "give the folder of a run",
                 .file = name,
                 .offset = 0};
  }
  if (bytes < sizeof(header)) {
    return Error{.code = ErrorCode::kCorrupt,
                 .cause = "the log ends in its header",
                 .remedy = "copy the file again",
                 .file = name,
                 .offset = bytes};
  }
  if (header.version != recording::kLogVersion) {
    return Error{.code = ErrorCode::kUnsupportedFormat,
                 .cause = "a log of version " + std::to_string(header.version) + ", and only " +
                          std::to_string(recording::kLogVersion) + " is read",
                 .remedy = "take the borescope that recorded it",
                 .file = name,
                 .offset = offsetof(recording::LogHeader, version)};
  }
  return header;
}

std::vector<LogChunk> FindChunks(const LogSource& source, const LogHeader& header,
                                 Diagnostics& diagnostics) {
  std::vector<LogChunk> chunks;
  const uint64_t alignment = ChunkAlignmentOf(header);
  bool is_hole = false;  // whether a place without a chunk precedes
  uint64_t offset = AlignUp(std::max<uint64_t>(header.header_bytes, 1), alignment);
  for (size_t turn = 0; offset < source.size(); ++turn) {
    CheckStopAt(turn);
    LogChunk chunk{offset, 0, {}};
    source.Read(offset, &chunk.header, sizeof(chunk.header));
    offset += alignment;
    if (chunk.header.magic == 0) {
      is_hole = true;  // taken, but not begun; at the end it is room for what did not come
      continue;
    }
    if (!IsLogChunk(chunk.header)) {
      diagnostics.Count(Diag::kTornChunk, chunk.offset, "a chunk without a usable header");
      is_hole = false;
      continue;
    }
    if (std::exchange(is_hole, false)) {
      diagnostics.Count(Diag::kTornChunk, chunk.offset, "a chunk that was not begun, before this");
    }
    if (chunk.header.magic == recording::kReusedChunkMagic) {
      offset = AlignUp(chunk.offset + chunk.header.bytes, alignment);
      continue;  // of a ring: it was old, and its place was about to be used again
    }
    chunk.bytes =
        static_cast<uint32_t>(std::min<uint64_t>(chunk.header.bytes, source.size() - chunk.offset));
    if (chunk.bytes < chunk.header.bytes) {
      diagnostics.Count(Diag::kTornChunk, chunk.offset, "the log ends in a chunk");
    }
    offset = AlignUp(chunk.offset + chunk.header.bytes, alignment);
    chunks.push_back(chunk);
  }
  SortChunks(chunks);
  return chunks;
}

std::span<const uint64_t> ChunkBuffer::Read(const LogSource& source, const LogChunk& chunk,
                                            bool is_ring) {
  constexpr size_t kHeaderBytes = sizeof(ChunkHeader);
  const size_t bytes = chunk.bytes - std::min<size_t>(chunk.bytes, kHeaderBytes);
  words_.resize(std::max(words_.size(), bytes / sizeof(uint64_t)));
  const size_t read = source.Read(chunk.offset + kHeaderBytes, words_.data(),
                                  bytes / sizeof(uint64_t) * sizeof(uint64_t));
  if (is_ring && IsUsedAgain(source, chunk)) return {};
  return std::span(words_).first(read / sizeof(uint64_t));
}

}  // namespace borescope::internal
