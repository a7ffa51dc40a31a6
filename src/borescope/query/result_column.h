// From the values of a result, whose types SQLite leaves open, to columns of one type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/table/table.h"

struct sqlite3_stmt;  // NOLINT(readability-identifier-naming): of SQLite

namespace borescope::internal::query {

// Collects one column. All integers: int. Integers and reals: float. Else text, of what is stored
// as bytes in the notation of SQL (X'00FF').
class ResultColumn {
 public:
  // Adds the value of the row the statement stands on. Returns the bytes of text it took.
  size_t Add(sqlite3_stmt* statement, int column);

  // `declared` is the type of the column it comes from, which decides where no row has a value.
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

}  // namespace borescope::internal::query
