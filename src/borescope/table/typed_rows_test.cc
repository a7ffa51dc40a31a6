#include "borescope/table/typed_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

enum class Colour : uint8_t { kRed, kGreen, kCount };

std::string_view ColourName(Colour colour) {
  constexpr std::array<std::string_view, 2> kNames = {"red", "green"};
  return colour == Colour::kCount ? std::string_view() : kNames[static_cast<size_t>(colour)];
}

// A member of every kind.
struct EveryKind {
  int64_t rank = 0;
  double share = 0;
  bool outlier = false;
  std::string text;
  std::string_view view;
  std::optional<int64_t> step;
  std::optional<double> rate;
  std::optional<bool> stable;
  std::optional<std::string> note;
  std::optional<std::string_view> group;
  Colour colour = Colour::kCount;
  std::optional<Colour> other;
  int64_t sum_ns = 0;

  bool operator==(const EveryKind&) const = default;

  static constexpr TableNames kTable{"every_kind", "Every kind", 3};
  static constexpr ColumnOf<EveryKind> kColumns[] = {
      {"rank", &EveryKind::rank, Role::kKey, "Rank."},
      {"share", &EveryKind::share, Unit::kShare, Role::kDerived, "Share."},
      {"outlier", &EveryKind::outlier, Role::kDerived, "Outlier."},
      {"text", &EveryKind::text, Role::kDerived, "Text.", AsNames()},
      {"view", &EveryKind::view, Role::kDerived, "View."},
      {"step", &EveryKind::step, Role::kKey, "Step."},
      {"rate", &EveryKind::rate, Role::kDerived, "Rate."},
      {"stable", &EveryKind::stable, Role::kDerived, "Stable."},
      {"note", &EveryKind::note, Role::kDerived, "Note."},
      {"group", &EveryKind::group, Role::kDerived, "Group."},
      {"colour", EnumText<&EveryKind::colour, ColourName, Colour::kCount>(), Role::kDerived, "C."},
      {"other", EnumText<&EveryKind::other, ColourName, Colour::kCount>(), Role::kDerived, "O."},
      Carried<EveryKind>(
          {"sum_ns", &EveryKind::sum_ns, Unit::kNanoseconds, Role::kSum, "Carried."})};
};

EveryKind Full() {
  EveryKind row;
  row.rank = 7;
  row.share = 0.5;
  row.outlier = true;
  row.text = "a text too long to lie inside of its string";
  row.view = "view";
  row.step = 3;
  row.rate = 1.5;
  row.stable = false;
  row.note = "note";
  row.group = "group";
  row.colour = Colour::kGreen;
  row.other = Colour::kRed;
  row.sum_ns = 9;
  return row;
}

TEST(TypedRows, TheListGivesTheSchema) {
  const Table table = NewTable<EveryKind>();
  EXPECT_EQ(table.name, "every_kind");
  EXPECT_EQ(table.title, "Every kind");
  EXPECT_EQ(table.preview_rows, 3U);
  EXPECT_EQ(table.rows(), 0U);
  ASSERT_EQ(table.columns.size(), std::size(EveryKind::kColumns));
  EXPECT_EQ(table.columns[1].unit, Unit::kShare);
  EXPECT_EQ(table.columns[0].role, Role::kKey);
  EXPECT_EQ(table.columns[0].doc, "Rank.");
  EXPECT_TRUE(table.columns[3].hints.names);
  EXPECT_TRUE(std::holds_alternative<StringValues>(table.columns[10].values));
  EXPECT_TRUE(std::holds_alternative<BoolValues>(table.columns[7].values));
}

TEST(TypedRows, WhatIsWrittenIsReadBack) {
  const std::vector<EveryKind> rows = {Full(), EveryKind(), Full()};
  const Table table = MakeTable(rows);
  EXPECT_EQ(ReadRows<EveryKind>(table), rows);
}

TEST(TypedRows, MembersWithoutAValueAreMissingCells) {
  const Table table = MakeTable<EveryKind>({EveryKind(), Full()});
  for (const std::string_view name : {"step", "rate", "stable", "note", "group", "colour"}) {
    EXPECT_TRUE(table.Find(name)->IsMissing(0)) << name;
    EXPECT_FALSE(table.Find(name)->IsMissing(1)) << name;
  }
  for (const std::string_view name : {"rank", "share", "outlier", "text", "view"}) {
    EXPECT_FALSE(table.Find(name)->IsMissing(0)) << name;
  }
}

