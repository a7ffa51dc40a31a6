#include "borescope/check/saved_runs.h"

#include <gtest/gtest.h>

#include "borescope/output/writer.h"

namespace borescope::internal {

namespace {

std::string Written(const std::vector<RunValues>& runs) {
  StringSink sink;
  EXPECT_TRUE(WriteJson(SavedRuns(runs), WriteOptions(), sink).ok());
  return sink.text();
}

std::vector<RunValues> TwoRuns() {
  RunValues run;
  run.name = "a \"quoted\" run";
  run.devices = "1 x A100";
  run.world_size = 8;
  run.ranks = 2;
  run.steps = 5;
  run.step_flops = 1.5e12;
  run.metrics[{"step", ""}] = {1.25e8, Unit::kNanoseconds, 5, {1, 2, 3}};
  run.metrics[{"budget", "peak"}] = {2e9, Unit::kBytes, 1, {}};
  RunValues other = run;
  other.step_flops.reset();
  other.metrics.erase({"budget", "peak"});
  return {run, other};
}

TEST(SavedRunsTest, ComeBackAsTheyWere) {
  const std::string text = Written(TwoRuns());
  EXPECT_TRUE(MayBeSavedRuns(text));
  const std::vector<RunValues> runs = ReadSavedRuns(text).value();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].name, "a \"quoted\" run");
  EXPECT_EQ(runs[0].devices, "1 x A100");
  EXPECT_EQ(runs[0].world_size, 8);
  EXPECT_EQ(runs[0].ranks, 2);
  EXPECT_EQ(runs[0].steps, 5);
  EXPECT_EQ(runs[0].step_flops, 1.5e12);
  EXPECT_FALSE(runs[1].step_flops.has_value());
  EXPECT_EQ(runs[0].metrics.size(), 2U);
  EXPECT_EQ(runs[1].metrics.size(), 1U);
  const MetricValue& peak = runs[0].metrics.at({"budget", "peak"});
  EXPECT_EQ(peak.value, 2e9);
  EXPECT_EQ(peak.unit, Unit::kBytes);
  EXPECT_TRUE(runs[0].metrics.at({"step", ""}).steps.empty());
  EXPECT_EQ(Written(runs), text);
}

TEST(SavedRunsTest, OtherTextIsAnError) {
  EXPECT_FALSE(ReadSavedRuns("").ok());
  EXPECT_FALSE(ReadSavedRuns("{\"borescope\":\"0.1.0\",\"schema\":2,\"tables\":[]}").ok());
  EXPECT_FALSE(ReadSavedRuns(Written({})).ok());
  const std::string text = Written(TwoRuns());
  EXPECT_FALSE(ReadSavedRuns(text.substr(0, text.size() / 2)).ok());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return ReadSavedRuns(changed).ok();
  };
  EXPECT_FALSE(with("\"values\":[0,0,1]", "\"values\":[0,0,2]"));
  EXPECT_FALSE(with("\"values\":[0,0,1]", "\"values\":[0,0,-1]"));
  EXPECT_FALSE(with("125000000.0", "-1.0"));
  EXPECT_FALSE(with("125000000.0", "1e300"));
  EXPECT_FALSE(with("125000000.0", "null"));
  EXPECT_FALSE(with("\"baseline_values\"", "\"others\""));
  EXPECT_FALSE(with("\"values\":[0,0,1]", "\"values\":[0,1,1]")) << "two values of one metric";
  EXPECT_FALSE(with("\"bytes\"", "\"parsecs\"")) << "a unit that nobody knows";
  EXPECT_FALSE(with("[1,5,5]", "[-1,5,5]")) << "fewer samples than none";
  EXPECT_TRUE(with("125000000.0", "1.0"));
}

}  // namespace

}  // namespace borescope::internal
