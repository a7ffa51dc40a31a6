#include "borescope/analysis/measures/replay/changes.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(ChangesTest, WhatCanBeScaled) {
  struct Row {
    const char* text;
    TargetKind target;
    const char* name;
    double factor;
  };
  for (const Row& row :
       {Row{"kernel:a=b=0.5", TargetKind::kKernel, "a=b", 0.5},
        Row{"op:aten::mm=0", TargetKind::kOp, "aten::mm", 0},
        Row{"class:gemm=2", TargetKind::kClass, "gemm", 2},
        Row{"comm=1e-1", TargetKind::kComm, "", 0.1}, Row{"copy=1", TargetKind::kCopy, "", 1},
        Row{"phase:backward=1", TargetKind::kPhase, "backward", 1},
        Row{"host:x=1", TargetKind::kHost, "x", 1}}) {
    const Result<Change> change = ReadScale(row.text);
    ASSERT_TRUE(change.ok()) << row.text;
    EXPECT_EQ(*change, (Change{ChangeKind::kScale, row.target, row.name, row.factor})) << row.text;
  }
}

TEST(ChangesTest, WhatCannot) {
  for (const char* text :
       {"", "=", "gemm=1", "kernel:=1", "kernel:a", "class:gem=1", "phase:back=1", "comm=-1",
        "comm=nan", "comm=inf", "comm=1001", "comm=", "comm:a=1", "kernel:a=0.5x"}) {
    const Result<Change> change = ReadScale(text);
    ASSERT_FALSE(change.ok()) << text;
    EXPECT_EQ(change.error().code, ErrorCode::kInvalidArgument);
    EXPECT_GT(change.error().Sentence().size(), 10U);
  }
}

TEST(ChangesTest, SharesOfARoof) {
  EXPECT_EQ(ReadRoofShare("0.8").value(), 0.8);
  EXPECT_EQ(ReadRoofShare("80%").value(), 0.8);
  for (const char* text : {"", "0", "-1", "1.1", "101%", "%", "nan"}) {
    EXPECT_FALSE(ReadRoofShare(text).ok()) << text;
  }
}

TEST(ChangesTest, SpeedOfLight) {
  const Change all = ReadSpeedOfLight("0.8").value();
  EXPECT_EQ(all, (Change{.kind = ChangeKind::kSpeedOfLight, .factor = 0.8}));
  EXPECT_EQ(Describe(all), "kernels at 80 % of the speed of light or more");
  const Change some = ReadSpeedOfLight("kernel:a=b=100%").value();
  EXPECT_EQ(some, (Change{.kind = ChangeKind::kSpeedOfLight,
                          .target = TargetKind::kKernel,
                          .text = "a=b",
                          .factor = 1}));
  EXPECT_EQ(Describe(some), "kernel:a=b at 100 % of the speed of light or more");
  for (const char* text :
       {"", "0", "2", "gemm=1", "host:a=1", "class:none=1", "kernel:a", "comm="}) {
    EXPECT_FALSE(ReadSpeedOfLight(text).ok()) << text;
  }
}

TEST(ChangesTest, APlanOfAllChanges) {
  const Result<std::vector<Scenario>> plan = ReadPlan(R"({"changes": [
      {"scale": "class:gemm=0.5"}, {"remove": "op:aten::gelu"}, {"no-data-wait": true},
      {"no-sync": "aten::item"}, {"overlap-comm": true}, {"graph": "execute_model"},
      {"launch": 0.5}, {"roof": "80%"}, {"speed-of-light": 1}]})");
  ASSERT_TRUE(plan.ok()) << plan.error().Sentence();
  ASSERT_EQ(plan->size(), 1U);
  EXPECT_EQ(
      plan->front().name,
      "class:gemm x 0.5, without op:aten::gelu, data loaded in the background, no wait in "
      "aten::item, communication overlapped, launches as graphs in execute_model, launch "
      "calls x 0.5, at least 80 % of the roof, kernels at 100 % of the speed of light or more");
}

TEST(ChangesTest, SeveralScenarios) {
  const Result<std::vector<Scenario>> plan = ReadPlan(
      R"({"scenarios": [{"name": "a", "changes": [{"launch": 0}]}, {"changes": [{"launch": 1}]}]})");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->at(0).name, "a");
  EXPECT_EQ(plan->at(1).name, "launch calls x 1");
}

TEST(ChangesTest, WhatIsNoPlan) {
  for (const char* text :
       {"", "[]", "{}", "{\"changes\": []}", "{\"changes\": [1]}", "{\"changes\": [{}]}",
        "{\"changes\": [{\"scale\": 1}]}", "{\"changes\": [{\"speed\": 1}]}",
        "{\"changes\": [{\"no-data-wait\": false}]}", "{\"changes\": [{\"launch\": \"x\"}]}",
        "{\"changes\": [{\"launch\": 1, \"roof\": 1}]}", "{\"scenarios\": []}",
        "{\"scenarios\": [1]}", "{\"scenarios\": [{\"name\": \"a\"}]}", "{\"scenarios\": {}}",
        "{\"scenarios\": [{\"changes\": [{\"launch\": 1}]}], \"name\": \"a\"}",
        "{\"changes\": [{\"launch\": true}]}", "{\"other\": 1, \"changes\": [{\"launch\": 1}]}"}) {
    const Result<std::vector<Scenario>> plan = ReadPlan(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_EQ(plan.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace borescope::internal
