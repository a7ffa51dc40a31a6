// Typed rows: a table whose rows are structs. The struct lists its columns once, each with its
// name, its member, unit, role and description; the table, its schema, reading back and merging
// follow from that list.
//
//   struct LedgerRow {
//     int64_t rank = 0;
//     std::string_view item = {};
//     int64_t ns = 0;
//     std::optional<double> share = {};  // missing until the last reduce
//
//     static constexpr TableNames kTable{"ledger", "Where the wall time goes"};
//     static constexpr ColumnOf<LedgerRow> kColumns[] = {
//         {"rank", &LedgerRow::rank, Role::kKey, kRankDoc},
//         {"item", &LedgerRow::item, Role::kKey, "What the time went to."},
//         {"ns", &LedgerRow::ns, Unit::kNanoseconds, Role::kSum, "Wall time."},
//         {"share", &LedgerRow::share, Unit::kShare, Role::kDerived, "Time / span."}};
//   };
//
//   Table table = MakeTable(rows);                            // map
//   std::vector<LedgerRow> rows = ReadRows<LedgerRow>(table); // finish
//
// To add a column: its member and its line in the list. A member is an int64_t, double, bool,
// std::string, std::string_view, a std::optional of these, which may be missing, or an enum (see
// EnumText); each has an initialiser, so that rows may be made with the members that are known.
// Tables with a row for each of millions of events are better filled column by column. Pure
// functions on values: safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

// Name, title and preview of the table of a row type: see Table.
struct TableNames {
  std::string_view name;
  std::string_view title;
  size_t preview_rows = 0;
};

// Hints of a column: see ColumnHints.
constexpr ColumnHints InTone(Tone tone) { return {.tone = tone}; }
constexpr ColumnHints InColours(Palette palette) { return {.palette = palette}; }
constexpr ColumnHints AsNames(Palette palette = Palette::kNone) {
  return {.palette = palette, .names = true};
}

// How a member holds the cell of its column.
enum class MemberKind : uint8_t { kInt, kFloat, kBool, kText, kView, kEnum };

// An enum member whose cells are texts. Of an enum, `text` gives a text and `read` takes one.
struct EnumMember {
  std::optional<std::string_view> (*text)(const void* row) = nullptr;
  void (*read)(void* row, std::string_view text) = nullptr;
};

namespace typed_rows {

template <class Member>
struct MemberOf;
template <class R, class V>
struct MemberOf<V R::*> {
  using Row = R;
  using Value = V;
};
template <class V>
struct Bare {
  using Type = V;
};
template <class V>
struct Bare<std::optional<V>> {
  using Type = V;
};

}  // namespace typed_rows

// The member `kMember`, an enum or an optional one, as the text that `kName` gives for its value;
// the empty text is a missing cell. Reading back finds the value by its text, among those before
// `kEnd`; a text that none has leaves the member as it is by default.
template <auto kMember, auto kName, auto kEnd>
constexpr EnumMember EnumText() {
  using Of = typename typed_rows::MemberOf<decltype(kMember)>::Row;
  using Value = typename typed_rows::MemberOf<decltype(kMember)>::Value;
  using Enum = typename typed_rows::Bare<Value>::Type;
  return {[](const void* row) -> std::optional<std::string_view> {
            const Value& value = static_cast<const Of*>(row)->*kMember;
            std::string_view text;
            if constexpr (std::is_same_v<Value, Enum>) {
              text = kName(value);
            } else if (value.has_value()) {
              text = kName(*value);
            }
            return text.empty() ? std::nullopt : std::optional(text);
          },
          [](void* row, std::string_view text) {
            for (size_t i = 0; i < static_cast<size_t>(kEnd); ++i) {
              if (kName(static_cast<Enum>(i)) == text) {
                static_cast<Of*>(row)->*kMember = static_cast<Enum>(i);
                return;
              }
            }
          }};
}

// One column of the table of `Row`: a line in its list.
template <class Row>
class ColumnOf {
 public:
  // The place of a member in its row. Implicit, so that a line of a list may name the member.
  struct Member {
    // NOLINTBEGIN(google-explicit-constructor): a list of columns reads better without it
    constexpr Member(int64_t Row::* member) : kind(MemberKind::kInt), number(member) {}
    constexpr Member(double Row::* member) : kind(MemberKind::kFloat), real(member) {}
    constexpr Member(bool Row::* member) : kind(MemberKind::kBool), flag(member) {}
    constexpr Member(std::string Row::* member) : kind(MemberKind::kText), text(member) {}
    constexpr Member(std::string_view Row::* member) : kind(MemberKind::kView), view(member) {}
    constexpr Member(std::optional<int64_t> Row::* member)
        : kind(MemberKind::kInt), is_optional(true), maybe_number(member) {}
    constexpr Member(std::optional<double> Row::* member)
        : kind(MemberKind::kFloat), is_optional(true), maybe_real(member) {}
    constexpr Member(std::optional<bool> Row::* member)
        : kind(MemberKind::kBool), is_optional(true), maybe_flag(member) {}
    constexpr Member(std::optional<std::string> Row::* member)
        : kind(MemberKind::kText), is_optional(true), maybe_text(member) {}
    constexpr Member(std::optional<std::string_view> Row::* member)
        : kind(MemberKind::kView), is_optional(true), maybe_view(member) {}
    constexpr Member(EnumMember member) : kind(MemberKind::kEnum), named(member) {}
    // NOLINTEND(google-explicit-constructor)

