#include "borescope/table.h"

#include <utility>
#include <variant>

#include "borescope/arrow/export.h"
#include "borescope/base/check.h"
#include "borescope/engine/access.h"
#include "borescope/table/display/unit_and_role_names.h"
#include "borescope/table/table.h"

namespace borescope {

struct Table::Data {
  std::shared_ptr<const internal::Table> table;
};

struct Column::Data {
  std::shared_ptr<const internal::Table> table;  // keeps the column alive
  const internal::Column* column = nullptr;
};

Table TableAccess::Make(std::shared_ptr<const internal::Table> table) {
  Table handle;
  handle.data_ = std::make_shared<const Table::Data>(Table::Data{std::move(table)});
  return handle;
}

std::string_view Table::name() const { return data_->table->name; }
std::string_view Table::title() const { return data_->table->title; }
size_t Table::num_rows() const { return data_->table->rows(); }
size_t Table::num_columns() const { return data_->table->columns.size(); }

Column Table::column(size_t index) const {
  BS_CHECK(index < num_columns());
  Column handle;
  handle.data_ = std::make_shared<const Column::Data>(
      Column::Data{data_->table, &data_->table->columns[index]});
  return handle;
}

bool Table::Find(std::string_view name, Column* column) const {
  for (size_t i = 0; i < num_columns(); ++i) {
    if (data_->table->columns[i].name == name) {
      *column = this->column(i);
      return true;
    }
  }
  return false;
}

void Table::ExportArrow(ArrowArrayStream* out) const { internal::ExportTable(data_->table, out); }
void Table::ExportSchema(ArrowSchema* out) const { internal::ExportSchema(*data_->table, out); }

std::string_view Column::name() const { return data_->column->name; }
std::string_view Column::unit() const { return internal::UnitName(data_->column->unit); }
std::string_view Column::role() const { return internal::RoleName(data_->column->role); }
std::string_view Column::doc() const { return data_->column->doc; }
size_t Column::size() const { return data_->column->size(); }
bool Column::IsMissing(size_t row) const { return data_->column->IsMissing(row); }

ColumnType Column::type() const {
  constexpr ColumnType kTypes[] = {ColumnType::kInt, ColumnType::kFloat, ColumnType::kText,
                                   ColumnType::kBool};
  static_assert(std::variant_size_v<decltype(internal::Column::values)> == std::size(kTypes));
  return kTypes[data_->column->values.index()];
}

int64_t Column::Int(size_t row) const {
  return std::get<internal::IntValues>(data_->column->values)[row];
}

double Column::Float(size_t row) const {
  return std::get<internal::FloatValues>(data_->column->values)[row];
}

std::string_view Column::Text(size_t row) const {
  return std::get<internal::StringValues>(data_->column->values)[row];
}

bool Column::Bool(size_t row) const {
  return std::get<internal::BoolValues>(data_->column->values)[row] != 0;
}

std::span<const int64_t> Column::Ints() const {
  return std::get<internal::IntValues>(data_->column->values);
}

std::span<const double> Column::Floats() const {
  return std::get<internal::FloatValues>(data_->column->values);
}

}  // namespace borescope
