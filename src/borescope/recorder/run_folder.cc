#include "borescope/recorder/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>

#include "borescope/base/io/foreign_links.h"
#include "borescope/base/io/paths.h"
#include "borescope/recorder/process_facts.h"
#include "borescope/recording/job_variables.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

namespace {

int FirstNumber(std::span<const char* const> variables) {
  for (const char* const variable : variables) {
    const char* const value = std::getenv(variable);
    const std::string_view text = value == nullptr ? "" : value;
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  }
  return -1;
}

// The value of the placeholder at the beginning of `rest`, which is advanced beyond it; nothing for
// an unknown one.
std::optional<std::string> TakePlaceholder(std::string_view& rest) {
  const char kind = rest.empty() ? '\0' : rest.front();
  rest.remove_prefix(rest.empty() ? 0 : 1);
  switch (kind) {
    case '%':
      return "%";
    case 'h':
      return HostName();
    case 'p':
      return std::to_string(getpid());
    case 'r':
      return RankByEnvironment() < 0 ? std::nullopt
                                     : std::optional(std::to_string(RankByEnvironment()));
    case 'q':
      break;
    default:
      return std::nullopt;
  }
  const size_t end = rest.find('}');
  if (!rest.starts_with('{') || end == std::string_view::npos) return std::nullopt;
  const std::string variable(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  const char* const value = std::getenv(variable.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool EndsWithAny(std::string_view text, std::span<const std::string_view> endings,
                 std::string_view* found) {
  for (const std::string_view ending : endings) {
    if (text.size() > ending.size() && text.ends_with(ending)) {
      *found = ending;
      return true;
    }
  }
  return false;
}

// A name that cannot be looked at is taken: making the folder says what is wrong.
std::string FirstFreeFolder() {
  std::string name = std::string("recording") + recording::kRunSuffix;
  for (int i = 2;; ++i) {
    const Result<FileKind> kind = KindOf(name);
    if (!kind.ok() || *kind == FileKind::kNothing) return name;
    name = "recording-" + std::to_string(i) + recording::kRunSuffix;
  }
}

}  // namespace

int RankByEnvironment() { return FirstNumber(recording::kRankVariables); }

Result<std::string> ExpandRunName(std::string_view name) {
  std::string expanded;
  for (std::string_view rest = name; !rest.empty();) {
    const size_t plain = std::min(rest.find('%'), rest.size());
    expanded += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    rest.remove_prefix(1);
    const std::string_view before = rest;
    const std::optional<std::string> value = TakePlaceholder(rest);
    const std::string shown = "%" + std::string(before.substr(0, before.size() - rest.size()));
    if (!value.has_value()) {
      return UsageError(std::string(name) + ": " + shown + " has no value here",
                        "placeholders are %h (host), %p (process), %r (rank of a distributed job), "
                        "%q{VARIABLE} and %%");
    }
    if (value->find('/') != std::string::npos || *value == "..") {
      return UsageError(std::string(name) + ": the value of " + shown +
                        " has a slash or dots, which would name another folder");
    }
    expanded += *value;
  }
  return expanded;
}

Result<RunTarget> TargetOfRun(std::string_view output) {
  constexpr std::string_view kConverted[] = {".rpd",  ".json.gz", ".json.zst",
                                             ".json", ".pftrace", ".perfetto-trace"};
  if (output.empty()) return RunTarget{FirstFreeFolder(), ""};
  BS_ASSIGN(std::string name, ExpandRunName(output));
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  const std::string last = std::filesystem::path(name).filename().string();
  if (last.empty() || last == "." || last == "..") {
    return UsageError(
        std::string(output) + ": names a folder that is there, and none for the run",
        "name one within it, such as " + (std::filesystem::path(name) / "train").string());
  }
  if (name.ends_with(recording::kRunSuffix)) return RunTarget{name, ""};
  std::string_view ending;
  if (!EndsWithAny(name, kConverted, &ending)) {
    return RunTarget{name + recording::kRunSuffix, ""};
  }
  return RunTarget{name.substr(0, name.size() - ending.size()) + recording::kRunSuffix, name};
}

namespace {

// linux/magic.h, and the documentation of file systems that the kernel does not have.
constexpr uint64_t kNetwork[] = {
    0x6969,      // NFS
    0xfe534d42,  // SMB 2
    0xff534d42,  // CIFS
    0x517b,      // SMB
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x00c36400,  // Ceph
    0x19830326,  // BeeGFS
    0x65735546,  // FUSE
    0x01021997,  // 9P
    0x5346414f,  // AFS
    0xaad7aaea,  // PanFS
};

}  // namespace

bool IsNetworkFileSystem(uint64_t type) {
  return std::find(std::begin(kNetwork), std::end(kNetwork), type & 0xffffffffU) !=
         std::end(kNetwork);
}

bool IsOnNetwork(const std::string& folder) {
  struct statfs found = {};
  return statfs(folder.c_str(), &found) == 0 &&
         IsNetworkFileSystem(static_cast<uint64_t>(found.f_type));
}

ssize_t ReadAt(int file, uint64_t offset, void* bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    const ssize_t got = pread(file, static_cast<char*>(bytes) + done, count - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

namespace {

namespace fs = std::filesystem;
using recording::LogHeader;

bool IsLogName(std::string_view name) { return name.ends_with(recording::kLogSuffix); }

Error Failure(const std::string& path, std::string_view what, const std::error_code& error) {
  return {ErrorCode::kIo, std::string(what) + ": " + error.message(), {}, path};
}

// Whether it is a folder, and all that is in it was written by a recording.
Result<bool> HoldsRecordingOnly(const std::string& folder) {
  BS_ASSIGN(const FileKind kind, KindOf(folder));
  if (kind != FileKind::kFolder) return false;
  BS_ASSIGN(const std::vector<std::string> names, NamesIn(folder));
  bool has_control = false;
  for (const std::string& name : names) {
    if (name != recording::kControlName && !IsLogName(name)) return false;
    has_control = has_control || name == recording::kControlName;
  }
  return has_control;
}

Result<void> RemoveOld(const std::string& folder, bool replaces) {
  if (!replaces) {
    return Error{ErrorCode::kInvalidArgument, "exists",
                 "name another one with -o, or replace it with `replace`", folder};
  }
  BS_ASSIGN(const bool is_recording, HoldsRecordingOnly(folder));
  if (!is_recording) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "is no recording, so `replace` leaves it alone",
                 .remedy = "name another one with -o",
                 .file = folder,
                 .parameter = "replace"};
  }
  BS_ASSIGN(const std::vector<LogFile> logs, ListLogs(folder));
  if (std::any_of(logs.begin(), logs.end(), [](const LogFile& log) { return log.is_alive; })) {
    return Error{ErrorCode::kInvalidArgument, "a process still writes to it",
                 "end it, or name another one", folder};
  }
  std::error_code error;
  fs::remove_all(folder, error);
  return error ? Result<void>(Failure(folder, "cannot be replaced", error)) : Result<void>();
}

// Nothing of what is no log, and of a file that has gone or is a link, which no process writes
// through. Any other refusal is an error: a log that is left out may be one that a process still
// writes. With `is_hidden`, that says whether permissions hide it, which is no error then.
Result<std::optional<LogHeader>> ReadHeader(const fs::path& path, bool* is_hidden) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    if (is_hidden != nullptr) *is_hidden = errno == EACCES;
    const bool is_none = errno == ENOENT || errno == ELOOP || errno == ENXIO ||
                         (errno == EACCES && is_hidden != nullptr);
    return is_none ? Result<std::optional<LogHeader>>(std::nullopt)
                   : Failure(path.string(), "cannot be opened",
                             std::error_code(errno, std::generic_category()));
  }
  LogHeader header{};
  const ssize_t bytes = ReadAt(file, 0, &header, sizeof header);
  const int error = errno;
  close(file);
  if (bytes < 0 && error != EISDIR) {
    return Failure(path.string(), "cannot be read",
                   std::error_code(error, std::generic_category()));
  }
  const bool is_log = bytes == static_cast<ssize_t>(sizeof header) &&
                      std::equal(std::begin(header.magic), std::end(header.magic),
                                 std::begin(recording::kLogMagic)) &&
                      header.version == recording::kLogVersion;
  return is_log ? std::optional(header) : std::nullopt;
}

void Seal(const std::string& path, uint32_t flags) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  const uint32_t sealed = flags | recording::kSealed;
  static_cast<void>(!pwrite(file, &sealed, sizeof sealed, offsetof(LogHeader, flags)));
  close(file);
}

}  // namespace

