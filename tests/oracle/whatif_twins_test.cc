// Predictions of whatif against counterfactual twins: the same run, simulated with the change made.
// BORESCOPE_TWINS=1000 asks for as many runs; docs/how-it-works/whatif.md has the figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/whatif_kit.h"

namespace borescope::internal {
namespace {

using simulation::ProgramKind;
using simulation::SimulatedRun;
using simulation::SimulationConfig;
using testkit::Loaded;
using testkit::LoadedRun;
using testkit::Prediction;

constexpr uint64_t kFewRuns = 160;

uint64_t Runs() {
  const char* const asked = std::getenv("BORESCOPE_TWINS");
  return asked == nullptr ? kFewRuns : std::strtoull(asked, nullptr, 10);
}

constexpr const char* kPlans[] = {
    R"({"changes":[{"scale":"class:gemm=0.5"}]})",
    R"({"changes":[{"scale":"class:pointwise=0.5"}]})",
    R"({"changes":[{"scale":"phase:backward=0.5"}]})",
    R"({"changes":[{"scale":"phase:forward=1.5"}]})",
    R"({"changes":[{"scale":"copy=0.3"}]})",
    R"({"changes":[{"scale":"host:aten=0.5"}]})",
    R"({"changes":[{"launch":0.5}]})",
    R"({"changes":[{"no-data-wait":true}]})",
    R"({"changes":[{"remove":"class:norm"}]})",
    R"({"changes":[{"no-sync":"aten::item"}]})",
    R"({"changes":[{"scale":"kernel:e=0.2"}]})",
    R"({"changes":[{"graph":"ProfilerStep"}]})",
    R"({"changes":[{"scale":"op:aten::linear=0.5"},{"launch":0.8},{"scale":"host:Optimizer=0.5"}]})"};

// One rank alone does not show how long collectives wait for the others, which a change of all
// ranks changes, too: jobs of several ranks are asked about what leaves their collectives alone.
bool IsForOneRank(ProgramKind program, const std::string& plan) {
  return program != ProgramKind::kDdp || plan.find("phase:") == std::string::npos;
}

struct Tally {
  int asked = 0;
  int answered = 0;
  int refused = 0;
  int inside = 0;
  std::vector<double> errors;  // without sign, ascending

  double ShareWithin(double limit) const {
    const auto within = std::upper_bound(errors.begin(), errors.end(), limit) - errors.begin();
    return static_cast<double>(within) / static_cast<double>(answered);
  }
};

Tally PredictAll(double jitter) {
  Tally tally;
  for (uint64_t seed = 0; seed < Runs(); ++seed) {
    SimulationConfig config;
    config.seed = seed + 1;
    config.program = static_cast<ProgramKind>(seed % static_cast<uint64_t>(ProgramKind::kCount));
    config.jitter = jitter;
    const std::string plan =
        kPlans[seed / static_cast<uint64_t>(ProgramKind::kCount) % std::size(kPlans)];
    if (!IsForOneRank(config.program, plan)) {
      continue;
    }
    ++tally.asked;
    const Prediction prediction = testkit::Predict(config, config, plan);
    tally.refused += prediction.verdict == ReplayVerdict::kRefused ? 1 : 0;
    if (prediction.error) {
      ++tally.answered;
      tally.inside += prediction.is_inside ? 1 : 0;
      tally.errors.push_back(std::abs(*prediction.error));
      if (tally.errors.back() > 0.03) {
        ::testing::Test::RecordProperty("far_" + std::to_string(config.seed), plan);
      }
    }
  }
  std::sort(tally.errors.begin(), tally.errors.end());
  EXPECT_EQ(tally.refused, 0);
  ::testing::Test::RecordProperty("answered", tally.answered);
  ::testing::Test::RecordProperty("within_1_percent", std::to_string(tally.ShareWithin(0.01)));
  ::testing::Test::RecordProperty("within_3_percent", std::to_string(tally.ShareWithin(0.03)));
  ::testing::Test::RecordProperty("inside", tally.inside);
  return tally;
}

TEST(WhatIfTwins, WithoutJitterWithinOnePercent) {
  const Tally tally = PredictAll(0);
  EXPECT_GE(tally.answered, tally.asked * 3 / 4);
  EXPECT_GE(tally.ShareWithin(0.01), 0.95);
  EXPECT_GE(tally.inside, tally.answered * 9 / 10);
}

TEST(WhatIfTwins, WithTenPercentJitterWithinThree) {
  const Tally tally = PredictAll(0.1);
  EXPECT_GE(tally.answered, tally.asked * 3 / 4);
  EXPECT_GE(tally.ShareWithin(0.03), 0.95);
  EXPECT_GE(tally.inside, tally.answered * 9 / 10);
}

// Until nothing changes: every node is as late as any of its dependencies asks for.
std::vector<int64_t> ByRelaxation(const ReplayGraph& graph, const ReplayLags& lags) {
  std::vector<int64_t> times(graph.places(), 0);
  for (bool changes = true; changes;) {
    changes = false;
    for (Place place = static_cast<Place>(graph.places()); place-- > 0;) {
      const uint32_t end = graph.first_edge[place + 1];
      int64_t latest = graph.first_edge[place] == end ? graph.ts_ns[place] - graph.ts_ns[0] : 0;
      for (uint32_t edge = graph.first_edge[place]; edge < end; ++edge) {
        latest = std::max(latest, times[graph.source[edge]] + lags.ns[edge]);
      }
      changes = changes || times[place] != latest;
      times[place] = latest;
    }
  }
  return times;
}

TEST(WhatIfTwins, OnePassIsRelaxation) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SimulationConfig config;
    config.seed = seed;
    config.steps = 2;
    config.jitter = 0.2;
    config.program = static_cast<ProgramKind>(seed % static_cast<uint64_t>(ProgramKind::kCount));
    const LoadedRun run = Loaded(simulation::Simulate(config));
    const ReplayModel model = MakeReplayModel(run.View(), "");
    EXPECT_EQ(model.times, ByRelaxation(model.graph, model.lags)) << seed;
  }
}

