#include "borescope/query/guard.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/query/functions.h"

namespace borescope::internal::query {

namespace {

// Limits of statements, so that neither preparing one nor a single step takes long. The length of
// values depends on the statement (LongestValueFor).
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

// Words for the actions that people try; all other actions are refused too.
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

// The functions of SQLite that only compute with values. Others read files, load code, or show
// addresses in memory (fts3_tokenizer), depending on how the system's SQLite was built. Left out
// are json_patch, which takes as long as the product of the lengths of two objects, and
// json_pretty, whose result may be a thousand times as long as its argument before it is refused.
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

// Names of functions ignore case: LoWeR.
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

Result<void> Guard::Watch(SqlDatabase& database) {
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // An unknown column in double quotation marks is an error, not a text.
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  for (const LimitRow& row : kLimits) {
    sqlite3_limit(database.handle(), row.limit, row.value);
  }
  // These make their tables when they are first used, which would be refused as a change.
  for (const char* reading : {"SELECT 1 FROM json_each('[]')", "SELECT 1 FROM json_tree('[]')"}) {
    BS_TRY(database.Run(reading));
  }
  sqlite3_set_authorizer(database.handle(), Decide, this);
  return {};
}

namespace {

std::mutex& OneAtATime() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

HeapLimit::HeapLimit(int64_t more_bytes)
    : lock_(OneAtATime()),
      hard_before_(sqlite3_hard_heap_limit64(-1)),
      soft_before_(sqlite3_soft_heap_limit64(-1)) {
  const int64_t limit = sqlite3_memory_used() + more_bytes;
  sqlite3_hard_heap_limit64(hard_before_ == 0 ? limit : std::min(limit, hard_before_));
}

// The hard limit lowers the soft one, which therefore comes last.
HeapLimit::~HeapLimit() {
  sqlite3_hard_heap_limit64(hard_before_);
  sqlite3_soft_heap_limit64(soft_before_);
}

namespace {

// https://www.sqlite.org/opcode.html; other operations take little time.
constexpr std::string_view kOfValues[] = {
    "AggFinal", "AggInverse", "AggStep",      "AggStep1", "AggValue", "Cast",       "Column",
    "Compare",  "Concat",     "Copy",         "Eq",       "Found",    "Function",   "Ge",
    "Gt",       "IdxInsert",  "Insert",       "Le",       "Lt",       "MakeRecord", "Ne",
    "NotFound", "PureFunc",   "SorterInsert", "VColumn",  "VFilter"};
static_assert(std::is_sorted(std::begin(kOfValues), std::end(kOfValues)));

}  // namespace

size_t CountValueOperations(sqlite3_stmt* statement) {
  constexpr int kOpcode = 1;  // of the columns of EXPLAIN
  if (sqlite3_stmt_isexplain(statement) != 0) {
    return 0;
  }
  const std::string sql = "EXPLAIN " + std::string(sqlite3_sql(statement));
  sqlite3_stmt* prepared = nullptr;
  const int status =
      sqlite3_prepare_v2(sqlite3_db_handle(statement), sql.c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> program(prepared,
                                                                           sqlite3_finalize);
  size_t count = 0;
  int step = status == SQLITE_OK ? sqlite3_step(prepared) : status;
  for (; step == SQLITE_ROW; step = sqlite3_step(prepared)) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(prepared, kOpcode));
    const std::string_view opcode = text == nullptr ? "" : text;
    count += std::binary_search(std::begin(kOfValues), std::end(kOfValues), opcode) ? 1 : 0;
  }
  if (step == SQLITE_NOMEM) {
    throw std::bad_alloc();  // else a program of any length would seem empty
  }
  return count;
}

int LongestValueFor(size_t operations) {
  constexpr size_t kTogether = size_t{1} << 30;
  constexpr size_t kLeast = size_t{1} << 14;
  const size_t each = kTogether / std::max<size_t>(1, operations);
  return static_cast<int>(std::clamp<size_t>(each, kLeast, kLongestValue));
}

// https://www.sqlite.org/vfs.html
struct TemporarySpace::State {
  sqlite3_vfs vfs{};
  sqlite3_vfs* standard = nullptr;
  std::string name;
  uint64_t limit = 0;
  uint64_t used = 0;
  bool is_exceeded = false;
  bool is_registered = false;
};

namespace {

using State = TemporarySpace::State;

// Our file, followed in the same memory by the file of the standard file system.
struct File : sqlite3_file {
  State* space;
  uint64_t size;
};
constexpr size_t kOffset = (sizeof(File) + alignof(std::max_align_t) - 1) /
                           alignof(std::max_align_t) * alignof(std::max_align_t);

File& OwnOf(sqlite3_file* file) { return *static_cast<File*>(file); }
sqlite3_file* RealOf(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kOffset);
}

// Sets the counted size of `file`; false if the total is too large.
bool Resize(File& file, uint64_t size) {
  State& space = *file.space;
  const uint64_t used = space.used - file.size + size;
  if (size > file.size && space.limit != 0 && used > space.limit) {
    space.is_exceeded = true;
    return false;
  }
  space.used = used;
  file.size = size;
  return true;
}

int Close(sqlite3_file* file) {
  Resize(OwnOf(file), 0);
  return RealOf(file)->pMethods->xClose(RealOf(file));
}

int Read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
  return RealOf(file)->pMethods->xRead(RealOf(file), out, size, offset);
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  const auto end = static_cast<uint64_t>(offset) + static_cast<uint64_t>(size);
  if (end > OwnOf(file).size && !Resize(OwnOf(file), end)) {
    return SQLITE_FULL;
  }
  return RealOf(file)->pMethods->xWrite(RealOf(file), bytes, size, offset);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int status = RealOf(file)->pMethods->xTruncate(RealOf(file), size);
  if (status == SQLITE_OK && static_cast<uint64_t>(size) < OwnOf(file).size) {
    Resize(OwnOf(file), static_cast<uint64_t>(size));
  }
  return status;
}

// Version 1: without memory mapping, which would write past the count.
constexpr sqlite3_io_methods MakeMethods() {
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = Close;
  methods.xRead = Read;
  methods.xWrite = Write;
  methods.xTruncate = Truncate;
  methods.xSync = [](sqlite3_file* file, int flags) {
    return RealOf(file)->pMethods->xSync(RealOf(file), flags);
  };
  methods.xFileSize = [](sqlite3_file* file, sqlite3_int64* size) {
    return RealOf(file)->pMethods->xFileSize(RealOf(file), size);
  };
  methods.xLock = [](sqlite3_file* file, int kind) {
    return RealOf(file)->pMethods->xLock(RealOf(file), kind);
  };
  methods.xUnlock = [](sqlite3_file* file, int kind) {
    return RealOf(file)->pMethods->xUnlock(RealOf(file), kind);
  };
  methods.xCheckReservedLock = [](sqlite3_file* file, int* out) {
    return RealOf(file)->pMethods->xCheckReservedLock(RealOf(file), out);
  };
  // Ignores hints about future sizes, which could enlarge the file.
  methods.xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; };
  methods.xSectorSize = [](sqlite3_file* file) {
    return RealOf(file)->pMethods->xSectorSize(RealOf(file));
  };
  methods.xDeviceCharacteristics = [](sqlite3_file* file) {
    return RealOf(file)->pMethods->xDeviceCharacteristics(RealOf(file));
  };
  return methods;
}
constexpr sqlite3_io_methods kMethods = MakeMethods();

