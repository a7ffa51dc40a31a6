#include "borescope/base/sqlite/settled_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kJournal = "-journal";
constexpr std::string_view kLog = "-wal";

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  int number() const { return number_; }

 private:
  int number_;
};

// Whether another process holds the lock under which SQLite writes pages: on the first of 512 bytes
// after the first GiB of the file while it waits for readers to leave, and on the last 510 from
// then on (https://www.sqlite.org/lockingv3.html).
bool IsBeingWritten(const std::string& path) {
  constexpr off_t kPending = 0x40000000;
  constexpr off_t kShared = kPending + 2;
  constexpr off_t kSharedBytes = 510;
  const Descriptor file(path);
  const auto is_locked = [&](off_t begin, off_t count) {
    struct flock lock{};
    lock.l_type = F_RDLCK;  // which only a lock for writing is in the way of
    lock.l_whence = SEEK_SET;
    lock.l_start = begin;
    lock.l_len = count;
    return fcntl(file.number(), F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
  };
  return file.number() >= 0 && (is_locked(kPending, 1) || is_locked(kShared, kSharedBytes));
}

// The first byte of the file; 0 where there is none. A journal that begins with a 0 is not in use.
char FirstByte(const std::string& path) {
  return static_cast<char>(std::max(0, std::ifstream(path, std::ios::binary).get()));
}

bool IsLogged(const std::string& path) {
  constexpr size_t kReadVersion = 19;  // of the header; 2: rows may be in a log
  std::array<char, kReadVersion + 1> header{};
  std::ifstream(path, std::ios::binary).read(header.data(), header.size());
  return header.back() == 2;
}

// The names in its folder that lead to the same file, as links to it do.
std::vector<std::string> NamesOf(const std::string& path, const FileState& state) {
  std::vector<std::string> names = {path};
  if (state.names > 1) {
    std::error_code ignored;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(path).parent_path(), ignored)) {
      const std::optional<FileState> other = FileState::Of(entry.path().string());
      if (other == state && entry.path() != path && !entry.is_symlink(ignored)) {
        names.push_back(entry.path().string());
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
};

std::vector<Beside> FindBeside(const std::vector<std::string>& names) {
  std::vector<Beside> found;
  for (const std::string& name : names) {
    for (const std::string_view ending : {kJournal, kLog}) {
      const std::string path = name + std::string(ending);
      const std::optional<FileState> state = FileState::Of(path);
      if (state.has_value() && state->bytes > 0 && (ending == kLog || FirstByte(path) != 0)) {
        found.push_back({path, ending, *state});
      }
    }
  }
  return found;
}

Error CannotCopy(const std::string& path, const std::string& folder) {
  return {ErrorCode::kIo,
          path + ": has a journal or a log beside it, and the private copy in " + folder +
              " in which SQLite puts them together cannot be written; free space there, "
              "name another folder with TMPDIR, or run sqlite3 FILE .tables, which "
              "changes the file"};
}

Result<void> CopyFile(const std::string& from, const std::string& to, const std::string& folder) {
  constexpr size_t kPiece = size_t{4} << 20;
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(from));
  std::ofstream out(to, std::ios::binary);
  std::string piece(kPiece, '\0');
  for (;;) {
    BS_ASSIGN(const size_t size, ReadFully(*source, piece.data(), kPiece));
    out.write(piece.data(), static_cast<std::streamsize>(size));
    if (size < kPiece) {
      return out.flush() ? Result<void>() : CannotCopy(from, folder);
    }
  }
}

// Lets SQLite undo what was not committed, and take the rows of the log into the file.
Result<void> Settle(const std::string& copy, const std::string& path) {
  sqlite3* opened = nullptr;
  int status =
      sqlite3_open_v2(copy.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> database(opened, sqlite3_close_v2);
  if (status == SQLITE_OK) {
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    status = sqlite3_exec(opened, "SELECT count(*) FROM sqlite_master; PRAGMA journal_mode=DELETE",
                          nullptr, nullptr, nullptr);
  }
  if (status == SQLITE_OK) {
    return {};
  }
  return Error{ErrorCode::kCorrupt,
               path + ": SQLite cannot put the file and what is beside it together: " +
                   sqlite3_errstr(status) + "; copy all of them again, or try sqlite3's .recover"};
}

// Nothing where one of the files changed meanwhile.
Result<std::optional<TemporaryFolder>> TryCopy(const std::string& path, const FileState& state,
                                               const std::vector<std::string>& names) {
  const std::vector<Beside> beside = FindBeside(names);
  BS_ASSIGN(TemporaryFolder folder, TemporaryFolder::Make());
  const std::string copy = folder.path() + "/database";
  BS_TRY(CopyFile(path, copy, folder.path()));
  for (const Beside& file : beside) {
    BS_TRY(CopyFile(file.path, copy + std::string(file.ending), folder.path()));
  }
  const auto is_same = [](const Beside& a, const Beside& b) {
    return a.path == b.path && a.state == b.state;
  };
  const std::vector<Beside> after = FindBeside(names);
  if (IsBeingWritten(path) || FileState::Of(path) != state ||
      !std::equal(beside.begin(), beside.end(), after.begin(), after.end(), is_same)) {
    return std::optional<TemporaryFolder>();
  }
  BS_TRY(Settle(copy, path));
  return std::optional<TemporaryFolder>(std::move(folder));
}

Error LogMayBeElsewhere(const std::string& path) {
  return {ErrorCode::kIo,
          path +
              ": has another name in another folder (a hard link), and its newest rows may be "
              "in a log there; give that name, or a copy if no program writes it"};
}

Error BeingWritten(const std::string& path) {
  return {ErrorCode::kIo,
          path + ": another program is writing it; wait until it has finished, then try again"};
}

}  // namespace

Result<SettledDatabase> SettleDatabase(const std::string& path) {
  constexpr int kTries = 5;
  constexpr std::chrono::milliseconds kPause(50);
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  const std::string real = error ? path : resolved.string();
  for (int i = 0; i < kTries; ++i) {
    CheckStop();
    const std::optional<FileState> state = FileState::Of(real);
    if (!state.has_value()) {
      return SettledDatabase{real, {}};
    }
    const std::vector<std::string> names = NamesOf(real, *state);
    const bool is_busy = IsBeingWritten(real);
    if (!is_busy && FindBeside(names).empty()) {
      if (names.size() < state->names && IsLogged(real)) {
        return LogMayBeElsewhere(path);
      }
      return SettledDatabase{real, *state};
    }
    if (!is_busy) {
      BS_ASSIGN(std::optional<TemporaryFolder> copy, TryCopy(real, *state, names));
      if (copy.has_value()) {
        std::string inside = copy->path() + "/database";
        return SettledDatabase{std::move(inside), *state, std::move(copy)};
      }
    }
    std::this_thread::sleep_for(kPause);
  }
  return BeingWritten(path);
}

}  // namespace borescope::internal
