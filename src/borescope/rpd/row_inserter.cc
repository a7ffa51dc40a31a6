#include "borescope/rpd/row_inserter.h"

#include <fmt/format.h>

namespace borescope::internal {
namespace {

// More rows save little: with ten the largest id is a tenth of the price already.
constexpr size_t kRowsAtOnce = 16;

}  // namespace

Result<RowInserter> RowInserter::Into(const SqlDatabase& database, std::string_view table,
                                      int columns) {
  RowInserter inserter;
  inserter.database_ = &database;
  inserter.table_ = table;
  inserter.columns_ = static_cast<size_t>(columns);
  inserter.full_ = inserter.columns_ * kRowsAtOnce;
  inserter.values_.reserve(inserter.full_);
  BS_ASSIGN(inserter.many_, inserter.PrepareFor(kRowsAtOnce));
  return inserter;
}

Result<SqlStatement> RowInserter::PrepareFor(size_t rows) const {
  std::string row = "(?";
  for (size_t i = 1; i < columns_; ++i) {
    row += ",?";
  }
  row += ')';
  std::string sql = fmt::format("INSERT INTO {} VALUES {}", SqlName(table_), row);
  for (size_t i = 1; i < rows; ++i) {
    sql += ',' + row;
  }
  return database_->Prepare(sql);
}

Result<void> RowInserter::Flush() {
  if (values_.size() == full_ && full_ != 0) {
    return Run(many_);
  }
  if (values_.empty()) {
    return {};
  }
  BS_ASSIGN(SqlStatement rest, PrepareFor(values_.size() / columns_));
  return Run(rest);
}

Result<void> RowInserter::Run(SqlStatement& statement) {
  int parameter = 0;
  for (const Value& value : values_) {
    parameter += 1;
    if (const auto* number = std::get_if<int64_t>(&value)) {
      statement.Bind(parameter, *number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      statement.Bind(parameter, std::string_view(*text));
    } else {
      statement.BindNull(parameter);
    }
  }
  values_.clear();
  return statement.Run();
}

}  // namespace borescope::internal