bool IsOfThisMachine(const LogHeader& header) {
  constexpr std::array<uint8_t, 16> kUnknown{};
  const std::array<uint8_t, 16> boot = BootId();
  if (boot == kUnknown) return true;
  // A process without /proc knows the name of the machine alone.
  if (std::equal(kUnknown.begin(), kUnknown.end(), std::begin(header.boot_id))) {
    return header.host_hash == HostHash(kUnknown);
  }
  return std::equal(boot.begin(), boot.end(), std::begin(header.boot_id));
}

bool IsWriterAlive(const LogHeader& header) {
  return IsOfThisMachine(header) && StillRuns(header.pid, header.start_time);
}

Result<void> MakeRunFolder(const std::string& folder, bool replaces) {
  BS_TRY(CheckNoForeignLink(folder));
  // Where permissions hide what may be there, making it says so.
  BS_ASSIGN(const struct stat old, StatusOfLink(folder));
  if (old.st_mode != 0) {
    BS_TRY(RemoveOld(folder, replaces));
  }
  if (mkdir(folder.c_str(), 0700) != 0) {
    const int why = errno;
    Error failure = Failure(folder, "cannot be made", {why, std::generic_category()});
    if (why == ENOENT) failure.remedy = "make the folder that it is to lie in";
    return failure;
  }
  return {};
}

Result<std::vector<LogFile>> ListLogs(const std::string& folder, std::vector<std::string>* hidden) {
  std::vector<LogFile> logs;
  BS_ASSIGN(const std::vector<std::string> names, NamesIn(folder));
  for (const std::string& name : names) {
    const fs::path path = fs::path(folder) / name;
    if (!IsLogName(name)) continue;
    bool is_hidden = false;
    BS_ASSIGN(const std::optional<LogHeader> header,
              ReadHeader(path, hidden == nullptr ? nullptr : &is_hidden));
    if (is_hidden) hidden->push_back(name);
    if (!header.has_value()) continue;
    BS_ASSIGN(const uint64_t bytes, SizeOfFile(path.string()));
    logs.push_back({name, *header, bytes, IsWriterAlive(*header)});
  }
  return logs;
}

void SealEnded(const std::string& folder, const std::vector<LogFile>& logs) {
  for (const LogFile& log : logs) {
    if (!log.is_alive && !log.is_sealed()) Seal(folder + "/" + log.name, log.header.flags);
  }
}

}  // namespace borescope::internal