    size_t OffsetIn(const Row& row) const;

    MemberKind kind;
    bool is_optional = false;
    union {
      int64_t Row::* number;
      double Row::* real;
      bool Row::* flag;
      std::string Row::* text;
      std::string_view Row::* view;
      std::optional<int64_t> Row::* maybe_number;
      std::optional<double> Row::* maybe_real;
      std::optional<bool> Row::* maybe_flag;
      std::optional<std::string> Row::* maybe_text;
      std::optional<std::string_view> Row::* maybe_view;
      EnumMember named;
    };
  };

  constexpr ColumnOf(std::string_view column, Member place, Unit unit_of, Role role_of,
                     std::string_view description, ColumnHints shown = {})
      : name(column), member(place), unit(unit_of), role(role_of), doc(description), hints(shown) {}
  // Without a unit.
  constexpr ColumnOf(std::string_view column, Member place, Role role_of,
                     std::string_view description, ColumnHints shown = {})
      : ColumnOf(column, place, Unit::kNone, role_of, description, shown) {}

  // A column of a table that others make, of which this type of rows reads some columns.
  // REQUIRES: a table with rows has it.
  constexpr ColumnOf(std::string_view column, Member place)
      : ColumnOf(column, place, Unit::kNone, Role::kDerived, "") {
    must_exist = true;
  }

  std::string_view name;
  Member member;
  Unit unit;
  Role role;
  std::string_view doc;
  ColumnHints hints;
  bool is_carried = false;
  bool must_exist = false;
};

// A column in which something is carried from map to finish only; DropCarried takes it out.
template <class Row>
constexpr ColumnOf<Row> Carried(ColumnOf<Row> column) {
  column.is_carried = true;
  return column;
}

// A ColumnOf without the type of its row: what the functions of typed_rows.cc work with.
struct RowColumn {
  std::string_view name;
  Unit unit = Unit::kNone;
  Role role = Role::kDerived;
  std::string_view doc;
  ColumnHints hints;
  bool is_carried = false;
  bool must_exist = false;
  MemberKind kind = MemberKind::kInt;
  bool is_optional = false;
  size_t offset = 0;  // of the member in its row
  EnumMember named;
};

// The columns of a row type.
template <class Row>
const std::vector<RowColumn>& ColumnsOf();

// A table of these names and columns without rows.
Table NewTable(const TableNames& names, std::span<const RowColumn> columns);

// Appends rows to a table, and reads them: the columns are found once, by name. Columns of the
// table that the list has not, as those of --by, are left alone; members whose column the table
// has not are not written, and keep their default when read.
class RowCells {
 public:
  // `table` outlives this, and keeps its columns.
  RowCells(Table& table, std::span<const RowColumn> columns);
  // REQUIRES: `row` is of the type that `columns` are of.
  void Push(const void* row);

 private:
  std::span<const RowColumn> columns_;
  std::vector<Column*> cells_;  // nullptr: the table has no such column
};

// Writes the cells of row `index` into the members of `row`. `cells` as FindCells gives them.
void ReadRow(std::span<const RowColumn> columns, std::span<const Column* const> cells, size_t index,
             void* row);
// The column of each listed one; nullptr where the table has none of that name.
std::vector<const Column*> FindCells(const Table& table, std::span<const RowColumn> columns);

// Takes the listed columns out of `table`, and puts empty ones in their places.
std::vector<Column> EmptyCells(Table& table, std::span<const RowColumn> columns);

// A table of `Row` without rows.
template <class Row>
Table NewTable() {
  return NewTable(Row::kTable, ColumnsOf<Row>());
}

// Appends rows to a table one by one, for tables that are made in one pass.
template <class Row>
class RowWriter {
 public:
  // `table` outlives this.
  explicit RowWriter(Table& table) : cells_(table, ColumnsOf<Row>()) {}
  void Push(const Row& row) { cells_.Push(&row); }

 private:
  RowCells cells_;
};

// The table of these rows; with other names than those of their type, where several tables have
// such rows.
template <class Row>
Table MakeTable(const std::vector<Row>& rows, const TableNames& names) {
  Table table = NewTable(names, ColumnsOf<Row>());
  RowWriter<Row> writer(table);
  for (const Row& row : rows) {
    writer.Push(row);
  }
  return table;
}
template <class Row>
Table MakeTable(const std::vector<Row>& rows) {
  return MakeTable(rows, Row::kTable);
}