// Temporary files have no path; a database in memory opens no other.
int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
  auto& space = *static_cast<State*>(vfs->pAppData);
  file->pMethods = nullptr;
  if (path != nullptr) {
    return SQLITE_CANTOPEN;
  }
  const int status = space.standard->xOpen(space.standard, path, RealOf(file), flags, out);
  if (status == SQLITE_OK) {
    OwnOf(file).space = &space;
    OwnOf(file).size = 0;
    file->pMethods = &kMethods;
  }
  return status;
}

}  // namespace

TemporarySpace::TemporarySpace(std::unique_ptr<State> state) : state_(std::move(state)) {}

TemporarySpace::~TemporarySpace() {
  if (state_->is_registered) {
    sqlite3_vfs_unregister(&state_->vfs);
  }
}

std::unique_ptr<TemporarySpace> TemporarySpace::Make() {
  static std::atomic<int> number = 0;
  auto state = std::make_unique<State>();
  state->standard = sqlite3_vfs_find(nullptr);
  if (state->standard == nullptr) {
    return nullptr;
  }
  state->name = "borescope temporary " + std::to_string(++number);
  state->vfs = *state->standard;
  state->vfs.pNext = nullptr;
  state->vfs.zName = state->name.c_str();
  state->vfs.pAppData = state.get();
  state->vfs.szOsFile += static_cast<int>(kOffset);
  state->vfs.xOpen = Open;
  state->is_registered = sqlite3_vfs_register(&state->vfs, 0) == SQLITE_OK;
  return state->is_registered
             ? std::unique_ptr<TemporarySpace>(new TemporarySpace(std::move(state)))
             : nullptr;
}

const char* TemporarySpace::name() const { return state_->name.c_str(); }

void TemporarySpace::SetLimit(uint64_t bytes) {
  state_->limit = bytes;
  state_->is_exceeded = false;
}

uint64_t TemporarySpace::limit() const { return state_->limit; }
bool TemporarySpace::is_exceeded() const { return state_->is_exceeded; }

}  // namespace borescope::internal::query
