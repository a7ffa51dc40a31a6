// What makes ranks, steps and runs differ: by how much, and only where it should.
#include "tests/support/simulation/costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/support/simulation/kineto.h"
#include "tests/support/simulation/simulate.h"

namespace borescope::simulation {
namespace {

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double DeviationOf(const std::vector<double>& values) {
  const double mean = MeanOf(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

int64_t StepNs(const SimulatedRun& run, size_t rank, size_t step) {
  const StepRow& row = run.ranks[rank].steps.at(step);
  return row.end_ns - row.begin_ns;
}

// Steps that follow each other without overlap: the host waits for the device in each.
SimulationConfig Synchronous(int32_t steps) {
  SimulationConfig config;
  config.program = ProgramKind::kCopies;
  config.steps = steps;
  return config;
}

TEST(SimulationCosts, JitterHasTheDeviationThatIsAskedFor) {
  SimulationConfig config;
  config.program = ProgramKind::kDeviceBound;
  const SimulatedRun plain = Simulate(config);
  config.jitter = 0.1;
  const SimulatedRun run = Simulate(config);
  std::vector<double> ratios;
  for (size_t i = 0; i < run.ranks[0].works.size(); ++i) {
    const WorkRow& before = plain.ranks[0].works[i];
    const WorkRow& after = run.ranks[0].works[i];
    ratios.push_back(static_cast<double>(after.end_ns - after.begin_ns) /
                     static_cast<double>(before.end_ns - before.begin_ns));
  }
  ASSERT_GT(ratios.size(), 1'000u);
  EXPECT_NEAR(MeanOf(ratios), 1.0, 0.01);
  EXPECT_NEAR(DeviationOf(ratios), 0.1, 0.01);
}

TEST(SimulationCosts, RunsDifferByTheNoiseOfRuns) {
  SimulationConfig config = Synchronous(1);
  config.run_noise = 0.05;
  config.run_device_noise = 0.05;
  const auto plain = static_cast<double>(StepNs(Simulate(Synchronous(1)), 0, 0));
  std::vector<double> ratios;
  for (config.run = 0; config.run < 400; ++config.run) {
    ratios.push_back(static_cast<double>(StepNs(Simulate(config), 0, 0)) / plain);
  }
  EXPECT_NEAR(MeanOf(ratios), 1.0, 0.01);
  // Two independent parts: less than if they were one.
  EXPECT_GT(DeviationOf(ratios), 0.03);
  EXPECT_LT(DeviationOf(ratios), 0.055);
}

TEST(SimulationCosts, TheNoiseOfStepsIsCorrelatedAsAskedFor) {
  for (const double correlation : {0.0, 0.6}) {
    SimulationConfig config = Synchronous(400);
    config.step_noise = 0.02;
    config.step_correlation = correlation;
    const SimulatedRun run = Simulate(config);
    std::vector<double> steps;
    for (size_t i = 0; i < 400; ++i) steps.push_back(static_cast<double>(StepNs(run, 0, i)));
    const double mean = MeanOf(steps);
    double product = 0;
    double square = 0;
    for (size_t i = 0; i + 1 < steps.size(); ++i) {
      product += (steps[i] - mean) * (steps[i + 1] - mean);
      square += (steps[i] - mean) * (steps[i] - mean);
    }
    EXPECT_NEAR(product / square, correlation, 0.12);
    EXPECT_GT(DeviationOf(steps) / mean, 0.01);
  }
}

// The rank that is planted, and no other, is the one that enters last.
TEST(SimulationCosts, EachStragglerMakesItsRankLate) {
  for (int cause = 0; cause < static_cast<int>(StragglerCause::kCount); ++cause) {
    if (static_cast<StragglerCause>(cause) == StragglerCause::kNetwork) continue;
    SimulationConfig config;
    config.program = ProgramKind::kDdp;
    // Calls are a small part of the time: only much slower ones are not hidden behind the device.
    const bool is_launch = static_cast<StragglerCause>(cause) == StragglerCause::kLaunch;
    config.stragglers = {{2, static_cast<StragglerCause>(cause), is_launch ? 300.0 : 30.0}};
    int64_t late = 0;
    int64_t others = 0;
    std::set<int32_t> planted;
    for (config.seed = 1; config.seed < 9; ++config.seed) {
      const SimulatedRun run = Simulate(config);
      for (const PlantedRow& row : run.planted) planted.insert(row.rank);
      for (const CollectiveRow& row : run.collectives) {
        if (row.ranks.size() < 4) continue;
        const auto begin = [&](size_t rank) {
          return run.ranks[rank].works[static_cast<size_t>(row.works[rank])].begin_ns;
        };
        late += begin(2) > begin(0) && begin(2) > begin(1) && begin(2) > begin(3);
        others += begin(2) < begin(0) || begin(2) < begin(1) || begin(2) < begin(3);
      }
    }
    EXPECT_GT(late, 0) << StragglerCauseName(static_cast<StragglerCause>(cause));
    EXPECT_EQ(others, 0) << StragglerCauseName(static_cast<StragglerCause>(cause));
    EXPECT_EQ(planted, std::set<int32_t>{2});
  }
}

TEST(SimulationCosts, ASlowNetworkMakesTransfersLonger) {
  SimulationConfig config;
  config.program = ProgramKind::kDdp;
  const SimulatedRun plain = Simulate(config);
  config.stragglers = {{1, StragglerCause::kNetwork, 50.0}};
  const SimulatedRun run = Simulate(config);
  ASSERT_EQ(run.collectives.size(), plain.collectives.size());
  for (size_t i = 0; i < run.collectives.size(); ++i) {
    const CollectiveRow& row = run.collectives[i];
    const bool is_in = std::ranges::find(row.ranks, 1) != row.ranks.end();
    EXPECT_NEAR(static_cast<double>(row.transfer_ns),
                (is_in ? 1.5 : 1.0) * static_cast<double>(plain.collectives[i].transfer_ns), 1.0);
  }
}

// What is planted on the host of a synchronous program is what the step takes longer.
TEST(SimulationCosts, SlowStepsAreLongerByWhatIsPlanted) {
  const SimulatedRun plain = Simulate(Synchronous(15));
  for (const SlowCause cause : {SlowCause::kDataStall, SlowCause::kPause}) {
    SimulationConfig config = Synchronous(15);
    config.slow_steps = {{cause, 40.0}};
    const SimulatedRun run = Simulate(config);
    std::vector<int64_t> expected(15);
    for (size_t i = 0; i < 15; ++i) expected[i] = StepNs(plain, 0, i);
    for (const PlantedRow& row : run.planted) expected[static_cast<size_t>(row.step)] += row.ns;
    for (size_t i = 0; i < 15; ++i) EXPECT_EQ(StepNs(run, 0, i), expected[i]) << i;
    EXPECT_EQ(run.planted.size(), cause == SlowCause::kDataStall ? 2u : 1u);
  }
}

TEST(SimulationCosts, OperatorsSwingAndTrendsGrow) {
  SimulationConfig config = Synchronous(12);
  config.slow_steps = {{SlowCause::kOperator, 50.0}};
  const SimulatedRun swinging = Simulate(config);
  int64_t longer = 0;
  for (const PlantedRow& row : swinging.planted) longer += row.ns > 0;
  EXPECT_GT(longer, 1);
  EXPECT_LT(longer, 11);
  config.slow_steps = {{SlowCause::kTrend, 5.0}};
  const SimulatedRun growing = Simulate(config);
  for (size_t i = 1; i < 12; ++i) EXPECT_GT(StepNs(growing, 0, i), StepNs(growing, 0, i - 1));
}

// Steps with more to do have larger matrices, and a straggler with more work has them in all steps.
TEST(SimulationCosts, MoreWorkIsLargerMatrices) {
  const auto rows_of = [](const SimulatedRun& run, size_t rank) {
    std::vector<int64_t> rows;
    for (const FrameRow& frame : run.ranks[rank].frames) {
      if (run.program.Name(frame.name) == "aten::addmm") rows.push_back(frame.rows);
    }
    return rows;
  };
  SimulationConfig config = Synchronous(6);
  config.ranks = 2;
  const std::vector<int64_t> plain = rows_of(Simulate(config), 0);
  config.stragglers = {{1, StragglerCause::kMoreWork, 100.0}};
  const SimulatedRun run = Simulate(config);
  EXPECT_EQ(rows_of(run, 0), plain);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(rows_of(run, 1).at(i), 2 * plain.at(i));
  config.stragglers.clear();
  config.slow_steps = {{SlowCause::kWork, 30.0}};
  const std::vector<int64_t> swinging = rows_of(Simulate(config), 0);
  EXPECT_EQ(std::set<int64_t>(swinging.begin(), swinging.end()).size(), 6u);
}

TEST(SimulationCosts, ClocksStayWithinTheirLimits) {
  SimulationConfig config;
  config.program = ProgramKind::kDdp;
  config.clock_offset_ns = 1'000'000;
  config.clock_drift_ppm = 50;
  config.clock_jump_ns = 20'000;
  config.device_clock_ns = 30'000;
  std::set<int64_t> offsets;
  for (config.seed = 1; config.seed < 5; ++config.seed) {
    const SimulatedRun run = Simulate(config);
    for (const RankRun& rank : run.ranks) {
      offsets.insert(rank.clock.offset_ns);
      EXPECT_LE(std::abs(rank.clock.offset_ns), 1'000'000);
      EXPECT_LE(std::abs(rank.clock.drift_ppm), 50);
      EXPECT_LE(std::abs(rank.clock.device_ns), 30'000);
      EXPECT_EQ(rank.clock.jump_ns, &rank == &run.ranks.back() ? 20'000 : 0);
    }
  }
  EXPECT_EQ(offsets.size(), 16u);
  // Clocks are only in the file: what happens is the same.
  SimulationConfig plain;
  plain.program = ProgramKind::kDdp;
  plain.seed = config.seed;
  EXPECT_EQ(Simulate(config).ranks[0].end_ns, Simulate(plain).ranks[0].end_ns);
}

TEST(SimulationCosts, AClockShowsOffsetDriftAndJump) {
  const RankClock clock{
      .offset_ns = -500, .drift_ppm = 10, .jump_at_ns = 2'000'000, .jump_ns = 300, .device_ns = 7};
  EXPECT_EQ(HostTime(clock, 0), -500);
  EXPECT_EQ(HostTime(clock, 1'000'000), 999'510);
  EXPECT_EQ(HostTime(clock, 2'000'000), 1'999'820);
  EXPECT_EQ(DeviceTime(clock, 1'000'000), 999'517);
}

size_t CountOf(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(SimulationCosts, FilesCanLackCallsAndLie) {
  SimulationConfig config;
  const std::string plain = KinetoText(Simulate(config), 0);
  config.unlinked_share = 0.2;
  const std::string lacking = KinetoText(Simulate(config), 0);
  const std::string call = R"("name": "cudaLaunchKernel")";
  const double kept =
      static_cast<double>(CountOf(lacking, call)) / static_cast<double>(CountOf(plain, call));
  EXPECT_NEAR(kept, 0.8, 0.1);
  EXPECT_EQ(CountOf(lacking, R"("cat": "kernel")"), CountOf(plain, R"("cat": "kernel")"));
  config.unlinked_share = 0.0;
  config.shifted_share = 0.05;
  const std::string lying = KinetoText(Simulate(config), 0);
  EXPECT_NE(lying, plain);
  config.shifted_ns = 0;
  EXPECT_EQ(KinetoText(Simulate(config), 0), plain);
}

TEST(SimulationCosts, ParsesCauses) {
  const auto stragglers = ParseStragglers("3:host:25,0:late-start");
  ASSERT_TRUE(stragglers && stragglers->size() == 2);
  EXPECT_EQ(stragglers->at(0).rank, 3);
  EXPECT_EQ(stragglers->at(0).percent, 25.0);
  EXPECT_EQ(stragglers->at(1).cause, StragglerCause::kLateStart);
  const auto slow = ParseSlowSteps("data-stall:30,pause");
  ASSERT_TRUE(slow && slow->size() == 2);
  EXPECT_EQ(slow->at(1).percent, 10.0);
  for (const char* bad : {"host", "x:host", "1:hosts", "1:host:x", "1:host:5:6"}) {
    EXPECT_FALSE(ParseStragglers(bad)) << bad;
  }
  for (const char* bad : {"stall", "pause:x", "pause:1:2"})
    EXPECT_FALSE(ParseSlowSteps(bad)) << bad;
}

}  // namespace
}  // namespace borescope::simulation
