#include "tests/arrow/fixture_tables.h"

#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace borescope::internal::testkit {
namespace {

// A column of each type. Every seventh row is missing where asked for.
Table AllTypes(std::string_view name, int64_t rows, bool has_missing) {
  Table table{std::string(name), "Every type of column", {}};
  AddInt(table, "dur_ns", Unit::kNanoseconds, Role::kSum, "How long.");
  AddFloat(table, "gbps", Unit::kGigabytesPerSecond, Role::kDerived, "How fast.");
  AddString(table, "kernel", Role::kKey, "Which kernel: größer als nötig.");
  AddBool(table, "is_tensor", Role::kMax, "");
  for (int64_t row = 0; row < rows; ++row) {
    if (has_missing && row % 7 == 3) {
      for (Column& column : table.columns) {
        PushMissing(column);
      }
      continue;
    }
    Push(table.columns[0], row * 1'000'000'007 - 5'000'000'000);
    Push(table.columns[1], static_cast<double>(row) / 3);
    Push(table.columns[2], "kernel " + std::to_string(row % 300));
    Push(table.columns[3], row % 3 == 0);
  }
  return table;
}

Table Texts() {
  Table table{"texts", "Texts of all kinds", {}};
  Column& column = AddString(table, "Größe 漢字", Role::kKey, "");
  for (const char* text :
       {"", "a", "Größe", "漢字", "🚀", "a", "tab\tline\nquote\"", "bad \xff", "bad \xfe", ""}) {
    Push(column, text);  // the two bad ones become equal
  }
  Push(column, std::string(100'000, 'x'));
  PushMissing(column);
  return table;
}

Table Extremes() {
  Table table{"extremes", "", {}};
  using Ints = std::numeric_limits<int64_t>;
  using Floats = std::numeric_limits<double>;
  AddInt(table, "count", Unit::kCount, Role::kMin, "").values =
      IntValues{Ints::min(), 0, Ints::max()};
  AddFloat(table, "flops", Unit::kFlops, Role::kMax, "").values =
      FloatValues{Floats::lowest(), Floats::denorm_min(), Floats::max()};
  return table;
}

Table NotFinite() {
  Table table{"not_finite", "", {}};
  using Floats = std::numeric_limits<double>;
  Column& column = AddFloat(table, "share", Unit::kShare, Role::kDerived, "");
  column.values = FloatValues{Floats::quiet_NaN(), Floats::infinity(), -Floats::infinity(), 0};
  column.missing = {0, 0, 0, 1};
  return table;
}

Table AllMissing() {
  Table table = AllTypes("all_missing", 0, false);
  for (Column& column : table.columns) {
    for (int row = 0; row < 9; ++row) {
      PushMissing(column);
    }
  }
  return table;
}

}  // namespace

const std::vector<FixtureTable>& FixtureTables() {
  static const std::vector<FixtureTable> tables = [] {
    std::vector<FixtureTable> made;
    const auto add = [&](Table table, const ExportLimits& limits = {}) {
      made.push_back({std::make_shared<const Table>(std::move(table)), limits});
    };
    add(AllTypes("whole", 100, false));
    add(AllTypes("with_missing", 100, true));
    add(AllTypes("long", 10'000, true));
    add(AllTypes("large_texts", 100, true), {.utf8_bytes = 10});
    add(AllTypes("one_row", 1, false));
    add(AllTypes("no_rows", 0, false));
    add(Table{"no_columns", "", {}});
    add(AllMissing());
    add(Texts());
    add(Extremes());
    add(NotFinite());
    return made;
  }();
  return tables;
}

}  // namespace borescope::internal::testkit
