#include "borescope/query/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/memory_limit.h"
#include "borescope/base/result.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/query/functions.h"
#include "borescope/query/guard.h"
#include "borescope/query/relations/relation.h"
#include "borescope/query/row_cursor.h"
#include "borescope/table/table.h"

struct sqlite3_stmt;  // NOLINT(readability-identifier-naming): of SQLite

namespace borescope::internal::query {

// Errors of SQLite as one line that helps.

namespace {

using Names = std::vector<std::string_view>;

using RelationSpan = std::span<const Relation>;

Names TableNames(RelationSpan relations) {
  Names names;
  names.reserve(relations.size() + Views().size());
  for (const Relation& relation : relations) {
    names.push_back(relation.name);
  }
  for (const ViewSpec& view : Views()) {
    names.push_back(view.name);
  }
  return names;
}

Names ColumnNames(std::string_view sql, RelationSpan relations) {
  Names names;
  for (const Relation& relation : relations) {
    if (sql.find(relation.name) != std::string_view::npos) {
      std::transform(relation.columns.begin(), relation.columns.end(), std::back_inserter(names),
                     [](const ColumnSpec& column) { return column.name; });
    }
  }
  return names;
}

Names FunctionNames(std::string_view, RelationSpan) {
  Names names;
  names.reserve(Functions().size());
  for (const FunctionRow& function : Functions()) {
    names.push_back(function.name);
  }
  return names;
}

struct UnknownRow {
  std::string_view prefix;
  Names (*names)(std::string_view sql, RelationSpan relations);
};
constexpr UnknownRow kUnknowns[] = {
    {"no such table: ",
     [](std::string_view, RelationSpan relations) { return TableNames(relations); }},
    {"no such column: ", ColumnNames},
    {"no such function: ", FunctionNames}};

// The nearest name to the unknown one at the end of a message, which may be qualified.
std::string_view Suggestion(std::string_view message, std::string_view sql,
                            RelationSpan relations) {
  for (const UnknownRow& row : kUnknowns) {
    if (message.starts_with(row.prefix)) {
      std::string_view name = message.substr(row.prefix.size());
      name = name.substr(name.rfind('.') + 1);  // npos + 1 is 0
      return Nearest(name, row.names(sql, relations));
    }
  }
  return {};
}

// Adds the nearest existing name to messages such as "no such column: nam"; for columns, among
// those of the tables that `sql` names.
Error StatementError(std::string_view message, std::string_view sql, RelationSpan relations) {
  const std::string_view nearest = Suggestion(message, sql, relations);
  std::string remedy;
  if (!nearest.empty()) {
    remedy = fmt::format("did you mean '{}'?", nearest);
  } else if (message.starts_with("no such ")) {
    remedy = "borescope query --schema shows what there is";
  }
  std::string cause = fmt::format("query: {}", message);
  std::replace(cause.begin(), cause.end(), '\n', ' ');
  return {ErrorCode::kInvalidArgument, std::move(cause), std::move(remedy)};
}

// A limit in words: "4 GiB", "1.5 MiB".
std::string BytesText(uint64_t bytes) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const auto count = static_cast<double>(bytes);
  return bytes >= kGiB   ? fmt::format("{:.4g} GiB", count / static_cast<double>(kGiB))
         : bytes >= kMiB ? fmt::format("{:.4g} MiB", count / static_cast<double>(kMiB))
                         : fmt::format("{:.4g} KiB", count / 1024);
}

// Makes columns of one type from the values of a result, whose types SQLite leaves open.

// Collects one column. Its type is int if all values are integers, float if they are integers and
// reals, else text, where blobs are written as in SQL (X'00FF').
class ResultColumn {
 public:
  // Adds the value of the current row of the statement. Returns the bytes of text added.
  size_t Add(sqlite3_stmt* statement, int column);

  // `declared`: the type of the source column, used if no row has a value.
  Column Finish(std::string name, std::string_view declared);

 private:
  enum class Type : uint8_t { kNone, kInt, kReal, kText };

  void Widen(Type type);

