#include "borescope/base/sqlite/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "borescope/base/sqlite/settled_database.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

// Bounds on the resources of a hostile file. Real profiler files stay far below.
constexpr int kLongestValue = 1 << 28;  // bytes
constexpr int kLongestSql = 1 << 20;

// Some damaged schemas and rows lead SQLite to say that it has no memory. It has if there is more
// than they may take.
constexpr uint64_t kMostOfSchema = uint64_t{8} << 20;
constexpr uint64_t kMostOfRow = uint64_t{2} * kLongestValue;
bool HasMemory(uint64_t bytes) {
  const std::unique_ptr<void, decltype(&sqlite3_free)> taken(sqlite3_malloc64(bytes), sqlite3_free);
  return taken != nullptr;
}

// Whether the schema is so damaged that statements ask for more memory than there is.
bool AsksForTooMuch(sqlite3* database, const char* statements) {
  const auto has_none = [&] {
    return sqlite3_exec(database, statements, nullptr, nullptr, nullptr) == SQLITE_NOMEM;
  };
  return has_none() && has_none() && HasMemory(kMostOfSchema);
}

// SQLite takes what a disk could not read for damage (SQLITE_IOERR_CORRUPTFS).
bool HasFailedToRead(sqlite3* database) {
  int error = 0;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
  return error == EIO;
}

// The file system as SQLite sees it (https://www.sqlite.org/vfs.html): the standard one, but for
// files outside of a folder.
class Confined {
 public:
  explicit Confined(std::string folder)
      : standard_(sqlite3_vfs_find(nullptr)), folder_(std::move(folder)) {
    if (standard_ == nullptr) {
      return;
    }
    name_ = "borescope " + folder_;
    vfs_ = *standard_;
    vfs_.pNext = nullptr;
    vfs_.zName = name_.c_str();
    vfs_.xOpen = [](sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
      const Confined& own = Of(vfs);
      file->pMethods = nullptr;
      return own.IsInside(path) ? own.standard_->xOpen(own.standard_, path, file, flags, out)
                                : SQLITE_AUTH;
    };
    vfs_.xDelete = [](sqlite3_vfs* vfs, const char* path, int sync_folder) {
      const Confined& own = Of(vfs);
      return own.IsInside(path) ? own.standard_->xDelete(own.standard_, path, sync_folder)
                                : SQLITE_AUTH;
    };
    // Functions of the standard one that use its pAppData are called with the standard one.
    vfs_.pAppData = this;
    vfs_.xFullPathname = [](sqlite3_vfs* vfs, const char* path, int size, char* out) {
      const Confined& own = Of(vfs);
      return own.standard_->xFullPathname(own.standard_, path, size, out);
    };
    vfs_.xAccess = [](sqlite3_vfs* vfs, const char* path, int flags, int* out) {
      const Confined& own = Of(vfs);
      return own.standard_->xAccess(own.standard_, path, flags, out);
    };
    is_registered_ = sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK;
  }
  Confined(const Confined&) = delete;
  Confined& operator=(const Confined&) = delete;
  ~Confined() {
    if (is_registered_) {
      sqlite3_vfs_unregister(&vfs_);
    }
  }

  // nullptr if there was no memory.
  const char* name() const { return is_registered_ ? name_.c_str() : nullptr; }

 private:
  static const Confined& Of(const sqlite3_vfs* vfs) {
    return *static_cast<const Confined*>(vfs->pAppData);
  }

  // No path: a temporary file of SQLite's own.
  bool IsInside(const char* path) const {
    const std::string_view text = path == nullptr ? std::string_view(folder_) : path;
    return text.starts_with(folder_) && text.find('/', folder_.size()) == std::string_view::npos;
  }

  sqlite3_vfs vfs_{};
  sqlite3_vfs* standard_;
  std::string folder_;  // with a slash at its end
  std::string name_;
  bool is_registered_ = false;
};

}  // namespace

int RunConfined(const std::string& file, const char* statements) {
  const Confined confined(file.substr(0, file.rfind('/') + 1));
  if (confined.name() == nullptr) {
    return SQLITE_NOMEM;
  }
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(file.c_str(), &opened,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, confined.name());
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(opened, sqlite3_close);
  if (status != SQLITE_OK) {
    return status;
  }
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
  const int run = sqlite3_exec(opened, statements, nullptr, nullptr, nullptr);
  if (run == SQLITE_NOMEM && AsksForTooMuch(opened, statements)) {
    return SQLITE_CORRUPT;
  }
  return run == SQLITE_CORRUPT && HasFailedToRead(opened) ? SQLITE_IOERR : run;
}

