#include "borescope/table/table.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "borescope/base/check.h"

namespace borescope::internal {

namespace {

template <class Values>
Column& Add(Table& table, std::string_view name, Unit unit, Role role, std::string_view doc) {
  BS_DCHECK(table.Find(name) == nullptr);
  return table.columns.emplace_back(
      Column{std::string(name), unit, role, std::string(doc), Values(), {}});
}

// The mark of the newest cell, once the column has marks at all.
void MarkPresent(Column& column) {
  if (!column.missing.empty()) {
    column.missing.push_back(0);
  }
}

template <class Values, class T>
void PushValue(Column& column, const T& value) {
  auto* values = std::get_if<Values>(&column.values);
  BS_CHECK(values != nullptr);
  values->push_back(value);
  MarkPresent(column);
}

}  // namespace

size_t Column::size() const {
  return std::visit([](const auto& cells) { return cells.size(); }, values);
}

const Column* Table::Find(std::string_view column) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& c) { return c.name == column; });
  return found == columns.end() ? nullptr : &*found;
}

Column* Table::Find(std::string_view column) {
  return const_cast<Column*>(std::as_const(*this).Find(column));
}

Column EmptyLike(const Column& column, std::string_view prefix) {
  Column made{std::string(prefix) + column.name,
              column.unit,
              column.role,
              column.doc,
              {},
              {},
              column.hints};
  std::visit([&](const auto& cells) { made.values = std::decay_t<decltype(cells)>(); },
             column.values);
  return made;
}

Column& AddInt(Table& table, std::string_view name, Unit unit, Role role, std::string_view doc) {
  return Add<IntValues>(table, name, unit, role, doc);
}

Column& AddFloat(Table& table, std::string_view name, Unit unit, Role role, std::string_view doc) {
  return Add<FloatValues>(table, name, unit, role, doc);
}

Column& AddString(Table& table, std::string_view name, Role role, std::string_view doc) {
  return Add<StringValues>(table, name, Unit::kNone, role, doc);
}

Column& AddBool(Table& table, std::string_view name, Role role, std::string_view doc) {
  return Add<BoolValues>(table, name, Unit::kNone, role, doc);
}

void Push(Column& column, int64_t value) { PushValue<IntValues>(column, value); }
void Push(Column& column, double value) { PushValue<FloatValues>(column, value); }
void Push(Column& column, std::string_view value) { PushValue<StringValues>(column, value); }
void Push(Column& column, bool value) { PushValue<BoolValues>(column, static_cast<char>(value)); }

void PushMissing(Column& column) {
  column.missing.resize(column.size(), 0);
  std::visit([](auto& cells) { cells.emplace_back(); }, column.values);
  column.missing.push_back(1);
}

std::string FaultOf(const Table& table) {
  std::set<std::string_view> names;
  for (const Column& column : table.columns) {
    if (column.size() != table.rows()) {
      return "columns of " + std::to_string(table.rows()) + " and of " +
             std::to_string(column.size()) + " rows";
    }
    if (!names.insert(column.name).second) {
      return "two columns of one name";
    }
    if (column.role == Role::kSum && !column.IsNumber()) {
      return "sums that are no numbers";
    }
  }
  return {};
}

}  // namespace borescope::internal
