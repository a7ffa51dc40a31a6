#include "borescope/table/table_ops.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <string_view>

namespace borescope::internal {

namespace {

void ExpectRanksCompareAsTexts(const StringValues& cells) {
  const std::vector<uint32_t> ranks = TextRanks(cells);
  ASSERT_EQ(ranks.size(), cells.size());
  for (size_t a = 0; a < cells.size(); ++a) {
    for (size_t b = 0; b < cells.size(); ++b) {
      ASSERT_EQ(cells[a] < cells[b], ranks[a] < ranks[b]) << cells[a] << " " << cells[b];
    }
  }
}

TEST(TextRanks, OfNothingAreNone) { EXPECT_TRUE(TextRanks(StringValues()).empty()); }

TEST(TextRanks, CompareAsTheTextsDo) {
  StringValues cells;
  const std::string zeros(20, '\0');
  for (const std::string_view text :
       {"b", "", "a", "a", "abcdefgh", "abcdefg", "abcdefghi", "abcdefgh\xff", "\xff", "abcdefgg",
        "abcdefghabcdefghabcdefgh", "abcdefghabcdefghabcdefgi", "abcdefghabcdefgh"}) {
    cells.push_back(text);
  }
  for (size_t length = 0; length < zeros.size(); ++length) {
    cells.push_back(zeros.substr(0, length));
    cells.push_back("a" + zeros.substr(0, length));
  }
  ExpectRanksCompareAsTexts(cells);
}

TEST(TextRanks, OfRandomTextsCompareAsTheyDo) {
  std::mt19937 random(1);
  StringValues cells;
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto left = random() % 30; left > 0; --left) {
      text += static_cast<char>(random() % 2 == 0 ? 'a' : '\0');
    }
    cells.push_back(text);
  }
  ExpectRanksCompareAsTexts(cells);
}

using Limits = std::numeric_limits<int64_t>;

Table KeyedTable() {
  Table table{"t", "T", {}};
  AddString(table, "name", Role::kKey, "");
  AddInt(table, "stream", Unit::kNone, Role::kKey, "");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  AddInt(table, "min_ns", Unit::kNanoseconds, Role::kMin, "");
  AddFloat(table, "max", Unit::kNone, Role::kMax, "");
  AddString(table, "class", Role::kDerived, "");
  return table;
}

void AddRow(Table& table, std::string_view name, std::optional<int64_t> stream,
            std::optional<int64_t> value, std::string_view kind = "x") {
  Push(table.columns[0], name);
  PushOptional(table.columns[1], stream);
  PushOptional(table.columns[2], value);
  PushOptional(table.columns[3], value);
  value.has_value() ? Push(table.columns[4], static_cast<double>(*value))
                    : PushMissing(table.columns[4]);
  Push(table.columns[5], kind);
}

// A table as text, so that a failed comparison shows both.
std::string Show(const Table& table) {
  std::string text;
  for (size_t row = 0; row < table.rows(); ++row) {
    for (const Column& column : table.columns) {
      std::visit(
          [&](const auto& cells) {
            if constexpr (std::is_same_v<std::decay_t<decltype(cells)>, StringValues>) {
              text += column.IsMissing(row) ? "-" : cells[row];
            } else {
              text +=
                  column.IsMissing(row) ? "-" : std::to_string(static_cast<int64_t>(cells[row]));
            }
          },
          column.values);
      text += ' ';
    }
    text += '\n';
  }
  return text;
}

TEST(MergeByKey, CombinesByRoleAndSortsByKey) {
  Table table = KeyedTable();
  AddRow(table, "b", 7, 5);
  AddRow(table, "a", 7, 3);
  AddRow(table, "b", 7, 2);
  AddRow(table, "b", 7, 8);  // the largest is neither the first, nor beside it
  AddRow(table, "a", {}, 9);
  AddRow(table, "b", 7, {}, "y");
  AddRow(table, "c", 1, {});
  EXPECT_EQ(Show(MergeByKey(table)),
            "a 7 3 3 3 x \n"
            "a - 9 9 9 x \n"
            "b 7 15 2 8 - \n"
            "c 1 - - - x \n");
}

TEST(MergeByKey, IntegerSumsStopAtTheirLimits) {
  Table table = KeyedTable();
  AddRow(table, "a", 0, Limits::max() - 1);
  AddRow(table, "a", 0, 5);
  AddRow(table, "b", 0, Limits::min() + 1);
  AddRow(table, "b", 0, -5);
  const Table merged = MergeByKey(table);
  const auto& sums = std::get<IntValues>(merged.Find("total_ns")->values);
  EXPECT_EQ(sums, (IntValues{Limits::max(), Limits::min()}));
}