// By the definition: a launch is waiting while it was made and its work has not begun.
TEST(WhatIfTwins, QueuedCallsAreThoseOfADirectCount) {
  SimulationConfig config;
  config.program = ProgramKind::kDeviceBound;
  config.steps = 3;
  const LoadedRun run = Loaded(simulation::Simulate(config));
  const HostEvents& host = run.trace.host();
  const DeviceEvents& device = run.trace.device();
  std::vector<std::pair<int64_t, int64_t>> launches;  // call, start of its work
  for (uint32_t row = 0; row < device.size(); ++row) {
    const HostId call = run.index.correlation.launch_of[row];
    if (call.valid() && IsDeviceWork(device.kind[row])) {
      launches.emplace_back(host.ts_ns[call.value], device.ts_ns[row]);
    }
  }
  std::sort(launches.begin(), launches.end());
  size_t longest = 0;
  for (size_t i = 0; i < launches.size(); ++i) {
    const auto waiting =
        std::count_if(launches.begin(), launches.begin() + static_cast<ptrdiff_t>(i),
                      [&](const auto& earlier) { return earlier.second > launches[i].first; });
    longest = std::max(longest, static_cast<size_t>(waiting));
  }
  ASSERT_GE(longest, kFullQueue);
  const std::vector<QueuedCall> queued = FindQueuedCalls(run.View(), {});
  EXPECT_GE(queued.size() + longest + 8, launches.size());
  for (const QueuedCall& call : queued) {
    EXPECT_LE(device.ts_ns[call.frees.value], host.end_ns(call.call));
    EXPECT_TRUE(!call.was_full || device.ts_ns[call.frees.value] > host.ts_ns[call.call.value]);
  }
}

// A recording that is wrong, one in twenty kernels a millisecond late, is not vouched for.
TEST(WhatIfTwins, APlantedLieIsNotGood) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SimulationConfig config;
    config.seed = seed;
    config.program = seed % 2 == 0 ? ProgramKind::kDeviceBound : ProgramKind::kStreams;
    SimulatedRun run = simulation::Simulate(config);
    EXPECT_EQ(MakeReplayModel(Loaded(run).View(), "").quality.verdict, ReplayVerdict::kGood);
    std::vector<simulation::WorkRow>& works = run.ranks.front().works;
    for (size_t i = 0; i < works.size(); i += 20) {
      works[i].begin_ns += 1'000'000;
      works[i].end_ns += 1'000'000;
    }
    const LoadedRun lie = Loaded(run);
    EXPECT_NE(MakeReplayModel(lie.View(), "").quality.verdict, ReplayVerdict::kGood) << seed;
  }
}

}  // namespace
}  // namespace borescope::internal
