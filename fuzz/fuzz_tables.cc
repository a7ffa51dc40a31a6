// Whatever the tables of a database hold: loading ends in an Error or in a trace, which can be
// asked any question, as in fuzz_kineto. An input is SQL, a statement a line, that makes the
// database; lines that SQLite refuses are left out. Where fuzz_database damages pages, this one
// changes values, types, tables.

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "borescope/engine/analyse_bytes.h"
#include "input_number.h"

namespace {

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

// Only tables are made and filled: nothing is attached, and nothing runs for long.
int AllowTables(void* /*unused*/, int action, const char* /*unused*/, const char* /*unused*/,
                const char* /*unused*/, const char* /*unused*/) {
  switch (action) {
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
    case SQLITE_FUNCTION:
    case SQLITE_PRAGMA:
    case SQLITE_RECURSIVE:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_VTABLE:
    case SQLITE_TRANSACTION:
      return SQLITE_DENY;
    default:
      return SQLITE_OK;
  }
}

Database MakeDatabase(const std::string& script) {
  sqlite3* opened = nullptr;
  sqlite3_open(":memory:", &opened);
  Database database(opened, sqlite3_close);
  sqlite3_exec(database.get(), "BEGIN", nullptr, nullptr, nullptr);  // much faster
  sqlite3_set_authorizer(database.get(), AllowTables, nullptr);
  sqlite3_limit(database.get(), SQLITE_LIMIT_LENGTH, 1 << 20);
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    sqlite3_exec(database.get(), line.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_set_authorizer(database.get(), nullptr, nullptr);  // to serialize takes a PRAGMA
  sqlite3_exec(database.get(), "COMMIT", nullptr, nullptr, nullptr);
  return database;
}

std::string BytesOf(sqlite3* database) {
  sqlite3_int64 size = 0;
  unsigned char* const pages = sqlite3_serialize(database, "main", &size, 0);
  if (pages == nullptr) {
    return "";
  }
  std::string bytes(reinterpret_cast<const char*>(pages), static_cast<size_t>(size));
  sqlite3_free(pages);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string script(reinterpret_cast<const char*>(data), size);
  const Database database = MakeDatabase(script);
  static_cast<void>(borescope::internal::AnalyseBytes(BytesOf(database.get()), "fuzz", 1,
                                                      fuzz::NumberOf(script)));
  return 0;
}
