#include "borescope/query/guard.h"

#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "borescope/base/text/text.h"
#include "borescope/query/functions.h"

namespace borescope::internal::query {
namespace {

// Of a statement, so that neither preparing it nor one step of it takes long. The length of values
// follows from the statement (value_limit.h).
struct LimitRow {
  int limit;
  int value;
};
constexpr LimitRow kLimits[] = {{SQLITE_LIMIT_ATTACHED, 0},
                                {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
                                {SQLITE_LIMIT_WORKER_THREADS, 0},
                                {SQLITE_LIMIT_EXPR_DEPTH, 1000},
                                {SQLITE_LIMIT_COMPOUND_SELECT, 500},
                                {SQLITE_LIMIT_COLUMN, 2000},
                                {SQLITE_LIMIT_FUNCTION_ARG, 100},
                                {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50'000},
                                {SQLITE_LIMIT_VARIABLE_NUMBER, 32'766},
                                {SQLITE_LIMIT_VDBE_OP, 100'000}};

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
                                  {SQLITE_REINDEX, "REINDEX"}};

// SQLite's functions of values alone. Others read files, load code, or show addresses in memory
// (fts3_tokenizer), depending on how the system's SQLite was built. Left out are json_patch, which
// takes as long as the product of the lengths of two objects, and json_pretty, whose result may be
// a thousand times as long as what it is made of before it is refused.
constexpr std::string_view kSafe[] = {"->",
                                      "->>",
                                      "abs",
                                      "acos",
                                      "acosh",
                                      "asin",
                                      "asinh",
                                      "atan",
                                      "atan2",
                                      "atanh",
                                      "avg",
                                      "ceil",
                                      "ceiling",
                                      "char",
                                      "coalesce",
                                      "concat",
                                      "concat_ws",
                                      "cos",
                                      "cosh",
                                      "count",
                                      "cume_dist",
                                      "current_date",
                                      "current_time",
                                      "current_timestamp",
                                      "date",
                                      "datetime",
                                      "degrees",
                                      "dense_rank",
                                      "exp",
                                      "first_value",
                                      "floor",
                                      "format",
                                      "glob",
                                      "group_concat",
                                      "hex",
                                      "if",
                                      "ifnull",
                                      "iif",
                                      "instr",
                                      "json",
                                      "json_array",
                                      "json_array_length",
                                      "json_error_position",
                                      "json_extract",
                                      "json_group_array",
                                      "json_group_object",
                                      "json_insert",
                                      "json_object",
                                      "json_quote",
                                      "json_remove",
                                      "json_replace",
                                      "json_set",
                                      "json_type",
                                      "json_valid",
                                      "julianday",
                                      "lag",
                                      "last_value",
                                      "lead",
                                      "length",
                                      "like",
                                      "likelihood",
                                      "likely",
                                      "ln",
                                      "log",
                                      "log10",
                                      "log2",
                                      "lower",
                                      "ltrim",
                                      "max",
                                      "median",
                                      "min",
                                      "mod",
                                      "nth_value",
                                      "ntile",
                                      "nullif",
                                      "octet_length",
                                      "percent_rank",
                                      "percentile",
                                      "percentile_cont",
                                      "percentile_disc",
                                      "pi",
                                      "pow",
                                      "power",
                                      "printf",
                                      "quote",
                                      "radians",
                                      "random",
                                      "randomblob",
                                      "rank",
                                      "replace",
                                      "round",
                                      "row_number",
                                      "rtrim",
                                      "sign",
                                      "sin",
                                      "sinh",
                                      "soundex",
                                      "sqlite_version",
                                      "sqrt",
                                      "strftime",
                                      "string_agg",
                                      "substr",
                                      "substring",
                                      "subtype",
                                      "sum",
                                      "tan",
                                      "tanh",
                                      "time",
                                      "timediff",
                                      "total",
                                      "trim",
                                      "trunc",
                                      "typeof",
                                      "unhex",
                                      "unicode",
                                      "unistr",
                                      "unixepoch",
                                      "unlikely",
                                      "upper",
                                      "zeroblob"};
static_assert(std::is_sorted(std::begin(kSafe), std::end(kSafe)));

// Functions are called by any spelling: LoWeR.
bool IsSafe(std::string_view function) {
  const std::string name = LowerCase(function);
  const auto is_ours = [&](const FunctionRow& row) { return row.name == name; };
  return std::binary_search(std::begin(kSafe), std::end(kSafe), name) ||
         std::any_of(Functions().begin(), Functions().end(), is_ours);
}

std::string_view WordOf(int action) {
  const auto* const row = std::find_if(std::begin(kActions), std::end(kActions),
                                       [&](const ActionRow& r) { return r.action == action; });
  return row == std::end(kActions) ? "a change of the schema" : row->word;
}

bool IsAllowed(int action, std::string_view function) {
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
         (action == SQLITE_FUNCTION && IsSafe(function));
}

}  // namespace

int Guard::Decide(void* guard, int action, const char*, const char* second, const char*,
                  const char*) {
  if (IsAllowed(action, second == nullptr ? "" : second)) {
    return SQLITE_OK;
  }
  std::string& refused = static_cast<Guard*>(guard)->refused_;
  if (refused.empty()) {
    refused = action == SQLITE_FUNCTION
                  ? "the function " + std::string(second == nullptr ? "" : second)
                  : std::string(WordOf(action));
  }
  return SQLITE_DENY;
}

void Guard::Watch(SqlDatabase& database) {
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // An unknown column in double quotation marks is an error, not a text.
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  for (const LimitRow& row : kLimits) {
    sqlite3_limit(database.handle(), row.limit, row.value);
  }
  // Their tables are made when they are first used, which would be refused as a change.
  for (const char* reading : {"SELECT 1 FROM json_each('[]')", "SELECT 1 FROM json_tree('[]')"}) {
    sqlite3_exec(database.handle(), reading, nullptr, nullptr, nullptr);
  }
  sqlite3_set_authorizer(database.handle(), Decide, this);
}

}  // namespace borescope::internal::query
