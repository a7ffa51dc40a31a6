#include "borescope/table/compare.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

std::string Cell(const Column& column, size_t row) {
  if (column.IsMissing(row)) {
    return "-";
  }
  return std::visit(
      [&](const auto& cells) {
        if constexpr (std::is_same_v<std::decay_t<decltype(cells)>, StringValues>) {
          return cells[row];
        } else if constexpr (std::is_same_v<std::decay_t<decltype(cells)>, FloatValues>) {
          const std::string text = std::to_string(cells[row]);
          return text.substr(0, text.find('.') + 2);
        } else {
          return std::to_string(cells[row]);
        }
      },
      column.values);
}

std::string Csv(const Table& table) {
  std::string text;
  for (const Column& column : table.columns) {
    text += (text.empty() ? "" : ",") + column.name;
  }
  for (size_t row = 0; row < table.rows(); ++row) {
    text += "\n";
    for (const Column& column : table.columns) {
      text += (&column == table.columns.data() ? "" : ",") + Cell(column, row);
    }
  }
  return text + "\n";
}

using NameAndTime = std::pair<std::string_view, int64_t>;

Table Times(std::initializer_list<NameAndTime> rows) {
  Table table{"kernels", "Kernels", {}};
  AddString(table, "name", Role::kKey, "");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "");
  for (const auto& [name, total] : rows) {
    Push(table.columns[0], name);
    Push(table.columns[1], total);
    Push(table.columns[2], static_cast<double>(total) / 10);
  }
  return table;
}

TEST(CompareTest, RowsWithTheSameKeysStandBesideEachOther) {
  const std::optional<Table> table =
      MatchRows(Times({{"a", 9}, {"b", 5}, {"new", 2}}), Times({{"b", 7}, {"old", 6}, {"a", 1}}));
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(Csv(*table),
            "name,runs,total_ns,against_total_ns,change_total_ns,share,against_share,change_share\n"
            "a,both,9,1,8,0.9,0.1,0.8\n"
            "b,both,5,7,-2,0.5,0.7,-0.2\n"
            "old,other,-,6,-6,-,0.6,-\n"
            "new,this,2,-,2,0.2,-,-\n");
  EXPECT_EQ(table->name, "kernels");
  EXPECT_EQ(table->Find("against_total_ns")->unit, Unit::kNanoseconds);
}

Table OnRank(int64_t rank, Table table) {
  const IntValues ranks(table.rows(), rank);
  table.columns.insert(table.columns.begin(),
                       Column{"rank", Unit::kNone, Role::kKey, "", ranks, {}});
  return table;
}

TEST(CompareTest, RowsOfOneRankMatchThoseOfAnother) {
  constexpr std::string_view kRank[] = {"rank", "gpu"};
  Table mine = OnRank(3, Times({{"a", 9}, {"new", 2}}));
  Table others = OnRank(5, Times({{"a", 1}}));
  UnkeyPlaces(kRank, mine, others);
  EXPECT_EQ(Csv(*MatchRows(mine, others)),
            "name,runs,rank,against_rank,total_ns,against_total_ns,change_total_ns,share,"
            "against_share,change_share\n"
            "a,both,3,5,9,1,8,0.9,0.1,0.8\n"
            "new,this,3,-,2,-,2,0.2,-,-\n");
}

TEST(CompareTest, RanksStayKeysWhereTheyTellRowsApart) {
  constexpr std::string_view kRank[] = {"rank"};
  const auto is_key = [&](Table mine, Table others) {
    UnkeyPlaces(kRank, mine, others);
    EXPECT_EQ(mine.columns[0].role, others.columns[0].role);
    return mine.columns[0].role == Role::kKey;
  };
  const Table one = OnRank(3, Times({{"a", 9}}));
  Table two = OnRank(3, Times({{"a", 9}, {"b", 1}}));
  std::get<IntValues>(two.columns[0].values)[1] = 4;
  EXPECT_TRUE(is_key(one, two));
  EXPECT_TRUE(is_key(one, one));
  EXPECT_TRUE(is_key(one, OnRank(5, Times({}))));
  EXPECT_FALSE(is_key(one, OnRank(5, Times({{"a", 9}}))));
}

TEST(CompareTest, WhatOnlyTheOtherRunHasKeepsItsPlace) {
  const std::optional<Table> table =
      MatchRows(Times({{"a", 4}, {"b", 3}}),
                Times({{"x", 9}, {"y", 8}, {"b", 7}, {"z", 6}, {"w", 5}, {"a", 1}, {"v", 0}}));
  ASSERT_TRUE(table.has_value());
  std::string names;
  for (size_t row = 0; row < table->rows(); ++row) {
    names += Cell(table->columns[0], row);
  }
  EXPECT_EQ(names, "axbyzwv");
}

