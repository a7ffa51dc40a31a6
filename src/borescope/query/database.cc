#include "borescope/query/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/base/stop.h"
#include "borescope/query/errors.h"
#include "borescope/query/functions.h"
#include "borescope/query/guard.h"
#include "borescope/query/result_column.h"
#include "borescope/query/virtual_table.h"

namespace borescope::internal::query {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Error Refused(std::string_view what) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("query only reads: {} is refused; write SELECT, WITH or VALUES", what)};
}

// A statement that does not read, by its first word; else by `action`, which was refused within.
Error RefusedStatement(std::string_view sql, std::string_view action) {
  std::string word;
  for (const char c : sql.substr(std::min(sql.find_first_not_of(" \t\r\n;"), sql.size()))) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) {
      break;
    }
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  const bool reads =
      word.empty() || word == "SELECT" || word == "WITH" || word == "VALUES" || word == "EXPLAIN";
  return Refused(reads ? action : word);
}

// One line of the statement, for the title of its result.
std::string TitleOf(std::string_view sql) {
  constexpr size_t kLongest = 200;
  std::string title;
  for (const char c : sql) {
    const bool is_space = static_cast<unsigned char>(c) <= ' ';
    if (!is_space) {
      title += c;
    } else if (!title.empty() && title.back() != ' ') {
      title += ' ';
    }
  }
  while (!title.empty() && (title.back() == ' ' || title.back() == ';')) {
    title.pop_back();
  }
  if (title.size() > kLongest) {
    size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(title[end]) & 0xC0) == 0x80) {
      --end;
    }
    title = title.substr(0, end) + "…";
  }
  return title;
}

// Columns of one name, of a join with *, are told apart.
std::string UniqueName(const Table& table, std::string_view name) {
  std::string unique(name);
  for (int number = 2; table.Find(unique) != nullptr; ++number) {
    unique = fmt::format("{}:{}", name, number);
  }
  return unique;
}

std::string_view TextOrEmpty(const char* text) { return text == nullptr ? "" : text; }

Table MakeTable(sqlite3_stmt* statement, std::vector<ResultColumn>& columns, size_t number) {
  Table table;
  table.name = number == 1 ? "query" : fmt::format("query_{}", number);
  table.title = TitleOf(TextOrEmpty(sqlite3_sql(statement)));
  table.columns.reserve(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const int column = static_cast<int>(i);
    const std::string name = UniqueName(table, TextOrEmpty(sqlite3_column_name(statement, column)));
    table.columns.push_back(
        columns[i].Finish(name, TextOrEmpty(sqlite3_column_decltype(statement, column))));
  }
  return table;
}

Deadline DeadlineOf(const Limits& limits) {
  constexpr double kLongest = 1e8;  // seconds, which a clock can still add
  if (!limits.seconds.has_value()) {
    return {};
  }
  const std::chrono::duration<double> seconds(std::min(*limits.seconds, kLongest));
  return {Deadline::Clock::now() + std::chrono::duration_cast<Deadline::Clock::duration>(seconds)};
}

// A table is declared when a statement first names it, which would look like a change to the guard.
Result<void> ConnectAll(SqlDatabase& database) {
  for (const Relation& relation : Relations()) {
    BS_TRY(database.Prepare(fmt::format("SELECT 1 FROM {}", SqlName(relation.name))));
  }
  return {};
}

int IsOver(void* deadline) { return static_cast<Deadline*>(deadline)->passed() ? 1 : 0; }

}  // namespace

struct Database::State {
  explicit State(std::span<const RankData> ranks) : data(ranks) {}

  // The error of the last call of SQLite; leaves by CheckStop if it was stopped.
  Error ErrorOf(std::string_view sql, const Limits& limits) const;
  Result<Statement> Prepare(std::string_view& sql, const Limits& limits);
  Result<QueryResult> Collect(sqlite3_stmt* statement, size_t number, const Limits& limits) const;

  TableData data;
  Guard guard;
  std::optional<SqlDatabase> database;  // last: goes before what it reads
};

Error Database::State::ErrorOf(std::string_view sql, const Limits& limits) const {
  const std::string_view message = sqlite3_errmsg(database->handle());
  const int status = sqlite3_errcode(database->handle());
  if (!guard.refused().empty()) {
    return RefusedStatement(sql, guard.refused());
  }
  if (message.find(" may not be ") != std::string_view::npos) {
    return RefusedStatement(sql, "a change of a table");
  }
  if (status == SQLITE_INTERRUPT) {
    CheckStop();
    return {ErrorCode::kInvalidArgument,
            fmt::format("query: stopped after --time-limit {} s; narrow the statement or raise it",
                        limits.seconds.value_or(0))};
  }
  return StatementError(message, sql);
}

