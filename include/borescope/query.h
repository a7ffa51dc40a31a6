// SQL over a run (docs/use/sql.md): opened once for several statements.
#pragma once

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

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"

namespace borescope {

class Run;

// A value for a parameter of a statement: NULL, a number or a text.
using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;
// Values by name, without the ":", "@" or "$" of the statement; the empty name is the next "?".
using SqlParameters = std::vector<std::pair<std::string, SqlValue>>;

struct QueryOptions {
  std::string rank = {};               // only these, as the parameter `rank` of a verb
  std::optional<double> seconds = {};  // after which a statement is stopped
  // Of each result, which is cut there; if not given, more than a million are an error.
  std::optional<size_t> rows = {};
  // Of the temporary files of a statement, in the folder TMPDIR; 4 GiB if not given, 0: any.
  std::optional<uint64_t> temporary_bytes = {};
};

// Holds what a run recorded as tables. Not thread-safe.
class BORESCOPE_EXPORT QuerySession {
 public:
  // Loads the run. Errors as those of Run::Ask. What OpenOptions::memory_limit leaves after that is
  // the limit of each statement; without one that is 4 GiB.
  static Result<QuerySession> Open(const Run& run, const QueryOptions& options = {});
  QuerySession(QuerySession&&) noexcept;
  QuerySession& operator=(QuerySession&&) noexcept;
  ~QuerySession();

  // A table for every statement of `sql`. kInvalidArgument when a statement is wrong, refused or
  // stopped by a limit of time, memory or temporary files, when a parameter has no value, or a
  // value no parameter; a result that the limit of rows cuts says so in its title and in a
  // diagnostic.
  Result<Answer> Ask(std::string_view sql, const SqlParameters& parameters = {});

  const std::vector<FileInfo>& files() const;

 private:
  friend struct QueryAccess;
  struct State;
  explicit QuerySession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The tables, columns and functions that a statement can name. Thread-safe.
BORESCOPE_EXPORT Result<Answer> QuerySchema();

// Whether the text ends with a complete statement. Thread-safe.
BORESCOPE_EXPORT bool IsCompleteStatement(const std::string& sql);

}  // namespace borescope
