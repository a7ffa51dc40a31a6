#include "borescope/query/result_column.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

namespace borescope::internal::query {
namespace {

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

}  // namespace

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
    const std::string_view text = TextAt(statement, column);
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

}  // namespace borescope::internal::query
