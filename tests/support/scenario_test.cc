#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/model/scenario_model.h"

namespace borescope::scenario {
namespace {

struct Made {
  RunResult result;
  std::vector<std::string> files;
};

Made Make(const ScenarioConfig& config) {
  Made made;
  made.files.resize(static_cast<size_t>(config.ranks));
  made.result = RunScenario(config, [&made](const RankInfo& info) {
    return std::make_unique<StringSink>(&made.files[static_cast<size_t>(info.rank)]);
  });
  return made;
}

ScenarioConfig WithEverything() {
  ScenarioConfig config;
  config.ranks = 2;
  config.seed = 42;
  config.with_stack = config.with_shapes = config.with_memory = config.cuda_graph = true;
  config.faults = *ParseFaults("missing-launch:2,nan-value:2,clock-jump:1,bad-utf8:1");
  return config;
}

TEST(Scenario, SameOptionsGiveTheSameBytes) {
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd}) {
    ScenarioConfig config = WithEverything();
    config.vendor = vendor;
    const Made first = Make(config);
    const Made second = Make(config);
    EXPECT_TRUE(first.result.is_ok);
    EXPECT_EQ(first.files, second.files);
    EXPECT_EQ(first.result.truth_json, second.result.truth_json);
  }
}

TEST(Scenario, OtherSeedsGiveOtherBytes) {
  ScenarioConfig config = WithEverything();
  const Made first = Make(config);
  config.seed = 43;
  EXPECT_NE(Make(config).files[0], first.files[0]);
  EXPECT_NE(first.files[0], first.files[1]);
}

TEST(Scenario, SizeIsReachedAndHardlyExceeded) {
  ScenarioConfig config;
  config.ranks = 2;
  config.size_bytes = 4'000'000;
  const Made made = Make(config);
  const size_t written = made.files[0].size() + made.files[1].size();
  EXPECT_TRUE(made.result.is_ok);
  EXPECT_EQ(made.result.bytes, static_cast<int64_t>(written));
  EXPECT_GE(made.result.bytes, config.size_bytes);
  EXPECT_LT(made.result.bytes, config.size_bytes + 1'500'000);  // a step of both, and the ends
  EXPECT_GT(made.result.steps, config.steps);
}

// More steps only add: the steps there were stay as they are.
TEST(Scenario, LongerRunsBeginLikeShorterOnes) {
  ScenarioConfig config;
  config.seed = 5;
  config.steps = 2;
  const std::string shorter = Make(config).files[0];
  config.steps = 6;
  const std::string longer = Make(config).files[0];
  const size_t metadata = shorter.find("\"process_name\"");
  ASSERT_NE(metadata, std::string::npos);
  const size_t steps_end = shorter.rfind("},", metadata);
  EXPECT_EQ(shorter.substr(0, steps_end), longer.substr(0, steps_end));
}

TEST(Scenario, UnwrittenRanksStillTakePart) {
  ScenarioConfig config;
  config.ranks = 2;
  const Made both = Make(config);
  std::string alone;
  const RunResult result = RunScenario(config, [&alone](const RankInfo& info) {
    return info.rank == 1 ? std::make_unique<StringSink>(&alone) : nullptr;
  });
  EXPECT_TRUE(result.is_ok);
  EXPECT_EQ(alone, both.files[1]);
}

TEST(Scenario, TellsThatASinkFailed) {
  class FullDisk : public Sink {
   public:
    bool Write(std::string_view) override { return false; }
  };
  const auto open = [](const RankInfo&) { return std::make_unique<FullDisk>(); };
  ScenarioConfig config;
  EXPECT_FALSE(RunScenario(config, open).is_ok);
  config.size_bytes = 50'000'000;  // gives up long before
  const RunResult result = RunScenario(config, open);
  EXPECT_FALSE(result.is_ok);
  EXPECT_LT(result.bytes, 5'000'000);
}

// The plan of one job, step by step.
struct Plan {
  explicit Plan(ScenarioConfig wanted) : config(wanted), catalog(config.vendor) {
    config.Normalize();
    JobModel job(config, catalog);
    for (int64_t step = 0; step < config.steps; ++step) {
      std::vector<StepBatch>& batches = steps.emplace_back(static_cast<size_t>(config.ranks));
      job.PlanStep(&batches);
    }
  }

  ScenarioConfig config;
  KernelCatalog catalog;
  std::vector<std::vector<StepBatch>> steps;
};

ScenarioConfig FourRanks() {
  ScenarioConfig config;
  config.ranks = 4;
  config.steps = 5;
  config.straggler = 2;
  return config;
}

TEST(JobModel, CollectivesEndTogetherAndWaitForTheStraggler) {
  const Plan plan(FourRanks());
  std::vector<int64_t> total_ns(4);
  for (const std::vector<StepBatch>& batches : plan.steps) {
    std::vector<std::vector<int64_t>> ends_ns(4);
    for (size_t rank = 0; rank < 4; ++rank) {
      for (const DeviceEvent& event : batches[rank].device) {
        if (event.collective < 0) continue;
        ends_ns[rank].push_back(event.ts_ns + event.dur_ns);
        total_ns[rank] += event.dur_ns;
      }
      EXPECT_FALSE(ends_ns[rank].empty());
      EXPECT_EQ(ends_ns[rank], ends_ns[0]);
    }
  }
  EXPECT_EQ(std::min_element(total_ns.begin(), total_ns.end()) - total_ns.begin(), 2);
}

TEST(JobModel, StreamsRunInOrderAndAfterTheirLaunches) {
  const Plan plan(FourRanks());
  std::vector<int64_t> end_ns(4 * kStreams);
  for (const std::vector<StepBatch>& batches : plan.steps) {
    for (size_t rank = 0; rank < 4; ++rank) {
      for (const DeviceEvent& event : batches[rank].device) {
        int64_t& last_ns = end_ns[rank * kStreams + static_cast<size_t>(event.stream)];
        EXPECT_GE(event.ts_ns, last_ns);
        EXPECT_GT(event.ts_ns, batches[rank].calls[static_cast<size_t>(event.call)].ts_ns);
        last_ns = event.ts_ns + event.dur_ns;
      }
    }
  }
}

TEST(JobModel, OpsLieInsideTheirParents) {
  const Plan plan(FourRanks());
  for (const std::vector<StepBatch>& batches : plan.steps) {
    for (const std::vector<HostEvent>& events : batches[0].host) {
      for (const HostEvent& event : events) {
        EXPECT_GT(event.dur_ns, 0);
        if (event.parent_op < 0) continue;
        const HostEvent& parent = events[static_cast<size_t>(event.parent_op)];
        EXPECT_EQ(parent.kind, HostKind::kOp);
        EXPECT_GE(event.ts_ns, parent.ts_ns);
        EXPECT_LT(event.ts_ns + event.dur_ns, parent.ts_ns + parent.dur_ns);
      }
    }
  }
}

}  // namespace
}  // namespace borescope::scenario