  Type type_ = Type::kNone;
  size_t rows_ = 0;
  bool any_missing_ = false;
  std::vector<char> missing_;
  IntValues ints_;
  FloatValues reals_;
  StringValues texts_;
};

std::string_view TextAt(sqlite3_stmt* statement, int column) {
  const void* bytes = sqlite3_column_blob(statement, column);
  const int size = sqlite3_column_bytes(statement, column);
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text = "X'";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text + "'";
}

template <class Values, class Convert>
void Fill(Values& values, size_t rows, Convert convert) {
  values.reserve(rows);
  for (size_t row = 0; row < rows; ++row) {
    values.push_back(convert(row));
  }
}

void ResultColumn::Widen(Type type) {
  if (type <= type_) {
    return;
  }
  const auto is_missing = [&](size_t row) { return missing_[row] != 0; };
  if (type == Type::kInt) {
    ints_.assign(rows_, 0);
  } else if (type == Type::kReal) {
    Fill(reals_, rows_,
         [&](size_t row) { return type_ == Type::kInt ? static_cast<double>(ints_[row]) : 0.0; });
  } else {
    Fill(texts_, rows_, [&](size_t row) {
      if (type_ == Type::kNone || is_missing(row)) {
        return std::string();
      }
      return type_ == Type::kInt ? fmt::format("{}", ints_[row]) : fmt::format("{}", reals_[row]);
    });
  }
  type_ = type;
}

// EXPLAIN names a table that is not SQLite's own by where it is in memory, which differs from run
// to run, and says where the program was loaded.
std::string_view WithoutAddress(sqlite3_stmt* statement, std::string_view text) {
  constexpr std::string_view kTable = "vtab:";
  return sqlite3_stmt_isexplain(statement) == 1 && text.starts_with(kTable)
             ? kTable.substr(0, kTable.size() - 1)
             : text;
}

size_t ResultColumn::Add(sqlite3_stmt* statement, int column) {
  const int sqlite = sqlite3_column_type(statement, column);
  if (sqlite == SQLITE_INTEGER || sqlite == SQLITE_FLOAT) {
    Widen(sqlite == SQLITE_INTEGER ? Type::kInt : Type::kReal);
  } else if (sqlite != SQLITE_NULL) {
    Widen(Type::kText);
  }
  ++rows_;
  missing_.push_back(sqlite == SQLITE_NULL ? 1 : 0);
  any_missing_ = any_missing_ || sqlite == SQLITE_NULL;
  switch (type_) {
    case Type::kNone:
      return 0;
    case Type::kInt:
      ints_.push_back(sqlite3_column_int64(statement, column));
      return 0;
    case Type::kReal:
      reals_.push_back(sqlite3_column_double(statement, column));
      return 0;
    case Type::kText:
      break;
  }
  if (sqlite == SQLITE_FLOAT) {
    texts_.push_back(fmt::format("{}", sqlite3_column_double(statement, column)));
  } else if (sqlite == SQLITE_INTEGER) {
    texts_.push_back(fmt::format("{}", sqlite3_column_int64(statement, column)));
  } else {
    const std::string_view text = WithoutAddress(statement, TextAt(statement, column));
    texts_.push_back(sqlite == SQLITE_BLOB ? Hex(text) : std::string(text));
  }
  return texts_.back().size();
}

Column ResultColumn::Finish(std::string name, std::string_view declared) {
  if (type_ == Type::kNone) {
    Widen(declared == "INTEGER" ? Type::kInt : declared == "REAL" ? Type::kReal : Type::kText);
  }
  Column column;
  column.name = std::move(name);
  if (type_ == Type::kInt) {
    column.values = std::move(ints_);
  } else if (type_ == Type::kReal) {
    column.values = std::move(reals_);
  } else {
    column.values = std::move(texts_);
  }
  if (any_missing_) {
    column.missing = std::move(missing_);
  }
  return column;
}

int BindValue(sqlite3_stmt* statement, int place, const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return sqlite3_bind_int64(statement, place, *number);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, place, *number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  return sqlite3_bind_null(statement, place);
}

}  // namespace

// The place among values without names that ?3 means; the number of values where it means none.
size_t ParameterBinder::PlaceOf(std::string_view name) const {
  size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_place = error == std::errc() && end == name.data() + name.size() && number >= 1 &&
                        number <= parameters_.size() && parameters_[number - 1].first.empty();
  return is_place ? number - 1 : parameters_.size();
}

Result<void> ParameterBinder::Bind(sqlite3_stmt* statement) {
  const int count = sqlite3_bind_parameter_count(statement);
  if (count > 0 && parameters_.empty()) {
    return UsageError("query: there are no values for parameters (?, :name)", "write them out");
  }
  for (int place = 1; place <= count; ++place) {
    const char* const text = sqlite3_bind_parameter_name(statement, place);
    const std::string_view written = text == nullptr ? "?" : text;
    const std::string_view name = written.substr(1);
    size_t i = 0;
    while (i < parameters_.size() &&
           (parameters_[i].first != name || (name.empty() && is_used_[i]))) {
      ++i;
    }
    if (i == parameters_.size()) {
      i = PlaceOf(name);
    }
    if (i == parameters_.size()) {
      return UsageError(fmt::format("query: there is no value for the parameter {}", written));
    }
    is_used_[i] = true;
    const int status = BindValue(statement, place, parameters_[i].second);
    if (status == SQLITE_NOMEM) {
      throw std::bad_alloc();
    }
    if (status != SQLITE_OK) {
      return UsageError(fmt::format("query: the value of the parameter {} is too long", written));
    }
  }
  return {};
}