namespace {

Error SqlError(int status, const std::string& name, std::string_view message) {
  if ((status & 0xff) == SQLITE_INTERRUPT) {
    CheckStop();
  }
  if ((status & 0xff) == SQLITE_NOMEM) {
    throw std::bad_alloc();  // no fault of the file
  }
  const bool is_io = (status & 0xff) == SQLITE_CANTOPEN || (status & 0xff) == SQLITE_IOERR ||
                     (status & 0xff) == SQLITE_FULL;
  std::string_view remedy = "copy the file again, or try sqlite3's .recover";
  if (is_io) {
    remedy = "";
  } else if ((status & 0xff) == SQLITE_ERROR) {
    remedy = "the file may come from a version of the profiler that is not known here";
  }
  return {is_io ? ErrorCode::kIo : ErrorCode::kCorrupt, "SQLite: " + std::string(message),
          std::string(remedy), name};
}

// A path as a URI for SQLite, whose special characters are escaped.
std::string UriOf(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '%' && c != '?' && c != '#') {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

SqlType TypeOf(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return SqlType::kInteger;
    case SQLITE_FLOAT:
      return SqlType::kReal;
    case SQLITE_TEXT:
      return SqlType::kText;
    case SQLITE_BLOB:
      return SqlType::kBlob;
    default:
      return SqlType::kNull;
  }
}

// NULL is no value, or a value for which there was no memory.
void CheckConverted(const void* bytes, sqlite3_stmt* statement) {
  if (bytes == nullptr && sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM) {
    throw std::bad_alloc();
  }
}

}  // namespace

// ---- Statement ----

void SqlStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqlStatement::Bind(int parameter, int64_t value) {
  Note(sqlite3_bind_int64(statement_.get(), parameter, value));
}

void SqlStatement::Bind(int parameter, double value) {
  Note(sqlite3_bind_double(statement_.get(), parameter, value));
}

void SqlStatement::Bind(int parameter, std::string_view text) {
  Note(sqlite3_bind_text64(statement_.get(), parameter, text.data() == nullptr ? "" : text.data(),
                           text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void SqlStatement::BindNull(int parameter) { Note(sqlite3_bind_null(statement_.get(), parameter)); }

Result<bool> SqlStatement::Step() {
  if (const int refusal = std::exchange(refusal_, SQLITE_OK); refusal != SQLITE_OK) {
    return SqlError(refusal, *name_, sqlite3_errstr(refusal));
  }
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) {
    ++rows_;
    return true;
  }
  if (status == SQLITE_DONE) {
    rows_ = 0;
    return false;
  }
  sqlite3* database = sqlite3_db_handle(statement_.get());
  const int failure = sqlite3_extended_errcode(database);
  if ((failure & 0xff) == SQLITE_NOMEM && IsRowDamaged()) {
    return SqlError(SQLITE_CORRUPT, *name_, "a row is damaged");
  }
  return SqlError(failure, *name_, sqlite3_errmsg(database));
}

// Of the row for which SQLite says that it has no memory: whether it says so again.
bool SqlStatement::IsRowDamaged() {
  if (sqlite3_stmt_readonly(statement_.get()) == 0) {
    return false;
  }
  sqlite3_reset(statement_.get());
  for (uint64_t row = 0; row < rows_; ++row) {
    if (sqlite3_step(statement_.get()) != SQLITE_ROW) {
      CheckStop();
      return false;
    }
  }
  return (sqlite3_step(statement_.get()) & 0xff) == SQLITE_NOMEM && HasMemory(kMostOfRow);
}

Result<void> SqlStatement::Run() {
  const Result<bool> stepped = Step();
  Reset();
  return stepped.ok() ? Result<void>() : stepped.error();
}

void SqlStatement::Reset() {
  rows_ = 0;
  sqlite3_reset(statement_.get());  // repeats the error of the last step, which is already known
}

int SqlStatement::columns() const { return sqlite3_column_count(statement_.get()); }

SqlType SqlStatement::type(int column) const {
  return TypeOf(sqlite3_column_type(statement_.get(), column));
}

int64_t SqlStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

// Reading from the value avoids the locks that each access to the statement takes.
bool SqlStatement::TryInteger(int column, int64_t& value) const {
  sqlite3_value* stored = sqlite3_column_value(statement_.get(), column);
  if (sqlite3_value_type(stored) != SQLITE_INTEGER) {
    return false;
  }
  value = sqlite3_value_int64(stored);
  return true;
}

double SqlStatement::Real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view SqlStatement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  CheckConverted(text, statement_.get());
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr
             ? std::string_view()
             : std::string_view(reinterpret_cast<const char*>(text), static_cast<size_t>(bytes));
}

std::string_view SqlStatement::Blob(int column) const {
  const void* blob = sqlite3_column_blob(statement_.get(), column);
  CheckConverted(blob, statement_.get());
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return blob == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(blob), static_cast<size_t>(bytes));
}

