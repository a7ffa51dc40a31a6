#include "borescope/analysis/core/keyed_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/table/typed_rows.h"
#include "borescope/testing/test_trace.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {
namespace {

struct NamedRow {
  std::string_view name = {};
  int64_t count = 0;

  static constexpr TableNames kTable{"named", "Named"};
  static constexpr ColumnOf<NamedRow> kColumns[] = {
      {"name", &NamedRow::name, Role::kKey, "Name."},
      {"count", &NamedRow::count, Unit::kCount, Role::kSum, "Count."}};
};

TEST(KeyedRows, KeysAreAroundTheName) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 10}, {.dims = "[[2, 3], [3, 4]]"}).Op("aten::add", {20, 10}, {});
  const RankView& view = trace.View(7);
  const std::vector<std::string> by = {"shape", "rank"};
  const GroupKeys keys(view, by, StepRule::kLaunch);
  std::vector<std::vector<int64_t>> values(2);
  keys.Append(HostId{0}, values[0]);
  keys.Append(HostId{1}, values[1]);
  Table table = MakeTable<NamedRow>({{"aten::mm", 1}, {"aten::add", 2}});
  InsertKeys(table, "name", keys,
             [&](size_t row) -> std::span<const int64_t> { return values[row]; });
  EXPECT_EQ(Csv(table), "rank,name,shapes,count\n7,aten::mm,[[2, 3], [3, 4]],1\n7,aten::add,-,2\n");
}

TEST(KeyedRows, WithoutByNothingIsInserted) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 10}, {});
  const GroupKeys keys(trace.View(), {}, StepRule::kLaunch);
  Table table = MakeTable<NamedRow>({{"aten::mm", 1}});
  InsertKeys(table, "name", keys, [](size_t) { return std::span<const int64_t>(); });
  EXPECT_EQ(table.columns.size(), 2U);
}

TEST(KeyedRows, WhatWasNotRecordedHasNoValue) {
  EXPECT_EQ(Recorded(kMissing), std::nullopt);
  EXPECT_EQ(Recorded(int64_t{0}), 0);
  EXPECT_EQ(Recorded(std::string_view()), std::nullopt);
  EXPECT_EQ(Recorded(std::string_view("a")), "a");
}

}  // namespace
}  // namespace borescope::internal
