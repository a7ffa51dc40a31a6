// A wrapper of SQLite, for reading databases of other profilers and writing our own. Errors name
// the file.
//
// Reading is safe on hostile files: nothing is written, locked or attached, no view, trigger or
// function of the file's own schema runs unless a statement names it, and a statement that works
// too long is stopped. A stop that is requested (stop.h) ends statements. Used by one thread at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace borescope::internal {

// SQLite on a file of a foreigner, opened for writing. A journal can name any file as its
// super-journal, which SQLite opens, and deletes after undoing the transaction.

// Runs statements on the database `file`, whose rows are ignored, and has SQLite open and delete
// nothing but files that are directly in its folder; neither triggers nor functions of its schema
// run. Returns SQLite's status: what needs another file ends with SQLITE_AUTH. `file` must have
// no symbolic link in its path.
int RunConfined(const std::string& file, const char* statements);

// The first bytes of every SQLite 3 file.
inline constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

enum class SqlType : uint8_t { kNull, kInteger, kReal, kText, kBlob };

// A prepared statement and its current row. Must not outlive its database.
class SqlStatement {
 public:
  SqlStatement() = default;

  // Parameters are numbered from 1. Text is copied. What SQLite refuses (a lack of memory) is the
  // error of the next Step or Run.
  void Bind(int parameter, int64_t value);
  void Bind(int parameter, double value);
  void Bind(int parameter, std::string_view text);
  void BindNull(int parameter);

  // Moves to the next row; false after the last one.
  Result<bool> Step();
  // Runs a statement without rows, and resets it for new parameters.
  Result<void> Run();
  void Reset();

  // For the current row; columns are numbered from 0. Text is valid until the next Step.
  int columns() const;
  SqlType type(int column) const;
  bool IsNull(int column) const { return type(column) == SqlType::kNull; }
  // The number, as SQLite converts what is stored; 0 for NULL and text that is not a number.
  int64_t Integer(int column) const;
  // Sets `value` and returns true if an integer is stored: half the cost of type and Integer.
  bool TryInteger(int column, int64_t& value) const;
  double Real(int column) const;
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;
  std::string_view ColumnName(int column) const;

 private:
  friend class SqlDatabase;
  void Note(int status) { refusal_ = refusal_ == 0 ? status : refusal_; }
  bool IsRowDamaged();
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string* name_ = nullptr;  // of the database
  int refusal_ = 0;                    // of a Bind, until the next Step
  uint64_t rows_ = 0;                  // that Step gave since the last reset
};

// Which columns of which tables were read.
using SqlReads = std::map<std::string, std::set<std::string>, std::less<>>;

class SqlDatabase {
 public:
  // For reading, as an immutable file: itself, or a private copy of it and what is beside it
  // (settled_database.h). Whether the file changes meanwhile is for the caller to see
  // (ReadUnchanged). kCorrupt if it is not a database or cannot be read, kIo while another program
  // writes it.
  static Result<SqlDatabase> OpenRead(const std::string& path);
  // The same for the bytes of a database, which must outlive it.
  static Result<SqlDatabase> OpenBytes(std::string_view bytes, const std::string& name);
  // An empty database at `path`, which must not exist or be empty, tuned for writing once: not safe
  // against a crash, so the caller writes a temporary file and renames it.
  static Result<SqlDatabase> Create(const std::string& path);
  // An empty database in memory. Its temporary files are made by the file system `vfs` of SQLite,
  // or the standard one.
  static Result<SqlDatabase> InMemory(const std::string& name, const char* vfs = nullptr);

  Result<SqlStatement> Prepare(std::string_view sql) const;
  // Runs statements without parameters, ignoring their rows.
  Result<void> Run(const std::string& sql);

  // The ordinary tables (no views, no virtual tables), sorted by name.
  Result<std::vector<std::string>> Tables();
  // The columns of a table, in order; empty if there is no such table.
  Result<std::vector<std::string>> Columns(std::string_view table);

  // The bytes opened for reading; empty if they are not available.
  const StoredBytes& bytes() const { return bytes_; }

  // Whether a copy is read, as SQLite had to put the file and a journal or a log together.
  bool is_copy() const { return is_copy_; }

  // From now on SqlTable notes in `reads`, which outlives this, what is read.
  void NoteReads(SqlReads* reads) { reads_ = reads; }
  SqlReads* reads() const { return reads_; }

  const std::string& name() const { return *name_; }
  sqlite3* handle() const { return database_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  static Result<SqlDatabase> Open(const std::string& uri, int flags, const std::string& name,
                                  const char* vfs = nullptr);
  Result<void> Harden();

  std::unique_ptr<std::string> name_;  // at a stable address
  StoredBytes bytes_;
  bool is_copy_ = false;
  SqlReads* reads_ = nullptr;
  std::unique_ptr<sqlite3, Close> database_;
};

// `name` as an identifier in SQL: quoted, quotation marks doubled.
std::string SqlName(std::string_view name);

}  // namespace borescope::internal