TEST(CompareTest, OneRunMayHaveNoRows) {
  const Table some = Times({{"a", 4}});
  EXPECT_EQ(Csv(*MatchRows(some, Head(some, 0))),
            "name,runs,total_ns,against_total_ns,change_total_ns,share,against_share,change_share\n"
            "a,this,4,-,4,0.4,-,-\n");
  EXPECT_EQ(Csv(*MatchRows(Head(some, 0), some)),
            "name,runs,total_ns,against_total_ns,change_total_ns,share,against_share,change_share\n"
            "a,other,-,4,-4,-,0.4,-\n");
}

Table Texts(std::string_view kind, std::string_view help) {
  Table table{"t", "", {}};
  AddString(table, "name", Role::kKey, "");
  AddString(table, "kind", Role::kDerived, "");
  AddString(table, "help", Role::kDerived, "");
  AddInt(table, "slowest_step", Unit::kNone, Role::kDerived, "");
  AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kDerived, "");
  Push(table.columns[0], "a");
  Push(table.columns[1], kind);
  Push(table.columns[2], help);
  Push(table.columns[3], int64_t{3});
  Push(table.columns[4], int64_t{1000});
  return table;
}

TEST(CompareTest, TextsThatDifferAndNumbersThatNameSomething) {
  EXPECT_EQ(Csv(*MatchRows(Texts("op", "same"), Texts("kernel", "same"))),
            "name,runs,kind,against_kind,help,slowest_step,against_slowest_step,begin_ns\n"
            "a,both,op,kernel,same,3,3,1000\n");
}

TEST(CompareTest, ChangesDoNotOverflow) {
  const std::optional<Table> table =
      MatchRows(Times({{"a", INT64_MAX}}), Times({{"a", INT64_MIN}}));
  EXPECT_EQ(Cell(*table->Find("change_total_ns"), 0), std::to_string(INT64_MAX));
}

TEST(CompareTest, AColumnOfOneRunIsMissingInTheOther) {
  Table more = Times({{"a", 4}});
  Push(AddInt(more, "extra", Unit::kCount, Role::kSum, ""), int64_t{7});
  const std::optional<Table> table = MatchRows(Times({{"a", 4}}), more);
  EXPECT_EQ(Cell(*table->Find("extra"), 0), "-");
  EXPECT_EQ(Cell(*table->Find("against_extra"), 0), "7");
  EXPECT_EQ(Cell(*table->Find("change_extra"), 0), "-");
}

TEST(CompareTest, RowsThatKeysDoNotTellApartAreJoined) {
  const Table twice = Times({{"a", 1}, {"a", 2}});
  EXPECT_FALSE(MatchRows(twice, Times({{"a", 1}})).has_value());
  EXPECT_FALSE(MatchRows(Times({{"a", 1}}), twice).has_value());
  EXPECT_EQ(Csv(JoinRows(twice, Times({{"b", 3}}))),
            "run,name,total_ns,share\nthis,a,1,0.1\nthis,a,2,0.2\nother,b,3,0.3\n");
}

Table Moments(std::initializer_list<int64_t> moments) {
  Table table{"queue_length", "", {}};
  AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey, "");
  for (const int64_t at : moments) {
    Push(table.columns[0], at);
  }
  return table;
}

TEST(CompareTest, MomentsOfTwoRecordingsDoNotMatch) {
  EXPECT_FALSE(MatchRows(Moments({1, 2}), Moments({1, 2})).has_value());
  Table late = Moments({70, 50, 90});
  AddElapsed(late, "ts_ns");
  EXPECT_EQ(Csv(late), "ts_ns,elapsed_ns\n70,20\n50,0\n90,40\n");
  AddElapsed(late, "ts_ns");  // it is there
  EXPECT_EQ(late.columns.size(), 2U);
}

// ---- The same by maps of paths, over random trees ----

// Depth, name, time, in preorder; no two siblings have one name.
struct Node {
  int64_t depth;
  char name;
  int64_t time;
};

void Grow(std::mt19937& random, int64_t depth, std::vector<Node>& nodes) {
  std::string names = "abcd";
  std::shuffle(names.begin(), names.end(), random);
  names.resize(random() % (depth == 0 ? 5 : 3));
  for (const char name : names) {
    nodes.push_back({depth, name, static_cast<int64_t>(random() % 100)});
    if (depth < 4) {
      Grow(random, depth + 1, nodes);
    }
  }
}