std::string_view SqlStatement::ColumnName(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? "" : name;
}

// ---- Database ----

void SqlDatabase::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<SqlDatabase> SqlDatabase::Open(const std::string& uri, int flags, const std::string& name,
                                      const char* vfs) {
  SqlDatabase database;
  database.name_ = std::make_unique<std::string>(name);
  sqlite3* handle = nullptr;
  const int status =
      sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, vfs);
  database.database_.reset(handle);
  if (status != SQLITE_OK) {
    return SqlError(status, name, sqlite3_errstr(status));
  }
  constexpr int kStepsBetweenLooks = 1000;
  const auto is_stopped = [](void*) { return IsStopRequested() ? 1 : 0; };
  sqlite3_progress_handler(handle, kStepsBetweenLooks, is_stopped, nullptr);
  return database;
}

Result<void> SqlDatabase::Harden() {
  sqlite3* database = handle();
  sqlite3_extended_result_codes(database, 1);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, kLongestSql);
  // Parses the schema, so that a file that is not a database fails here.
  constexpr const char* kReadSchema = "PRAGMA query_only=1; SELECT count(*) FROM sqlite_master";
  if (AsksForTooMuch(database, kReadSchema)) {
    return SqlError(SQLITE_CORRUPT, name(), "the schema is damaged");
  }
  return Run(kReadSchema);
}

Result<SqlDatabase> SqlDatabase::OpenRead(const std::string& path) {
  BS_ASSIGN(const SettledDatabase settled, SettleDatabase(path));
  BS_ASSIGN(SqlDatabase database,
            Open(UriOf(std::filesystem::absolute(settled.path).string()) + "?mode=ro&immutable=1",
                 SQLITE_OPEN_READONLY, path));
  BS_TRY(database.Harden());
  BS_ASSIGN(database.bytes_, StoredBytes::OfFile(settled.path));
  database.is_copy_ = settled.copy.has_value();  // open, so that its folder can be removed here
  return database;
}

Result<SqlDatabase> SqlDatabase::OpenBytes(std::string_view bytes, const std::string& name) {
  BS_ASSIGN(SqlDatabase database, InMemory(name));
  // Read-only: the bytes are never written to.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));  // NOLINT
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  const int status =
      sqlite3_deserialize(database.handle(), "main", data, size, size, SQLITE_DESERIALIZE_READONLY);
  if (status != SQLITE_OK) {
    return SqlError(status, name, sqlite3_errstr(status));
  }
  BS_TRY(database.Harden());
  database.bytes_ = StoredBytes::OfMemory(bytes);
  return database;
}

Result<SqlDatabase> SqlDatabase::Create(const std::string& path) {
  BS_ASSIGN(SqlDatabase database, Open(UriOf(std::filesystem::absolute(path).string()),
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path));
  BS_TRY(
      database.Run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                   "PRAGMA locking_mode=EXCLUSIVE"));
  return database;
}

Result<SqlDatabase> SqlDatabase::InMemory(const std::string& name, const char* vfs) {
  return Open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, name, vfs);
}

Result<SqlStatement> SqlDatabase::Prepare(std::string_view sql) const {
  SqlStatement statement;
  sqlite3_stmt* prepared = nullptr;
  const int status =
      sqlite3_prepare_v2(handle(), sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  statement.statement_.reset(prepared);
  statement.name_ = name_.get();
  if (status != SQLITE_OK) {
    return SqlError(status, name(), sqlite3_errmsg(handle()));
  }
  return statement;
}

Result<void> SqlDatabase::Run(const std::string& sql) {
  const int status = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) {
    return SqlError(status, name(), sqlite3_errmsg(handle()));
  }
  return {};
}

Result<std::vector<std::string>> SqlDatabase::Tables() {
  BS_ASSIGN(SqlStatement rows,
            // A virtual table has no page of its own.
            Prepare("SELECT name FROM sqlite_master WHERE type='table' AND rootpage > 0 "
                    "ORDER BY name"));
  std::vector<std::string> names;
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Step());
    if (!is_row) {
      return names;
    }
    names.emplace_back(rows.Text(0));
  }
}

Result<std::vector<std::string>> SqlDatabase::Columns(std::string_view table) {
  BS_ASSIGN(SqlStatement rows, Prepare("SELECT name FROM pragma_table_info(?)"));
  rows.Bind(1, table);
  std::vector<std::string> names;
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Step());
    if (!is_row) {
      return names;
    }
    names.emplace_back(rows.Text(0));
  }
}

std::string SqlName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

}  // namespace borescope::internal