// Appends the listed columns that a table does not have, with the cells of `rows`.
// REQUIRES: a row for each of the table.
template <class Row>
void AddColumns(Table& table, const std::vector<Row>& rows) {
  BS_DCHECK(table.columns.empty() || rows.size() == table.rows());
  for (Column& column : MakeTable(rows, TableNames()).columns) {
    if (table.Find(column.name) == nullptr) table.columns.push_back(std::move(column));
  }
}

// The rows of a table. Members that are views are of texts in the table: valid while it lives and
// is not changed.
template <class Row>
std::vector<Row> ReadRows(const Table& table) {
  const std::vector<RowColumn>& columns = ColumnsOf<Row>();
  const std::vector<const Column*> cells = FindCells(table, columns);
  std::vector<Row> rows(table.rows());
  for (size_t i = 0; i < rows.size(); ++i) {
    ReadRow(columns, cells, i, &rows[i]);
  }
  return rows;
}

// Calls `change(row)` for each row of a table, and keeps what it changed; columns that are not
// listed, as those of --by, stay.
template <class Row, class Change>
void UpdateRows(Table& table, const Change& change) {
  std::vector<Row> rows = ReadRows<Row>(table);
  for (Row& row : rows) {
    change(row);
  }
  const std::vector<Column> before = EmptyCells(table, ColumnsOf<Row>());  // what views are of
  RowWriter<Row> writer(table);
  for (const Row& row : rows) {
    writer.Push(row);
  }
}

// The rows of a table for which `is_kept(row)`, in their order, with all columns.
template <class Row, class IsKept>
Table RowsWhere(const Table& table, const IsKept& is_kept) {
  const std::vector<Row> rows = ReadRows<Row>(table);
  std::vector<uint32_t> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (is_kept(rows[i])) kept.push_back(static_cast<uint32_t>(i));
  }
  return TakeRows(table, kept);
}

// The sum of a member; at most what an integer holds.
template <class Row>
int64_t SumOf(const std::vector<Row>& rows, int64_t Row::* member) {
  int64_t sum = 0;
  for (const Row& row : rows) {
    AddSaturatingTo(sum, row.*member);
  }
  return sum;
}

// Takes out the columns that are carried until the last reduce.
template <class Row>
void DropCarried(Table& table) {
  std::erase_if(table.columns, [](const Column& column) {
    const std::vector<RowColumn>& columns = ColumnsOf<Row>();
    return std::any_of(columns.begin(), columns.end(), [&](const RowColumn& listed) {
      return listed.is_carried && listed.name == column.name;
    });
  });
}

// Takes out the column called `name`; no fault if there is none.
void DropColumn(Table& table, std::string_view name);

// The table of `Row` among these; by its name. REQUIRES: there is one.
const Table& GetTable(std::span<const Table> tables, std::string_view name);
Table& GetTable(std::vector<Table>& tables, std::string_view name);
template <class Row>
const Table& TableOf(std::span<const Table> tables) {
  return GetTable(tables, Row::kTable.name);
}
template <class Row>
Table& TableOf(std::vector<Table>& tables) {
  return GetTable(tables, Row::kTable.name);
}
template <class Row>
std::vector<Row> ReadRows(std::span<const Table> tables) {
  return ReadRows<Row>(TableOf<Row>(tables));
}

template <class Row>
size_t ColumnOf<Row>::Member::OffsetIn(const Row& row) const {
  const auto offset = [&](const auto& member) {
    return static_cast<size_t>(reinterpret_cast<const char*>(&member) -
                               reinterpret_cast<const char*>(&row));
  };
  switch (kind) {
    case MemberKind::kInt:
      return is_optional ? offset(row.*maybe_number) : offset(row.*number);
    case MemberKind::kFloat:
      return is_optional ? offset(row.*maybe_real) : offset(row.*real);
    case MemberKind::kBool:
      return is_optional ? offset(row.*maybe_flag) : offset(row.*flag);
    case MemberKind::kText:
      return is_optional ? offset(row.*maybe_text) : offset(row.*text);
    case MemberKind::kView:
      return is_optional ? offset(row.*maybe_view) : offset(row.*view);
    case MemberKind::kEnum:
      return 0;
  }
  return 0;
}

template <class Row>
const std::vector<RowColumn>& ColumnsOf() {
  static const std::vector<RowColumn> columns = [] {
    const Row row{};
    std::vector<RowColumn> made;
    for (const ColumnOf<Row>& column : Row::kColumns) {
      const bool is_enum = column.member.kind == MemberKind::kEnum;
      made.push_back({column.name, column.unit, column.role, column.doc, column.hints,
                      column.is_carried, column.must_exist, column.member.kind,
                      column.member.is_optional, column.member.OffsetIn(row),
                      is_enum ? column.member.named : EnumMember{}});
    }
    return made;
  }();
  return columns;
}

}  // namespace borescope::internal
