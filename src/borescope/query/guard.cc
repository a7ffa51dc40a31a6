#include "borescope/query/guard.h"

#include <sqlite3.h>

#include <algorithm>
#include <string_view>

namespace borescope::internal::query {
namespace {

// The words of the actions people try; all others are refused as well.
struct ActionRow {
  int action;
  std::string_view word;
};
constexpr ActionRow kActions[] = {{SQLITE_INSERT, "INSERT"},
                                  {SQLITE_UPDATE, "UPDATE"},
                                  {SQLITE_DELETE, "DELETE"},
                                  {SQLITE_ATTACH, "ATTACH"},
                                  {SQLITE_DETACH, "DETACH"},
                                  {SQLITE_PRAGMA, "PRAGMA"},
                                  {SQLITE_TRANSACTION, "a transaction"},
                                  {SQLITE_SAVEPOINT, "a savepoint"},
                                  {SQLITE_ALTER_TABLE, "ALTER TABLE"},
                                  {SQLITE_ANALYZE, "ANALYZE"},
                                  {SQLITE_REINDEX, "REINDEX"},
                                  {SQLITE_FUNCTION, "this function"}};

std::string_view WordOf(int action) {
  const auto* const row = std::find_if(std::begin(kActions), std::end(kActions),
                                       [&](const ActionRow& r) { return r.action == action; });
  return row == std::end(kActions) ? "a change of the schema" : row->word;
}

bool IsAllowed(int action, std::string_view function) {
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
         (action == SQLITE_FUNCTION && function != "load_extension");
}

}  // namespace

int Guard::Decide(void* guard, int action, const char*, const char* second, const char*,
                  const char*) {
  if (IsAllowed(action, second == nullptr ? "" : second)) {
    return SQLITE_OK;
  }
  std::string& refused = static_cast<Guard*>(guard)->refused_;
  refused = refused.empty() ? WordOf(action) : refused;
  return SQLITE_DENY;
}

void Guard::Watch(SqlDatabase& database) {
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // An unknown column in double quotation marks is an error, not a text.
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_limit(database.handle(), SQLITE_LIMIT_ATTACHED, 0);
  constexpr int kLongestValue = 1 << 26;  // bytes
  sqlite3_limit(database.handle(), SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_set_authorizer(database.handle(), Decide, this);
}

}  // namespace borescope::internal::query
