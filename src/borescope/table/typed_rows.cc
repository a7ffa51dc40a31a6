#include "borescope/table/typed_rows.h"

#include <utility>
#include <variant>

namespace borescope::internal {
namespace {

template <class T>
const T& MemberAt(const void* row, size_t offset) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(row) + offset);
}

template <class T>
T& MemberAt(void* row, size_t offset) {
  return *reinterpret_cast<T*>(static_cast<char*>(row) + offset);
}

template <class T>
void PushMember(const void* row, const RowColumn& column, Column& cells) {
  if (column.is_optional) {
    PushOptional(cells, MemberAt<std::optional<T>>(row, column.offset));
  } else {
    Push(cells, MemberAt<T>(row, column.offset));
  }
}

void PushCell(const void* row, const RowColumn& column, Column& cells) {
  switch (column.kind) {
    case MemberKind::kInt:
      return PushMember<int64_t>(row, column, cells);
    case MemberKind::kFloat:
      return PushMember<double>(row, column, cells);
    case MemberKind::kBool:
      return PushMember<bool>(row, column, cells);
    case MemberKind::kText:
      return PushMember<std::string>(row, column, cells);
    case MemberKind::kView:
      return PushMember<std::string_view>(row, column, cells);
    case MemberKind::kEnum:
      return PushOptional(cells, column.named.text(row));
  }
}

template <class T, class V>
void Assign(void* row, const RowColumn& column, const V& value) {
  if (column.is_optional) {
    MemberAt<std::optional<T>>(row, column.offset) = T(value);
  } else {
    MemberAt<T>(row, column.offset) = T(value);
  }
}

void ReadCell(const Column& cells, size_t index, const RowColumn& column, void* row) {
  switch (column.kind) {
    case MemberKind::kInt:
      return Assign<int64_t>(row, column, std::get<IntValues>(cells.values)[index]);
    case MemberKind::kFloat:
      return Assign<double>(row, column, std::get<FloatValues>(cells.values)[index]);
    case MemberKind::kBool:
      return Assign<bool>(row, column, std::get<BoolValues>(cells.values)[index] != 0);
    case MemberKind::kText:
      return Assign<std::string>(row, column, std::get<StringValues>(cells.values)[index]);
    case MemberKind::kView:
      return Assign<std::string_view>(row, column, std::get<StringValues>(cells.values)[index]);
    case MemberKind::kEnum:
      return column.named.read(row, std::get<StringValues>(cells.values)[index]);
  }
}

Column NewColumn(const RowColumn& column) {
  Column made{std::string(column.name),
              column.unit,
              column.role,
              std::string(column.doc),
              {},
              {},
              column.hints};
  switch (column.kind) {
    case MemberKind::kInt:
      made.values = IntValues();
      break;
    case MemberKind::kFloat:
      made.values = FloatValues();
      break;
    case MemberKind::kBool:
      made.values = BoolValues();
      break;
    case MemberKind::kText:
    case MemberKind::kView:
    case MemberKind::kEnum:
      made.values = StringValues();
      break;
  }
  return made;
}

}  // namespace

Table NewTable(const TableNames& names, std::span<const RowColumn> columns) {
  Table table{std::string(names.name), std::string(names.title), {}, names.preview_rows};
  for (const RowColumn& column : columns) {
    BS_DCHECK(table.Find(column.name) == nullptr);
    table.columns.push_back(NewColumn(column));
  }
  return table;
}

RowCells::RowCells(Table& table, std::span<const RowColumn> columns) : columns_(columns) {
  for (const RowColumn& column : columns) {
    cells_.push_back(table.Find(column.name));
  }
}

void RowCells::Push(const void* row) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (cells_[i] != nullptr) PushCell(row, columns_[i], *cells_[i]);
  }
}

std::vector<const Column*> FindCells(const Table& table, std::span<const RowColumn> columns) {
  std::vector<const Column*> cells;
  for (const RowColumn& column : columns) {
    cells.push_back(table.Find(column.name));
    BS_CHECK(cells.back() != nullptr || !column.must_exist || table.rows() == 0);
  }
  return cells;
}

void ReadRow(std::span<const RowColumn> columns, std::span<const Column* const> cells, size_t index,
             void* row) {
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool is_present = cells[i] != nullptr && !cells[i]->IsMissing(index);
    if (is_present) ReadCell(*cells[i], index, columns[i], row);
  }
}

std::vector<Column> EmptyCells(Table& table, std::span<const RowColumn> columns) {
  std::vector<Column> before;
  for (const RowColumn& column : columns) {
    if (Column* cells = table.Find(column.name)) {
      Column empty = EmptyLike(*cells);
      before.push_back(std::exchange(*cells, std::move(empty)));
    }
  }
  return before;
}

void DropColumn(Table& table, std::string_view name) {
  std::erase_if(table.columns, [&](const Column& column) { return column.name == name; });
}

const Table& GetTable(std::span<const Table> tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  BS_CHECK(found != tables.end());
  return *found;
}

Table& GetTable(std::vector<Table>& tables, std::string_view name) {
  return const_cast<Table&>(GetTable(std::span<const Table>(tables), name));
}

}  // namespace borescope::internal
