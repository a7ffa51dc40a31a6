#include "borescope/store/trace_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/store/store_folder.h"
#include "borescope/store/stored_trace.h"

namespace borescope::internal {
namespace {

// What the content of a file was when all of it was read.
struct SeenRecord {
  std::array<char, 8> magic = kStoredMagic;
  FileIdentity identity;
  int64_t seen_ns = 0;  // when reading began
  ContentHash content;
  ContentHash checksum;  // of this with zeros here
};
static_assert(std::has_unique_object_representations_v<SeenRecord>);

std::string_view BytesOfRecord(const SeenRecord& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

ContentHash ChecksumOf(SeenRecord record, const SecretHash& hash) {
  record.checksum = {};
  return hash.Of(BytesOfRecord(record));
}

// A change that comes so soon after another one may leave the times of a file as they are: clocks
// of file systems go in steps, of 10 ms at most where KeepsChangeTimes.
constexpr int64_t kRacyNs = 2'000'000'000;

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now);
}

// As long as the file had been left alone when reading began, every later change shows in its
// times.
bool WasSettled(const FileIdentity& identity, int64_t seen_ns) {
  return identity.changed_ns < seen_ns - kRacyNs;
}

// The size of a stored trace, as its head says.
uint64_t BytesOfFile(std::string_view piece) {
  StoredHead head;
  std::memcpy(&head, piece.data(), std::min(sizeof head, piece.size()));
  return head.bytes;
}

// An open input, closed with the scope.
class OpenInput {
 public:
  explicit OpenInput(const std::string& path)
      : path_(path),
        descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
        error_(descriptor_ < 0 ? errno : 0) {}
  OpenInput(const OpenInput&) = delete;
  OpenInput& operator=(const OpenInput&) = delete;
  ~OpenInput() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }

  int descriptor() const { return descriptor_; }
  // Why it could not be opened, as errno says; 0 if it was.
  int error() const { return error_; }

  Result<void> Read(uint64_t offset, char* out, size_t bytes) const {
    while (bytes > 0) {
      const ssize_t done = pread(descriptor_, out, bytes, static_cast<off_t>(offset));
      if (done == 0) {
        return Error{ErrorCode::kIo, "became shorter while it was read", {}, path_};
      }
      if (done < 0 && errno != EINTR) {
        return Error{ErrorCode::kIo, std::generic_category().message(errno), {}, path_};
      }
      const auto more = static_cast<size_t>(std::max<ssize_t>(done, 0));
      offset += more;
      out += more;
      bytes -= more;
    }
    return {};
  }

 private:
  const std::string& path_;
  int descriptor_;
  int error_;
};

}  // namespace

Result<std::shared_ptr<TraceStore>> TraceStore::Open(const std::string& folder,
                                                     uint64_t most_bytes) {
  if (!BuildIdentity().has_value()) {
    return Error{ErrorCode::kIo,
                 "this build of borescope has no build id, by which it knows its own files again",
                 "link it with --build-id, or use no cache", folder};
  }
  BS_TRY(MakeStoreFolder(folder));
  BS_ASSIGN(const SecretHash::Secret secret, SecretOfFolder(folder));
  return std::shared_ptr<TraceStore>(new TraceStore(folder, most_bytes, secret));
}

std::string TraceStore::SeenPath(const FileIdentity& identity) const {
  const std::array<uint64_t, 2> place = {identity.device, identity.inode};
  return folder_ + "/" +
         HexOf(hash_.Of({reinterpret_cast<const char*>(place.data()), sizeof place})) +
         std::string(kSeenEnding);
}

// Of the build as well: each has files of its own.
std::string TraceStore::TracePath(const ContentHash& content) const {
  const std::string text =
      *BuildIdentity() +
      std::string(reinterpret_cast<const char*>(content.words.data()), sizeof content.words);
  return folder_ + "/" + HexOf(hash_.Of(text)) + std::string(kTraceEnding);
}

std::optional<ContentHash> TraceStore::Remembered(const FileIdentity& identity) const {
  const std::string path = SeenPath(identity);
  const Result<std::shared_ptr<const PrivateFile>> file = PrivateFile::Map(path);
  SeenRecord record;
  if (!file.ok() || (*file)->bytes().size() != sizeof record) {
    return std::nullopt;
  }
  std::memcpy(static_cast<void*>(&record), (*file)->bytes().data(), sizeof record);
  if (record.checksum != ChecksumOf(record, hash_) || record.identity != identity ||
      !WasSettled(identity, record.seen_ns)) {
    return std::nullopt;
  }
  MarkUsed(path);
  return record.content;
}

