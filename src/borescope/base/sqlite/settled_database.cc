#include "borescope/base/sqlite/settled_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/file_locks.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJournal = "-journal";
constexpr std::string_view kLog = "-wal";

Error CannotTell(const std::string& path, int error) {
  if (error == ENOMEM) {
    throw std::bad_alloc();  // which has nothing to do with the file
  }
  return {ErrorCode::kIo,
          std::string("the system cannot tell whether another program is writing it: ") +
              std::strerror(error),
          "copy it to a local disk and try again", path};
}

// Whether another process holds the lock under which SQLite writes pages: on the first of 512 bytes
// after the first GiB of the file while it waits for readers to leave, and on the last 510 from
// then on (https://www.sqlite.org/lockingv3.html). Nobody holds it where the file system has none.
Result<bool> IsBeingWritten(const std::string& path) {
  constexpr off_t kPending = 0x40000000;
  constexpr off_t kShared = kPending + 2;
  constexpr off_t kSharedBytes = 510;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) {
    return CannotTell(path, errno);
  }
  for (const auto& [begin, count] :
       {std::pair(kPending, off_t{1}), std::pair(kShared, kSharedBytes)}) {
    struct flock lock{};
    lock.l_type = F_RDLCK;  // which only a lock for writing is in the way of
    lock.l_whence = SEEK_SET;
    lock.l_start = begin;
    lock.l_len = count;
    if (fcntl(file.number(), F_GETLK, &lock) != 0) {
      return MeansNoLocks(errno) ? Result(false) : CannotTell(path, errno);
    }
    if (lock.l_type == F_WRLCK) {
      return true;
    }
  }
  return false;
}

// A journal that begins with a 0 was used and is left. One that cannot be read may be in use.
bool IsInUse(const std::string& journal) {
  const Result<std::string> begin = BeginOfFile(journal, 1);
  return !begin.ok() || *begin != std::string(1, '\0');
}

Result<bool> IsLogged(const std::string& path) {
  constexpr size_t kReadVersion = 19;  // of the header; 2: rows may be in a log
  BS_ASSIGN(const std::string header, BeginOfFile(path, kReadVersion + 1));
  return header.size() > kReadVersion && header.back() == 2;
}

// The names in its folder that lead to the same file, as links to it do.
Result<std::vector<std::string>> NamesOf(const std::string& path, const FileState& state) {
  std::vector<std::string> names = {path};
  if (state.names > 1) {
    const fs::path folder = fs::path(path).parent_path();
    BS_ASSIGN(const std::vector<std::string> others, NamesIfAny(folder.string()));
    for (const std::string& other : others) {
      const std::string name = (folder / other).string();
      BS_ASSIGN(const std::optional<FileState> other_state, FileState::Of(name));
      BS_ASSIGN(const struct stat itself, StatusOfLink(name));
      if (name != path && other_state == state && !S_ISLNK(itself.st_mode)) {
        names.push_back(name);
      }
    }
  }
  return names;
}

// What SQLite would read beside the file.
struct Beside {
  std::string path;
  std::string_view ending;
  FileState state;

  bool operator==(const Beside&) const = default;
};

Result<std::vector<Beside>> FindBeside(const std::vector<std::string>& names) {
  std::vector<Beside> found;
  for (const std::string& name : names) {
    for (const std::string_view ending : {kJournal, kLog}) {
      const std::string path = name + std::string(ending);
      BS_ASSIGN(const std::optional<FileState> state, FileState::Of(path));
      if (state.has_value() && state->bytes > 0 && (ending == kLog || IsInUse(path))) {
        found.push_back({path, ending, *state});
      }
    }
  }
  return found;
}

Error CannotCopy(const std::string& path, const std::string& folder, const std::string& cause) {
  return {ErrorCode::kIo,
          "has a journal or a log beside it, and the private copy in " + folder +
              " in which SQLite puts them together cannot be written: " + cause,
          "free space there, name another folder with TMPDIR, or run sqlite3 FILE .tables, which "
          "changes the file",
          path};
}

Result<void> CopyFile(const Beside& file, const std::string& to, const std::string& path,
                      const std::string& folder) {
  constexpr size_t kPiece = size_t{4} << 20;
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(file.path));
  std::ofstream out(to, std::ios::binary);
  if (!out) {
    return CannotCopy(path, folder, std::strerror(errno));
  }
  std::string piece(kPiece, '\0');
  for (size_t size = kPiece; size == kPiece;) {
    BS_ASSIGN(size, ReadFully(*source, piece.data(), kPiece));
    if (!out.write(piece.data(), static_cast<std::streamsize>(size))) {
      return CannotCopy(path, folder, std::strerror(errno));
    }
  }
  return out.flush() ? Result<void>() : CannotCopy(path, folder, std::strerror(errno));
}

// Lets SQLite undo what was not committed, and take the rows of the log into the file.
Result<void> Settle(const std::string& copy, const std::string& path, const std::string& folder) {
  const int status =
      RunConfined(copy, "SELECT count(*) FROM sqlite_master; PRAGMA journal_mode=DELETE");
  BS_ASSIGN(const bool is_logged, IsLogged(copy));
  if (status == SQLITE_OK && !is_logged) {
    return {};
  }
  if (status == SQLITE_NOMEM) {
    throw std::bad_alloc();  // no fault of the files
  }
  if (status == SQLITE_FULL || status == SQLITE_IOERR || status == SQLITE_CANTOPEN ||
      status == SQLITE_BUSY || status == SQLITE_READONLY) {
    return CannotCopy(path, folder, sqlite3_errstr(status));
  }
  return Error{ErrorCode::kCorrupt,
               std::string("SQLite cannot put the file and what is beside it together: ") +
                   sqlite3_errstr(status),
               "copy all of them again, or try sqlite3's .recover", path};
}