// The first statement of `sql`, which is left with the rest; nullptr where there is none.
Result<Statement> Database::State::Prepare(std::string_view& sql, const Limits& limits) {
  guard.Forget();
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int status = sqlite3_prepare_v2(database->handle(), sql.data(),
                                        static_cast<int>(sql.size()), &prepared, &rest);
  Statement statement(prepared);
  if (status != SQLITE_OK) {
    return ErrorOf(sql, limits);
  }
  if (statement != nullptr &&
      (sqlite3_stmt_readonly(prepared) == 0 || sqlite3_column_count(prepared) == 0)) {
    return RefusedStatement(sql, "writing");
  }
  sql.remove_prefix(static_cast<size_t>(rest - sql.data()));
  return statement;
}

Result<QueryResult> Database::State::Collect(sqlite3_stmt* statement, size_t number,
                                             const Limits& limits) const {
  constexpr size_t kMostText = size_t{1} << 30;  // bytes of a result
  QueryResult answer;
  std::vector<ResultColumn> columns(static_cast<size_t>(sqlite3_column_count(statement)));
  size_t rows = 0;
  size_t text = 0;
  int status = sqlite3_step(statement);
  for (; status == SQLITE_ROW && !answer.is_cut; status = sqlite3_step(statement)) {
    for (size_t i = 0; i < columns.size(); ++i) {
      text += columns[i].Add(statement, static_cast<int>(i));
    }
    CheckStopAt(rows);
    if (text > kMostText) {
      return Error{ErrorCode::kInvalidArgument,
                   "query: the result has more than 1 GiB of text; select fewer columns or rows"};
    }
    if (++rows == limits.rows) {
      status = sqlite3_step(statement);
      answer.is_cut = status == SQLITE_ROW;
      break;
    }
  }
  if (status != SQLITE_DONE && status != SQLITE_ROW) {
    return ErrorOf(TextOrEmpty(sqlite3_sql(statement)), limits);
  }
  answer.table = MakeTable(statement, columns, number);
  if (answer.is_cut) {
    answer.table.title += fmt::format(" (first {} rows)", rows);
  }
  return answer;
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::Open(std::span<const RankData> ranks) {
  auto state = std::make_unique<State>(ranks);
  BS_ASSIGN(SqlDatabase database, SqlDatabase::InMemory("query"));
  state->database = std::move(database);
  BS_TRY(RegisterTables(*state->database, state->data));
  BS_TRY(RegisterFunctions(*state->database));
  for (const ViewSpec& view : Views()) {
    BS_TRY(state->database->Run(fmt::format("CREATE VIEW {} AS {}", SqlName(view.name), view.sql)));
  }
  BS_TRY(ConnectAll(*state->database));
  state->guard.Watch(*state->database);
  constexpr int kStepsBetweenLooks = 1000;
  sqlite3_progress_handler(state->database->handle(), kStepsBetweenLooks, IsOver,
                           &state->data.deadline());
  return Database(std::move(state));
}

Result<std::vector<QueryResult>> Database::Run(std::string_view sql, const Parameters& parameters,
                                               const Limits& limits) {
  constexpr size_t kLongestSql = 1'000'000;
  if (sql.size() > kLongestSql) {
    return Error{ErrorCode::kInvalidArgument,
                 "query: the statement is longer than a million bytes"};
  }
  if (sql.find('\0') != std::string_view::npos) {
    return Error{ErrorCode::kInvalidArgument, "query: the statement holds a NUL character"};
  }
  std::vector<QueryResult> answers;
  ParameterBinder values(parameters);
  while (!sql.empty()) {
    state_->data.deadline() = DeadlineOf(limits);
    BS_ASSIGN(const Statement statement, state_->Prepare(sql, limits));
    if (statement == nullptr) {
      continue;
    }
    BS_TRY(values.Bind(statement.get()));
    BS_ASSIGN(QueryResult answer, state_->Collect(statement.get(), answers.size() + 1, limits));
    answers.push_back(std::move(answer));
  }
  BS_TRY(values.CheckAllUsed());
  return answers;
}

bool IsComplete(const std::string& sql) { return sqlite3_complete(sql.c_str()) != 0; }

}  // namespace borescope::internal::query
