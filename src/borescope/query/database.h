// SQL over the columns of loaded traces, for `borescope query`. Statements only read; statements
// that would write, attach a file or change a setting are refused.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/query/relations/relation.h"
#include "borescope/table/table.h"

namespace borescope::internal::query {

// Values for the parameters of statements: ?, :name, @name, $name.

// NULL, a number or a text.
using Value = std::variant<std::monostate, int64_t, double, std::string>;
// Values by name without its first character; values with an empty name are for one "?" each, in
// order.
using Parameters = std::vector<std::pair<std::string, Value>>;

// Binds values to one statement after the other. Not thread-safe.
class ParameterBinder {
 public:
  // `parameters` outlives this.
  explicit ParameterBinder(const Parameters& parameters)
      : parameters_(parameters), is_used_(parameters.size()) {}

  // kInvalidArgument, with its name, if a parameter of the statement has no value. Texts are bound
  // without a copy.
  Result<void> Bind(sqlite3_stmt* statement);
  // kInvalidArgument, with its name, if no statement used a value.
  Result<void> CheckAllUsed() const;

 private:
  size_t PlaceOf(std::string_view name) const;

  const Parameters& parameters_;
  std::vector<bool> is_used_;
};

inline constexpr size_t kDefaultRowLimit = 1'000'000;

// What one statement may use.
struct Limits {
  std::optional<double> seconds;
  size_t rows = kDefaultRowLimit;
  uint64_t memory_bytes = uint64_t{4} << 30;  // of the process, beyond what it uses already; 0: any
  uint64_t temporary_bytes = uint64_t{4} << 30;  // files in the folder TMPDIR; 0: any
  bool is_cut_at_rows =
      true;  // the first rows are the result; else it is an error if there are more
};

struct QueryResult {
  Table table;
  bool is_cut = false;  // there were more rows than Limits::rows
};

// Not thread-safe.
class Database {
 public:
  // The ranks in order; everything that they refer to has to outlive the database. `tables`, of
  // whose rows nothing is used, become tables with the rows of RankData::tables (RelationList).
  static Result<Database> Open(std::span<const RankData> ranks, std::span<const Table> tables = {});
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // Runs statements, separated by ";", and returns the result of each that is more than a comment.
  // Tables are called query, query_2, …. Errors (kInvalidArgument) are one line that says what is
  // wrong with the statement, with the nearest name if one is unknown, or which limit ended it.
  // `parameters`: values for all statements.
  Result<std::vector<QueryResult>> Run(std::string_view sql, const Parameters& parameters,
                                       const Limits& limits);

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Tables that list the tables and columns, and the functions besides those of SQLite, of a database
// that is opened with `tables`.
Result<std::vector<Table>> SchemaTables(std::span<const Table> tables = {});

// Whether `sql` ends with a complete statement, which a shell waits for.
bool IsComplete(const std::string& sql);

}  // namespace borescope::internal::query