// False where one of the files changed meanwhile.
Result<bool> CopyAll(const std::string& path, const FileState& state,
                     const std::vector<std::string>& names, const std::string& folder) {
  const std::string copy = folder + "/database";
  BS_ASSIGN(const std::vector<Beside> beside, FindBeside(names));
  std::vector<Beside> files = beside;
  files.push_back({path, "", state});
  for (const Beside& file : files) {
    Result<void> copied = CopyFile(file, copy + std::string(file.ending), path, folder);
    BS_ASSIGN(const std::optional<FileState> now, FileState::Of(file.path));
    if (now != file.state) {
      return false;
    }
    BS_TRY(std::move(copied));
  }
  BS_ASSIGN(const std::vector<Beside> beside_now, FindBeside(names));
  BS_ASSIGN(const bool is_busy, IsBeingWritten(path));
  return !is_busy && beside_now == beside;
}

// Nothing where one of the files changed meanwhile.
Result<std::optional<TemporaryFolder>> TryCopy(const std::string& path, const FileState& state,
                                               const std::vector<std::string>& names) {
  BS_ASSIGN(TemporaryFolder folder, TemporaryFolder::Make());
  std::error_code error;
  const std::string inside = fs::canonical(folder.path(), error).string();
  if (error) {
    return CannotCopy(path, folder.path(), error.message());
  }
  BS_ASSIGN(const bool is_whole, CopyAll(path, state, names, inside));
  if (!is_whole) {
    return std::optional<TemporaryFolder>();
  }
  BS_TRY(Settle(inside + "/database", path, inside));
  return std::optional<TemporaryFolder>(std::move(folder));
}

// Beside which of two names SQLite would look depends on the program that wrote there.
bool HasTwoOfAKind(const std::vector<Beside>& beside) {
  const auto is_log = [](const Beside& file) { return file.ending == kLog; };
  const auto logs = std::count_if(beside.begin(), beside.end(), is_log);
  return logs > 1 || static_cast<std::ptrdiff_t>(beside.size()) - logs > 1;
}

Error LogMayBeElsewhere(const std::string& path) {
  return {
      ErrorCode::kIo,
      "has another name in another folder (a hard link), and its newest rows may be in a log there",
      "give that name, or a copy if no program writes it", path};
}

Error TwoOfAKind(const std::string& path) {
  return {ErrorCode::kIo,
          "has several names (hard links), and a journal or a log beside two of them",
          "give a copy of the file and of the journal or log that belongs to it", path};
}

Error BeingWritten(const std::string& path) {
  return {ErrorCode::kIo, "another program is writing it",
          "wait until it has finished, then try again", path};
}

}  // namespace

Result<SettledDatabase> SettleDatabase(const std::string& path) {
  constexpr int kTries = 5;
  constexpr std::chrono::milliseconds kPause(50);
  BS_ASSIGN(const std::string real, PathWithoutLinks(path));
  for (int i = 0; i < kTries; ++i) {
    CheckStop();
    BS_ASSIGN(const std::optional<FileState> state, FileState::Of(real));
    if (!state.has_value()) {
      return SettledDatabase{real};
    }
    BS_ASSIGN(const std::vector<std::string> names, NamesOf(real, *state));
    BS_ASSIGN(const bool is_busy, IsBeingWritten(real));
    BS_ASSIGN(const std::vector<Beside> beside, FindBeside(names));
    if (HasTwoOfAKind(beside)) {
      return TwoOfAKind(path);
    }
    BS_ASSIGN(const std::optional<FileState> after, FileState::Of(real));
    if (!is_busy && beside.empty() && after == state) {
      BS_ASSIGN(const bool is_logged, IsLogged(real));
      if (names.size() < state->names && is_logged) {
        return LogMayBeElsewhere(path);
      }
      return SettledDatabase{real};
    }
    if (!is_busy && !beside.empty()) {
      BS_ASSIGN(std::optional<TemporaryFolder> copy, TryCopy(real, *state, names));
      if (copy.has_value()) {
        std::string inside = copy->path() + "/database";
        return SettledDatabase{std::move(inside), std::move(copy)};
      }
    }
    std::this_thread::sleep_for(kPause);
  }
  return BeingWritten(path);
}

Result<bool> MayHaveRowsBeside(const std::string& path) {
  BS_ASSIGN(const std::string begin, BeginOfFile(path, kSqliteMagic.size()));
  if (!begin.empty() && begin != kSqliteMagic) {
    return false;
  }
  BS_ASSIGN(const std::string real, PathWithoutLinks(path));
  BS_ASSIGN(const std::optional<FileState> state, FileState::Of(real));
  if (!state.has_value()) {
    return false;
  }
  BS_ASSIGN(const std::vector<std::string> names, NamesOf(real, *state));
  BS_ASSIGN(const std::vector<Beside> beside, FindBeside(names));
  if (!beside.empty() || names.size() == state->names) {
    return !beside.empty();
  }
  return IsLogged(real);
}

}  // namespace borescope::internal