void TraceStore::Remember(const InputContent& content, int64_t seen_ns) const {
  SeenRecord record;
  record.identity = content.identity;
  record.seen_ns = seen_ns;
  record.content = content.hash;
  record.checksum = ChecksumOf(record, hash_);
  // Without it the file is read once more.
  static_cast<void>(WritePrivateFile(
      SeenPath(content.identity), [&](const PutPiece& put) { return put(BytesOfRecord(record)); }));
}

Result<InputContent> TraceStore::ContentOf(const std::string& path, int threads) {
  const OpenInput input(path);
  if (input.error() != 0) {
    return Error{ErrorCode::kIo, std::generic_category().message(input.error()), {}, path};
  }
  const std::optional<FileIdentity> identity = FileIdentity::OfDescriptor(input.descriptor());
  if (!identity.has_value()) {
    return Error{ErrorCode::kIo, "is no ordinary file", {}, path};
  }
  const bool keeps_times = KeepsChangeTimes(input.descriptor());
  if (keeps_times) {
    if (const std::optional<ContentHash> known = Remembered(*identity)) {
      return InputContent{*known, *identity, /*is_settled=*/true};
    }
  }
  const int64_t begin_ns = NowNs();
  BS_ASSIGN(const ContentHash hash,
            hash_.Of(identity->bytes, threads, [&](uint64_t offset, char* out, size_t bytes) {
              return input.Read(offset, out, bytes);
            }));
  const InputContent content{hash, *identity, keeps_times && WasSettled(*identity, begin_ns)};
  if (FileIdentity::OfDescriptor(input.descriptor()) != identity) {
    return Error{ErrorCode::kIo, "changed while it was read", {}, path};
  }
  if (content.is_settled) {
    Remember(content, begin_ns);
  }
  return content;
}

// Hashed twice, so that no file has the content that this would be the hash of: whoever makes files
// does not know the hash of the text.
InputContent TraceStore::ContentCalled(std::string_view identity) const {
  const ContentHash text = hash_.Of(identity);
  return {hash_.Of("called " + std::string(RawBytes(text))), {}, /*is_settled=*/true};
}

bool TraceStore::IsStill(const std::string& path, const InputContent& content, int threads) {
  if (FileIdentity::Of(path) != content.identity) {
    return false;
  }
  if (content.is_settled) {
    return true;
  }
  const Result<InputContent> now = ContentOf(path, threads);
  return now.ok() && now->hash == content.hash;
}

bool TraceStore::Has(const InputContent& content) const {
  const Result<FileKind> kind = KindOf(TracePath(content.hash));
  return kind.ok() && *kind == FileKind::kFile;
}

Result<std::optional<StoredTrace>> TraceStore::Find(const InputContent& content,
                                                    const StoredSource& source, int threads) {
  const std::string path = TracePath(content.hash);
  BS_ASSIGN(const FileKind kind, KindOf(path));
  if (kind == FileKind::kNothing) {
    return std::optional<StoredTrace>();
  }
  const Result<std::shared_ptr<const PrivateFile>> opened = PrivateFile::Map(path);
  if (!opened.ok()) {
    // Another process may have removed it just now.
    BS_ASSIGN(const FileKind now, KindOf(path));
    return now == FileKind::kNothing ? std::optional<StoredTrace>()
                                     : Result<std::optional<StoredTrace>>(opened.error());
  }
  const std::shared_ptr<const PrivateFile>& file = *opened;
  Result<StoredTrace> stored =
      ReadStoredTrace(file->bytes(), file, content.hash, source, hash_, threads);
  if (!stored.ok()) {
    return InFile(path, stored.error());
  }
  MarkUsed(path);
  return std::optional(std::move(*stored));
}

Result<void> TraceStore::Keep(const InputContent& content, const Trace& trace,
                              const TraceIndex& index, int threads) {
  bool is_first = true;
  BS_TRY(WritePrivateFile(TracePath(content.hash), [&](const PutPiece& put) {
    return WriteStoredTrace(
        trace, index, content.hash, hash_, threads, [&](std::string_view piece) -> Result<void> {
          const bool is_head = std::exchange(is_first, false);
          return is_head && BytesOfFile(piece) > most_bytes_
                     ? UsageError("the indexed trace is larger than `cache_size`", {}, "cache_size")
                     : put(piece);
        });
  }));
  RemoveOldest(folder_, most_bytes_);
  return {};
}

}  // namespace borescope::internal