TEST(TypedRows, ATextThatNoValueHasIsNone) {
  Table table = MakeTable<EveryKind>({Full()});
  Column& colour = *table.Find("colour");
  colour = EmptyLike(colour);
  Push(colour, "blue");
  EXPECT_EQ(ReadRows<EveryKind>(table)[0].colour, Colour::kCount);
}

// A table merged by the roles of its list is that of rows merged by hand.
TEST(TypedRows, RolesDecideHowRowsMerge) {
  EveryKind other = Full();
  other.sum_ns = 5;
  other.share = 0.25;
  const std::vector<EveryKind> merged =
      ReadRows<EveryKind>(MergeByKey(MakeTable<EveryKind>({Full(), other})));
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(merged[0].sum_ns, 14);
  EXPECT_EQ(merged[0].rank, 7);
  EXPECT_EQ(merged[0].share, 0);  // derived, and they differ: missing
}

TEST(TypedRows, AnUpdateLeavesOtherColumnsAlone) {
  Table table = MakeTable<EveryKind>({Full(), EveryKind()});
  Column key{"phase", Unit::kNone, Role::kKey, "A key of --by.", StringValues(), {}};
  Push(key, "forward");
  PushMissing(key);
  table.columns.insert(table.columns.begin(), std::move(key));
  DropColumn(table, "group");
  UpdateRows<EveryKind>(table, [](EveryKind& row) {
    row.rate = row.step ? std::optional(2.5) : std::nullopt;
    row.colour = Colour::kRed;
  });
  EXPECT_EQ(table.Find("group"), nullptr);
  EXPECT_EQ(Head(table, 1).Find("phase")->IsMissing(0), false);
  EXPECT_TRUE(table.Find("phase")->IsMissing(1));
  EveryKind expected = Full();
  expected.rate = 2.5;
  expected.colour = Colour::kRed;
  expected.group = std::nullopt;  // the table has no such column
  const std::vector<EveryKind> rows = ReadRows<EveryKind>(table);
  EXPECT_EQ(rows[0], expected);
  EXPECT_EQ(rows[1].rate, std::nullopt);
  EXPECT_EQ(rows[1].colour, Colour::kRed);
}

// Some columns of a table that others make.
struct ReadOnly {
  int64_t rank = 0;
  int64_t absent = 0;

  static constexpr ColumnOf<ReadOnly> kColumns[] = {{"rank", &ReadOnly::rank},
                                                    {"absent", &ReadOnly::absent}};
};

TEST(TypedRowsDeathTest, AColumnOfOthersMustBeThere) {
  Table table{"every_kind", "", {}};
  Push(AddInt(table, "rank", Unit::kNone, Role::kKey, ""), int64_t{4});
  EXPECT_DEATH(ReadRows<ReadOnly>(table), "must_exist");
  Push(AddInt(table, "absent", Unit::kNone, Role::kKey, ""), int64_t{5});
  const std::vector<ReadOnly> rows = ReadRows<ReadOnly>(table);
  EXPECT_EQ(rows[0].rank, 4);
  EXPECT_EQ(rows[0].absent, 5);
}

TEST(TypedRows, SumsDoNotWrapRound) {
  std::vector<EveryKind> rows(2);
  rows[0].sum_ns = rows[1].sum_ns = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(SumOf(rows, &EveryKind::sum_ns), std::numeric_limits<int64_t>::max());
}

TEST(TypedRows, RowsAreKeptWithAllColumns) {
  const Table table =
      RowsWhere<EveryKind>(MakeTable<EveryKind>({EveryKind(), Full(), EveryKind()}),
                           [](const EveryKind& row) { return row.step.has_value(); });
  EXPECT_EQ(ReadRows<EveryKind>(table), std::vector<EveryKind>{Full()});
}

TEST(TypedRows, WhatIsCarriedIsDropped) {
  Table table = MakeTable<EveryKind>({Full()});
  DropCarried<EveryKind>(table);
  EXPECT_EQ(table.Find("sum_ns"), nullptr);
  EXPECT_EQ(table.columns.size(), std::size(EveryKind::kColumns) - 1);
}

TEST(TypedRows, TablesAreFoundByTheNameOfTheirRows) {
  std::vector<Table> tables = {Table{"other", "Other", {}}, MakeTable<EveryKind>({Full()})};
  EXPECT_EQ(&TableOf<EveryKind>(tables), &tables[1]);
  EXPECT_EQ(ReadRows<EveryKind>(std::span<const Table>(tables)).size(), 1U);
  tables.pop_back();
  EXPECT_DEATH(TableOf<EveryKind>(tables), "found != tables.end");
}

}  // namespace
}  // namespace borescope::internal
