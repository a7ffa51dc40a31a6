// What holds for runs and twins of every kind of program.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/simulation/simulate.h"

namespace borescope::simulation {
namespace {

SimulationConfig Seeded(uint64_t seed) {
  SimulationConfig config;
  config.program = static_cast<ProgramKind>(seed % static_cast<uint64_t>(ProgramKind::kCount));
  config.seed = seed;
  config.jitter = seed % 2 == 0 ? 0.1 : 0.0;
  return config;
}

Plan PlanOf(const std::string& change) {
  const ParsedPlan parsed = ParsePlan(R"({"changes": [{)" + change + "}]}");
  EXPECT_EQ(parsed.error, "");
  return parsed.plan;
}

int64_t EndOf(const SimulatedRun& run) {
  int64_t end_ns = 0;
  for (const RankRun& rank : run.ranks) end_ns = std::max(end_ns, rank.end_ns);
  return end_ns;
}

void ExpectComplete(const SimulatedRun& run) {
  ASSERT_EQ(run.error, "");
  for (const RankRun& rank : run.ranks) {
    ASSERT_EQ(rank.steps.size(), static_cast<size_t>(run.program.steps));
    ASSERT_TRUE(
        std::ranges::all_of(rank.works, [](const WorkRow& row) { return row.end_ns >= 0; }));
    ASSERT_TRUE(
        std::ranges::all_of(rank.calls, [](const CallRow& row) { return row.end_ns >= 0; }));
    ASSERT_TRUE(
        std::ranges::all_of(rank.frames, [](const FrameRow& row) { return row.end_ns >= 0; }));
  }
}

TEST(SimulatedTwins, AThousandSeedsRunToTheirEnd) {
  SimulationConfig config;
  config.program = ProgramKind::kRandom;
  config.jitter = 0.1;
  int64_t blocked = 0;
  for (config.seed = 0; config.seed < 1'000; ++config.seed) {
    const SimulatedRun run = Simulate(config);
    ExpectComplete(run);
    blocked += std::ranges::count_if(run.ranks[0].calls, &CallRow::is_blocked);
  }
  EXPECT_GT(blocked, 1'000);  // some of them fill the queue
}

// Nothing waits for time to be lost: what gets shorter makes nothing longer, and the other way
// round.
TEST(SimulatedTwins, LessOfAnythingNeverTakesLonger) {
  constexpr const char* kTargets[] = {"kernel:a", "op:aten",        "class:gemm", "comm",
                                      "copy",     "phase:backward", "host:aten"};
  for (uint64_t seed = 0; seed < 64; ++seed) {
    const SimulationConfig config = Seeded(seed);
    const int64_t end_ns = EndOf(Simulate(config));
    for (const std::string target : kTargets) {
      const auto scaled = [&](const char* factor) {
        return EndOf(Simulate(config, PlanOf(R"("scale": ")" + target + "=" + factor + '"')));
      };
      EXPECT_LE(scaled("0.5"), end_ns) << seed << target;
      EXPECT_GE(scaled("1.5"), end_ns) << seed << target;
    }
    for (const char* change :
         {R"("remove": "class:pointwise")", R"("no-data-wait": true)", R"("no-data-wait": "zero")",
          R"("no-sync": "")", R"("overlap-comm": "streams")", R"("launch": 0.5)"}) {
      const SimulatedRun twin = Simulate(config, PlanOf(change));
      ExpectComplete(twin);
      EXPECT_LE(EndOf(twin), end_ns) << seed << change;
    }
  }
}

TEST(SimulatedTwins, OfEveryChangeRunToTheirEnd) {
  for (uint64_t seed = 0; seed < 64; ++seed) {
    for (const char* change :
         {R"("graph": "")", R"("graph": "ProfilerStep", "host": "kept")", R"("remove": "op:aten")",
          R"("overlap-comm": "events")", R"("remove": "comm")", R"("scale": "host:a=0")"}) {
      ExpectComplete(Simulate(Seeded(seed), PlanOf(change)));
    }
  }
}

// A full queue holds the host back; with kernels of half the length it is full later.
TEST(SimulatedTwins, ShorterKernelsFillTheQueueLater) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SimulationConfig config;
    config.program = ProgramKind::kDeviceBound;
    config.seed = seed;
    const SimulatedRun run = Simulate(config);
    const SimulatedRun twin = Simulate(config, PlanOf(R"("scale": "kernel:e=0.5")"));
    const auto blocked = [](const SimulatedRun& of) {
      return std::ranges::count_if(of.ranks[0].calls, &CallRow::is_blocked);
    };
    EXPECT_GT(blocked(run), 100);
    EXPECT_LT(blocked(twin), blocked(run));
    EXPECT_LT(EndOf(twin), EndOf(run));
  }
}

}  // namespace
}  // namespace borescope::simulation
