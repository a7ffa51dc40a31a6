#include "borescope/recorder/run_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "borescope/base/io/file_locks.h"
#include "borescope/recorder/control_page.h"
#include "borescope/recorder/process_facts.h"
#include "borescope/recorder/run_folder.h"

namespace borescope::internal {

namespace {

constexpr size_t kMostTextBytes = 4096;

// The beginning of a text that does not end within a code point.
std::string_view CutText(std::string_view text) {
  if (text.size() <= kMostTextBytes) return text;
  constexpr unsigned char kContinuationMask = 0xc0;
  constexpr unsigned char kContinuation = 0x80;
  const auto continues = [&](size_t at) {
    return (static_cast<unsigned char>(text[at]) & kContinuationMask) == kContinuation;
  };
  size_t length = kMostTextBytes;
  while (length + 3 > kMostTextBytes && continues(length)) --length;
  return text.substr(0, length);
}

}  // namespace

void LogWords::Add(recording::RecordType type, uint32_t a, std::initializer_list<uint64_t> body,
                   std::string_view text) {
  const std::string_view kept = CutText(text);
  const size_t text_words = (kept.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  const size_t padding = text_words * sizeof(uint64_t) - kept.size();
  const uint8_t cut = kept.size() < text.size() ? recording::kIsCut : 0;
  words_.push_back(recording::PackHead({static_cast<uint8_t>(type),
                                        static_cast<uint16_t>(1 + body.size() + text_words),
                                        static_cast<uint8_t>(padding | cut), a}));
  words_.insert(words_.end(), body.begin(), body.end());
  const size_t begin = words_.size();
  words_.resize(begin + text_words);
  if (!kept.empty()) std::memcpy(words_.data() + begin, kept.data(), kept.size());
}

namespace {

using recording::ChunkHeader;
using recording::LogHeader;
using recording::RecordType;

constexpr uint32_t kAlignment = recording::kLeastHeaderBytes;

LogHeader OwnHeader() {
  LogHeader header{};
  std::copy(std::begin(recording::kLogMagic), std::end(recording::kLogMagic), header.magic);
  const std::array<uint8_t, 16> boot = BootId();
  std::copy(boot.begin(), boot.end(), std::begin(header.boot_id));
  const ClockReading clocks = ReadClocks();
  header.version = recording::kLogVersion;
  header.header_bytes = kAlignment;
  header.pid = static_cast<uint32_t>(getpid());
  header.ppid = static_cast<uint32_t>(getppid());
  header.start_time = StartTimeOf(getpid()).value_or(0);
  header.host_hash = HostHash(boot);
  header.mono_ns = clocks.mono_ns;
  header.real_ns = clocks.real_ns;
  header.boot_ns = clocks.boot_ns;
  header.flags = recording::kIsLauncher;
  header.rank = -1;
  header.local_rank = -1;
  header.chunk_alignment = kAlignment;
  return header;
}

// While it lives, no other process finds the end of the file, or writes its header. Nothing keeps
// them from that where the file system has no locks.
class FileLock {
 public:
  // Waits for it. kIo where the system fails: two processes could write to one place.
  static Result<FileLock> Take(int file, const std::string& path) {
    while (flock(file, LOCK_EX) != 0) {
      if (MeansNoLocks(errno)) {
        return FileLock(-1);
      }
      if (errno != EINTR) {
        return Error{ErrorCode::kIo, std::string("cannot be locked: ") + std::strerror(errno),
                     "record to another file system", path};
      }
    }
    return FileLock(file);
  }
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock() {
    if (file_ >= 0) flock(file_, LOCK_UN);
  }

 private:
  explicit FileLock(int file) : file_(file) {}

  int file_;
};

uint64_t RoundUp(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// What a log begins with: which instants of the clocks are the same.
void AddAnchor(LogWords& words) {
  const ClockReading clocks = ReadClocks();
  words.Add(RecordType::kAnchor, 0,
            {clocks.mono_ns, clocks.real_ns, clocks.boot_ns, clocks.half_width_ns});
}

}  // namespace

RunLog::RunLog(int file, std::string path)
    : file_(file), path_(std::move(path)), alignment_(kAlignment) {}

Result<RunLog> RunLog::Open(const std::string& folder, std::string_view name) {
  const std::string path = folder + "/" + std::string(name);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    return Error{
        ErrorCode::kIo, std::string("cannot be opened: ") + std::strerror(errno), {}, path};
  }
  RunLog log(file, path);
  BS_ASSIGN(const FileLock lock, FileLock::Take(file, path));
  struct stat status{};
  if (fstat(file, &status) != 0) {
    return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno), {}, path};
  }
  if (status.st_size == 0) {
    const LogHeader header = OwnHeader();
    if (ftruncate(file, kAlignment) != 0) {
      return Error{
          ErrorCode::kIo, std::string("cannot be made: ") + std::strerror(errno), {}, path};
    }
    if (const Result<void> written = log.Write(&header, sizeof(header), 0); !written.ok()) {
      // With zeros in place of a header it would be no log, and nothing could ever be added to it.
      static_cast<void>(!ftruncate(file, 0));
      return written.error();
    }
  }
  // Of a log that a process made: its own.
  BS_ASSIGN(const LogHeader header, log.ReadHeader());
  constexpr uint32_t kMostAlignment = 1024 * 1024;
  if (header.chunk_alignment >= kAlignment && header.chunk_alignment < kMostAlignment) {
    log.alignment_ = header.chunk_alignment;
  }
  return log;
}