Table TableOf(const std::vector<Node>& nodes) {
  Table table{"stacks", "", {}};
  AddInt(table, "depth", Unit::kNone, Role::kKey, "");
  AddString(table, "name", Role::kKey, "");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  for (const Node& node : nodes) {
    Push(table.columns[0], node.depth);
    Push(table.columns[1], std::string_view(&node.name, 1));
    Push(table.columns[2], node.time);
  }
  return table;
}

// "runs,this,against,change" by path.
using ByPath = std::map<std::string, std::string>;

std::map<std::string, int64_t> TimesByPath(const std::vector<Node>& nodes) {
  std::map<std::string, int64_t> times;
  std::string path;
  for (const Node& node : nodes) {
    path.resize(static_cast<size_t>(node.depth));
    path += node.name;
    times[path] = node.time;
  }
  return times;
}

ByPath SlowComparison(const std::vector<Node>& mine, const std::vector<Node>& other) {
  ByPath rows;
  const auto these = TimesByPath(mine);
  const auto those = TimesByPath(other);
  for (const auto& [path, time] : these) {
    rows[path] = those.contains(path)
                     ? "both," + std::to_string(time) + "," + std::to_string(those.at(path)) + "," +
                           std::to_string(time - those.at(path))
                     : "this," + std::to_string(time) + ",-," + std::to_string(time);
  }
  for (const auto& [path, time] : those) {
    rows.try_emplace(path, "other,-," + std::to_string(time) + "," + std::to_string(-time));
  }
  return rows;
}

// Paths as the depths of the rows say, in their order.
std::vector<std::pair<std::string, std::string>> Paths(const Table& table) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::string path;
  for (size_t row = 0; row < table.rows(); ++row) {
    path.resize(static_cast<size_t>(std::get<IntValues>(table.columns[0].values)[row]));
    path += Cell(table.columns[1], row);
    std::string values;
    for (size_t column = 2; column < 6; ++column) {
      values += (column == 2 ? "" : ",") + Cell(table.columns[column], row);
    }
    rows.emplace_back(path, values);
  }
  return rows;
}

// The rows of a run, in their order.
std::string OrderIn(const Table& table, std::string_view absent) {
  std::string order;
  for (const auto& [path, values] : Paths(table)) {
    order += values.starts_with(absent) ? "" : path + " ";
  }
  return order;
}

std::string OrderOf(const std::vector<Node>& nodes) {
  std::string order;
  std::string path;
  for (const Node& node : nodes) {
    path.resize(static_cast<size_t>(node.depth));
    order += (path += node.name) + " ";
  }
  return order;
}

TEST(CompareTest, AsMapsOfPathsSay) {
  size_t both = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<Node> mine;
    std::vector<Node> other;
    Grow(random, 0, mine);
    Grow(random, 0, other);
    const std::optional<Table> table = MatchRows(TableOf(mine), TableOf(other));
    ASSERT_TRUE(table.has_value()) << seed;
    ByPath fast;
    for (const auto& [path, values] : Paths(*table)) {
      ASSERT_TRUE(fast.emplace(path, values).second) << seed << " " << path;
      both += values.starts_with("both") ? 1 : 0;
    }
    ASSERT_EQ(fast, SlowComparison(mine, other)) << seed;
    ASSERT_EQ(OrderIn(*table, "other"), OrderOf(mine)) << seed;
    const std::optional<Table> swapped = MatchRows(TableOf(other), TableOf(mine));
    ASSERT_EQ(swapped->rows(), table->rows());
  }
  EXPECT_GT(both, 300U);  // so that the trees have something in common
}

TEST(CompareTest, FramesOfOneNameInTwoPlacesAreTwo) {
  const std::vector<Node> mine = {{0, 'a', 5}, {1, 'x', 2}, {0, 'b', 3}};
  const std::vector<Node> other = {{0, 'b', 4}, {1, 'x', 1}, {2, 'y', 1}, {0, 'a', 2}};
  EXPECT_EQ(Csv(*MatchRows(TableOf(mine), TableOf(other))),
            "depth,name,runs,total_ns,against_total_ns,change_total_ns\n"
            "0,a,both,5,2,3\n"
            "1,x,this,2,-,2\n"
            "0,b,both,3,4,-1\n"
            "1,x,other,-,1,-1\n"
            "2,y,other,-,1,-1\n");
}

}  // namespace
}  // namespace borescope::internal