Result<void> ParameterBinder::CheckAllUsed() const {
  const auto unused = std::find(is_used_.begin(), is_used_.end(), false);
  if (unused == is_used_.end()) {
    return {};
  }
  const std::string& name = parameters_[static_cast<size_t>(unused - is_used_.begin())].first;
  return UsageError(name.empty() ? "query: there are more values than ? in the statement"
                                 : fmt::format("query: no statement has the parameter :{}", name));
}

namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Error Refused(std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("query only reads: {} is refused", what),
          "write SELECT, WITH or VALUES"};
}

// The error for a statement that does not read, named by its first word, or else by `action`, which
// was refused inside it.
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

// The statement as one line, for the title of its result.
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

// Columns with the same name, as of a join with *, get different names.
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

Error StoppedError(std::string_view why) {
  return {ErrorCode::kInvalidArgument, fmt::format("query: stopped {}", why),
          "narrow the statement or raise it"};
}

Error MemoryError(const Limits& limits) {
  const std::string most = limits.memory_bytes == 0 ? "any" : BytesText(limits.memory_bytes);
  return {.code = ErrorCode::kInvalidArgument,
          .cause = fmt::format("query: out of memory: the statement needs more than there is, or "
                               "than `memory_limit` ({}) leaves for it",
                               most),
          .remedy = "narrow the statement or raise it",
          .parameter = "memory_limit"};
}

Error TooLongError(int limit) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("query: a text or blob is longer than {}, the most for {}",
                      BytesText(static_cast<uint64_t>(limit)),
                      limit == kLongestValue ? "any statement" : "a statement of this size"),
          "select less"};
}

// SQLITE_NOMEM if the program would become too large.
int PrepareBounded(sqlite3* database, std::string_view sql, sqlite3_stmt** prepared,
                   const char** rest) {
  constexpr int64_t kMostBytes = int64_t{128} << 20;
  const HeapLimit heap(kMostBytes);
  return sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), prepared, rest);
}

// Declares all tables now, as doing so when a statement first names one would look like a change to
// the guard.
Result<void> ConnectAll(SqlDatabase& database, RelationSpan relations) {
  for (const Relation& relation : relations) {
    BS_TRY(database.Prepare(fmt::format("SELECT 1 FROM {}", SqlName(relation.name))));
  }
  return {};
}

int IsOver(void* deadline) { return static_cast<Deadline*>(deadline)->passed() ? 1 : 0; }

}  // namespace

struct Database::State {
  State(std::span<const RankData> ranks, std::span<const Table> tables)
      : relations(tables), data(ranks, relations.all()) {}

  // The error of the last call of SQLite; throws by CheckStop if it was stopped.
  Error ErrorOf(std::string_view sql, const Limits& limits) const;
  // The error for the limit that ended a statement; nullopt if none did.
  std::optional<Error> LimitError(const Limits& limits) const;
  Result<void> RunFirst(std::string_view& sql, ParameterBinder& values, const Limits& limits,
                        std::vector<QueryResult>& answers);
  Result<Statement> Prepare(std::string_view& sql, const Limits& limits);
  Result<QueryResult> Collect(sqlite3_stmt* statement, size_t number, const Limits& limits) const;

  RelationList relations;
  TableData data;
  Guard guard;
  std::unique_ptr<TemporarySpace> temporary = TemporarySpace::Make();
  std::optional<SqlDatabase> database;  // last, so that it is destroyed before what it reads
};

Error Database::State::ErrorOf(std::string_view sql, const Limits& limits) const {
  const std::string_view message = sqlite3_errmsg(database->handle());
  if (!guard.refused().empty()) {
    return RefusedStatement(sql, guard.refused());
  }
  if (message.find(" may not be ") != std::string_view::npos) {
    return RefusedStatement(sql, "a change of a table");
  }
  if (const std::optional<Error> limit = LimitError(limits); limit.has_value()) {
    return *limit;
  }
  return StatementError(message, sql, relations.all());
}