RunLog::RunLog(RunLog&& other) noexcept
    : file_(other.file_),
      path_(std::move(other.path_)),
      chunk_bytes_(other.chunk_bytes_),
      alignment_(other.alignment_),
      at_(other.at_),
      end_(other.end_) {
  other.file_ = -1;
}

RunLog::~RunLog() {
  if (file_ >= 0) close(file_);
}

// Records after a header that is none would be found by nobody.
Result<LogHeader> RunLog::ReadHeader() const {
  LogHeader header{};
  const ssize_t got = ReadAt(file_, 0, &header, sizeof(header));
  if (got < 0) {
    return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno), {}, path_};
  }
  const bool is_log =
      got == ssize_t{sizeof(header)} && std::equal(std::begin(header.magic), std::end(header.magic),
                                                   std::begin(recording::kLogMagic));
  return is_log ? Result(header)
                : Error{ErrorCode::kIo, "is no log of a recording", "move it elsewhere", path_};
}

Result<void> RunLog::Write(const void* bytes, size_t count, uint64_t offset) const {
  const auto* rest = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = pwrite(file_, rest, count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return Error{
          ErrorCode::kIo, std::string("cannot be written: ") + std::strerror(errno), {}, path_};
    }
    rest += written;
    offset += static_cast<uint64_t>(written);
    count -= static_cast<size_t>(written);
  }
  return {};
}

Result<void> RunLog::BeginChunk(size_t least_bytes) {
  BS_ASSIGN(const FileLock lock, FileLock::Take(file_, path_));
  struct stat status{};
  if (fstat(file_, &status) != 0) {
    return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno), {}, path_};
  }
  const uint64_t begin =
      RoundUp(std::max<uint64_t>(static_cast<uint64_t>(status.st_size), 1), alignment_);
  const uint64_t bytes = RoundUp(std::max<uint64_t>(chunk_bytes_, least_bytes), kAlignment);
  if (ftruncate(file_, static_cast<off_t>(begin + bytes)) != 0) {
    return Error{ErrorCode::kIo, std::string("cannot grow: ") + std::strerror(errno), {}, path_};
  }
  ChunkHeader header{};
  header.magic = recording::kChunkMagic;
  header.bytes = static_cast<uint32_t>(bytes);
  header.sequence = begin / alignment_ - 1;
  header.kind = recording::ChunkKind::kSamples;
  header.tid = static_cast<uint32_t>(getpid());
  header.first_ns = MonotonicNow();
  BS_TRY(Write(&header, sizeof(header), begin));
  at_ = begin + sizeof(header);
  end_ = begin + bytes;
  return {};
}

// The first word comes last: until then, readers see the chunk end before these records.
Result<void> RunLog::Append(std::span<const uint64_t> records) {
  if (records.empty()) return {};
  if (end_ - at_ < records.size_bytes()) {
    LogWords anchor;
    AddAnchor(anchor);
    BS_TRY(BeginChunk(sizeof(ChunkHeader) + anchor.words().size_bytes() + records.size_bytes()));
    BS_TRY(Append(anchor.words()));
  }
  constexpr size_t kWord = sizeof(uint64_t);
  BS_TRY(Write(records.data() + 1, records.size_bytes() - kWord, at_ + kWord));
  BS_TRY(Write(records.data(), kWord, at_));
  at_ += records.size_bytes();
  return {};
}

std::string MarksLogName() { return HostFileName() + ".marks" + recording::kLogSuffix; }

std::string OwnLogName() {
  return HostFileName() + "." + std::to_string(getpid()) + "." +
         std::to_string(StartTimeOf(getpid()).value_or(0)) + ".0" + recording::kLogSuffix;
}

Result<void> NoteEnd(const std::string& folder, std::string_view log_name, uint64_t ended_ns,
                     int status) {
  BS_ASSIGN(RunLog log, RunLog::Open(folder, log_name));
  log.set_chunk_bytes(kAlignment);
  LogWords words;
  words.Add(RecordType::kEnd, static_cast<uint32_t>(recording::EndKind::kParent),
            {ended_ns, static_cast<uint64_t>(int64_t{status})});
  return log.Append(words.words());
}

Result<void> MarkRun(const std::string& folder, std::string_view text) {
  const uint64_t now = MonotonicNow();
  BS_ASSIGN(ControlPage page, ControlPage::Open(folder));
  BS_ASSIGN(RunLog log, RunLog::Open(folder, MarksLogName()));
  log.set_chunk_bytes(kAlignment);
  LogWords words;
  const auto thread = static_cast<uint32_t>(getpid());
  words.Add(RecordType::kThread, thread, {0, 0}, "borescope record mark");
  words.Add(RecordType::kMark, recording::kDefaultDomain, {now}, text);
  BS_TRY(log.Append(words.words()));
  page.CountMark();
  return {};
}

}  // namespace borescope::internal