TEST(MergeByKey, WithoutKeysEverythingIsOneRow) {
  Table table{"t", "T", {}};
  Column& sum = AddInt(table, "n", Unit::kCount, Role::kSum, "");
  EXPECT_EQ(MergeByKey(table).rows(), 0U);
  Push(sum, int64_t{1});
  Push(sum, int64_t{2});
  EXPECT_EQ(Show(MergeByKey(table)), "3 \n");
}

// Random partials of one population, merged in any order and by any tree, give one answer.
TEST(MergeByKey, IsAssociativeAndCommutative) {
  std::mt19937 random(20240229);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    std::vector<Table> parts;
    for (uint32_t part = 0, count = 1 + below(6); part < count; ++part) {
      Table& table = parts.emplace_back(KeyedTable());
      for (uint32_t row = 0, rows = below(12); row < rows; ++row) {
        const std::string name(1, static_cast<char>('a' + below(3)));
        AddRow(table, name, below(5) == 0 ? std::nullopt : std::optional<int64_t>(below(2)),
               below(4) == 0 ? std::nullopt : std::optional<int64_t>(below(1000)),
               below(3) == 0 ? "y" : "x");
      }
    }
    const std::string expected = Show(MergeByKey(parts));
    std::shuffle(parts.begin(), parts.end(), random);
    while (parts.size() > 1) {
      const uint32_t at = below(static_cast<uint32_t>(parts.size()) - 1);
      parts[at] = MergeByKey(std::span<const Table>(parts).subspan(at, 2));
      parts.erase(parts.begin() + at + 1);
    }
    ASSERT_EQ(Show(MergeByKey(parts.front())), expected) << "round " << round;
  }
}

TEST(Concat, KeepsOrderAndMissingCells) {
  Table parts[] = {KeyedTable(), KeyedTable()};
  AddRow(parts[0], "b", 1, 1);
  AddRow(parts[1], "a", {}, 2);
  EXPECT_EQ(Show(Concat(parts)), "b 1 1 1 1 x \na - 2 2 2 x \n");
  EXPECT_EQ(Concat(parts).title, "T");
  EXPECT_EQ(Concat({}).rows(), 0U);
}

TEST(Concat, AColumnThatAPartLacksIsMissingThere) {
  Table parts[] = {{"t", "T", {}}, {"t", "T", {}}, {"t", "T", {}}};
  Push(AddInt(parts[0], "a", Unit::kNone, Role::kKey, ""), int64_t{1});
  Push(AddInt(parts[1], "b", Unit::kNone, Role::kSum, ""), int64_t{2});
  Push(AddInt(parts[2], "a", Unit::kNone, Role::kKey, ""), int64_t{3});
  EXPECT_EQ(Show(Concat(parts)), "1 - \n- 2 \n3 - \n");
}

TEST(SortBy, NumbersFallAndTextRisesMissingLast) {
  Table table = KeyedTable();
  AddRow(table, "b", 1, 5);
  AddRow(table, "a", 2, 5);
  AddRow(table, "c", 3, {});
  AddRow(table, "d", {}, 9);
  const Result<Table> by_number = SortBy(table, "total_ns");
  ASSERT_TRUE(by_number.ok());
  EXPECT_EQ(Show(*by_number), "d - 9 9 9 x \na 2 5 5 5 x \nb 1 5 5 5 x \nc 3 - - - x \n");
  EXPECT_EQ(Show(*SortBy(table, "total")), Show(*by_number));
  EXPECT_EQ(Show(*SortBy(table, "name")),
            "a 2 5 5 5 x \nb 1 5 5 5 x \nc 3 - - - x \nd - 9 9 9 x \n");
}

TEST(SortBy, AnUnknownColumnIsAnErrorThatNamesTheOthers) {
  const Result<Table> sorted = SortBy(KeyedTable(), "totel");
  ASSERT_FALSE(sorted.ok());
  EXPECT_EQ(sorted.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(sorted.error().Sentence(),
            "table t has no column 'totel'; it has name, stream, total_ns, min_ns, max, class");
}

TEST(SortAll, ComparesColumnsFromLeftToRight) {
  Table table = KeyedTable();
  AddRow(table, "b", 1, 2);
  AddRow(table, "b", 1, 1);
  AddRow(table, "a", 9, 9);
  EXPECT_EQ(Show(SortAll(table)), "a 9 9 9 9 x \nb 1 1 1 1 x \nb 1 2 2 2 x \n");
}

TEST(Head, CutsAndKeepsMissingMarks) {
  Table table = KeyedTable();
  AddRow(table, "b", {}, 2);
  AddRow(table, "a", 1, {});
  EXPECT_EQ(Show(Head(table, 1)), "b - 2 2 2 x \n");
  EXPECT_EQ(Show(Head(table, 5)), Show(table));
  EXPECT_EQ(Head(table, 0).columns.size(), table.columns.size());
}

}  // namespace

}  // namespace borescope::internal