std::optional<Error> Database::State::LimitError(const Limits& limits) const {
  switch (sqlite3_errcode(database->handle())) {
    case SQLITE_INTERRUPT:
      CheckStop();
      return StoppedError(fmt::format("after `time_limit` {} s", limits.seconds.value_or(0)));
    case SQLITE_FULL:
      return temporary->is_exceeded()
                 ? StoppedError("as its temporary files reach `temp_limit` " +
                                BytesText(limits.temporary_bytes))
                 : Error{ErrorCode::kIo, "query: the disk of temporary files is full",
                         "narrow the statement, or name another folder in TMPDIR"};
    case SQLITE_TOOBIG:
      return TooLongError(sqlite3_limit(database->handle(), SQLITE_LIMIT_LENGTH, -1));
    case SQLITE_NOMEM:
      return MemoryError(limits);
    default:
      return std::nullopt;
  }
}

// Prepares the first statement of `sql`, and removes it from `sql`; nullptr if there is none.
Result<Statement> Database::State::Prepare(std::string_view& sql, const Limits& limits) {
  guard.Forget();
  sqlite3_limit(database->handle(), SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int status = PrepareBounded(database->handle(), sql, &prepared, &rest);
  Statement statement(prepared);
  if (status == SQLITE_NOMEM) {
    return Error{ErrorCode::kInvalidArgument,
                 "query: the statement is too large once its subqueries are merged",
                 "make it shorter, or mark them AS MATERIALIZED"};
  }
  if (status != SQLITE_OK) {
    return ErrorOf(sql, limits);
  }
  if (statement != nullptr &&
      (sqlite3_stmt_readonly(prepared) == 0 || sqlite3_column_count(prepared) == 0)) {
    return RefusedStatement(sql, "writing");
  }
  sql.remove_prefix(static_cast<size_t>(rest - sql.data()));
  if (statement != nullptr) {
    sqlite3_limit(database->handle(), SQLITE_LIMIT_LENGTH,
                  LongestValueFor(CountValueOperations(prepared)));
  }
  return statement;
}

// Sums over rows that were cut would be wrong silently.
Error ResultTooLong(size_t rows) {
  return {
      ErrorCode::kInvalidArgument,
      fmt::format("query: the result has more than {} rows; count and sum in the statement, add "
                  "LIMIT to it, or name how many rows to give: --row-limit N, in Python rows=N",
                  rows)};
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
      return Error{ErrorCode::kInvalidArgument, "query: the result has more than 1 GiB of text",
                   "select fewer columns or rows"};
    }
    if (CheckedRows(++rows, "rows of a result") == limits.rows) {
      status = sqlite3_step(statement);
      answer.is_cut = status == SQLITE_ROW;
      break;
    }
  }
  if (answer.is_cut && !limits.is_cut_at_rows) {
    return ResultTooLong(limits.rows);
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

// Runs the first statement of `sql`, and removes it from `sql`.
Result<void> Database::State::RunFirst(std::string_view& sql, ParameterBinder& values,
                                       const Limits& limits, std::vector<QueryResult>& answers) {
  data.deadline() = DeadlineOf(limits);
  temporary->SetLimit(limits.temporary_bytes);
  BS_ASSIGN(const Statement statement, Prepare(sql, limits));
  if (statement == nullptr) {
    return {};
  }
  BS_TRY(values.Bind(statement.get()));
  BS_ASSIGN(QueryResult answer, Collect(statement.get(), answers.size() + 1, limits));
  answers.push_back(std::move(answer));
  return {};
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::Open(std::span<const RankData> ranks, std::span<const Table> tables) {
  auto state = std::make_unique<State>(ranks, tables);
  if (state->temporary == nullptr) {
    return Error{ErrorCode::kIo, "query: SQLite has no file system for temporary files"};
  }
  BS_ASSIGN(SqlDatabase database, SqlDatabase::InMemory("query", state->temporary->name()));
  state->database = std::move(database);
  BS_TRY(RegisterTables(*state->database, state->data));
  BS_TRY(RegisterFunctions(*state->database));
  BS_TRY(RegisterTextFunctions(*state->database, state->data.deadline()));
  for (const ViewSpec& view : Views()) {
    BS_TRY(state->database->Run(fmt::format("CREATE VIEW {} AS {}", SqlName(view.name), view.sql)));
  }
  BS_TRY(ConnectAll(*state->database, state->relations.all()));
  BS_TRY(state->guard.Watch(*state->database));
  constexpr int kStepsBetweenLooks = 50;  // each may take as long as its values are long
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
    const MemoryLimit memory(limits.memory_bytes);
    std::optional<Result<void>> done =
        WithinMemory(memory, [&] { return state_->RunFirst(sql, values, limits, answers); });
    if (!done.has_value()) {
      return MemoryError(limits);
    }
    BS_TRY(std::move(*done));
  }
  BS_TRY(values.CheckAllUsed());
  return answers;
}

bool IsComplete(const std::string& sql) { return sqlite3_complete(sql.c_str()) != 0; }

}  // namespace borescope::internal::query
