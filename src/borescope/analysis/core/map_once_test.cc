#include "borescope/analysis/core/map_once.h"

#include <gtest/gtest.h>

#include <atomic>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/shared_measures.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

std::atomic<int> calls = 0;

Result<Tables> CountedMap(const RankView& view, const Params& /*params*/) {
  Table table{"counted", "", {}};
  AddRankKey(table);
  Row(table).Int(view.rank + ++calls);
  return Tables{std::move(table)};
}

Result<Tables> OtherMap(const RankView& /*view*/, const Params& /*params*/) { return Tables{}; }

TEST(MapOnceTest, OneQuestionMapsOnceAndEachOtherAgain) {
  TestTrace trace;
  RankView view = trace.View();
  calls = 0;
  SharedMeasures shared;
  view.shared = &shared;
  const Tables first = MapOnce<CountedMap>(view, {}).value();
  const Tables second = MapOnce<CountedMap>(view, {}).value();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Ints(first[0], "rank"), Ints(second[0], "rank"));
  EXPECT_TRUE(MapOnce<OtherMap>(view, {}).value().empty());
  view.shared = nullptr;
  EXPECT_NE(Ints(MapOnce<CountedMap>(view, {}).value()[0], "rank"), Ints(first[0], "rank"));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace borescope::internal
