// SQL over a run: loads it once and answers statements. What `borescope query` is a skin over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/query/database.h"

namespace borescope::internal {

struct QueryLimits {
  std::optional<double> seconds = {};  // per statement
  // Per result, which is cut there; where nothing is said, more than a million are an error.
  std::optional<size_t> rows = {};
  // Per statement; 4 GiB where nothing is said, 0: any.
  std::optional<uint64_t> temporary_bytes = {};
};

// Not thread-safe.
class QuerySession {
 public:
  // Loads what `options` names, as LoadRun does. A stop that they name ends statements, too, and
  // what their limit of memory leaves after loading is that of each statement (without: 4 GiB).
  static Result<QuerySession> Open(const RunOptions& options);
  QuerySession(QuerySession&&) noexcept;
  QuerySession& operator=(QuerySession&&) noexcept;
  ~QuerySession();

  // A table for every statement of `sql`, with what was odd in the files. kInvalidArgument when a
  // statement is wrong, refused, or stopped by a limit, that of rows too unless it was named; a
  // result that a named limit of rows cuts says so in its title and in a diagnostic.
  Result<Document> Run(std::string_view sql, const query::Parameters& parameters,
                       const QueryLimits& limits);

  const std::vector<FileReport>& files() const;

 private:
  struct State;
  explicit QuerySession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The tables, columns and functions that a statement can name.
Result<Document> QuerySchema();

// True when `sql` ends behind a statement.
bool IsCompleteSql(const std::string& sql);

}  // namespace borescope::internal
