#include "borescope/analysis/verbs/steps/step_heat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "borescope/analysis/core/row.h"

namespace borescope::internal {
namespace {

Table StepsOf(int64_t ranks, int64_t steps, const std::function<int64_t(int64_t, int64_t)>& span) {
  Table table{"steps", "", {}};
  for (const char* name : {"rank", "step", "length_ns"}) {
    AddInt(table, name, Unit::kNone, Role::kKey, "");
  }
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (int64_t step = 0; step < steps; ++step) {
      Row(table).Int(rank).Int(step + 100).Int(span(rank, step));
    }
  }
  return table;
}

TEST(StepHeat, EachRankAndStepHasACellWhileTheyAreFew) {
  const Table heat = StepHeat(StepsOf(
      20, 3, [](int64_t rank, int64_t step) { return rank == 7 && step == 1 ? 15'000 : 10'000; }));
  ASSERT_EQ(heat.rows(), 60U);
  EXPECT_EQ(Ints(heat, "rank")[22], 7);
  EXPECT_EQ(Ints(heat, "step")[22], 101);
  EXPECT_EQ(Texts(heat, "ranks")[22], "7");
  EXPECT_EQ(Floats(heat, "relative")[22], 1.5);
  EXPECT_EQ(Floats(heat, "relative")[23], 1.0);
  EXPECT_EQ(Texts(heat, "level")[22], "much longer");
  EXPECT_EQ(Texts(heat, "level")[23], "as usual");
}

TEST(StepHeat, ManyShareCellsAndTheLongestIsSeen) {
  for (const int64_t ranks : {65, 100, 512, 1000}) {
    const Table heat = StepHeat(StepsOf(ranks, 90, [](int64_t rank, int64_t step) {
      return rank == 33 && step == 89 ? 30'000 : 10'000;
    }));
    ASSERT_EQ(heat.rows(), 64U * 64U);
    size_t slow = 0;
    for (size_t row = 0; row < heat.rows(); ++row) {
      if (Floats(heat, "relative")[row] != 3.0) continue;
      ++slow;
      EXPECT_LE(Ints(heat, "rank")[row], 33);
      EXPECT_EQ(Texts(heat, "steps")[row].substr(Texts(heat, "steps")[row].size() - 3), "189");
    }
    EXPECT_EQ(slow, 1U) << ranks;
    // Cells follow each other without gaps.
    EXPECT_EQ(Ints(heat, "rank")[0], 0);
    const std::string_view last = Texts(heat, "ranks")[heat.rows() - 1];
    EXPECT_EQ(std::stoll(std::string(last.substr(last.rfind('.') + 1))), ranks - 1);
  }
}

TEST(StepHeat, FewRanksOrOneStepHaveNone) {
  const auto same = [](int64_t, int64_t) -> int64_t { return 1; };
  EXPECT_EQ(StepHeat(StepsOf(16, 9, same)).rows(), 0U);
  EXPECT_EQ(StepHeat(StepsOf(17, 1, same)).rows(), 0U);
  EXPECT_EQ(StepHeat(StepsOf(17, 2, same)).rows(), 34U);
  EXPECT_EQ(StepHeat(StepsOf(0, 0, same)).rows(), 0U);
}

}  // namespace
}  // namespace borescope::internal
