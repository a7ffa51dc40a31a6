#include "borescope/query/value_limit.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace borescope::internal::query {
namespace {

// https://www.sqlite.org/opcode.html; of other operations many run in a moment.
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
    throw std::bad_alloc();  // else a program of any length would look like one of nothing
  }
  return count;
}

int LongestValueFor(size_t operations) {
  constexpr size_t kTogether = size_t{1} << 30;
  constexpr size_t kLeast = size_t{1} << 14;
  const size_t each = kTogether / std::max<size_t>(1, operations);
  return static_cast<int>(std::clamp<size_t>(each, kLeast, kLongestValue));
}

}  // namespace borescope::internal::query
