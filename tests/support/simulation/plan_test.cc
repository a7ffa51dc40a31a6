// Changes, on programs whose times can be computed by hand.
#include "tests/support/simulation/plan.h"

#include "tests/support/simulation/toy_testing.h"

namespace borescope::simulation {
namespace {

Plan Parse(std::string_view json) {
  ParsedPlan parsed = ParsePlan(json);
  EXPECT_EQ(parsed.error, "");
  return parsed.plan;
}

// Two operators with a kernel each, and a wait: 1 + 4 us of host time each.
struct TwoKernels : Toy {
  TwoKernels() {
    Add("aten::mm", "gemm_a", WorkClass::kGemm, 20'000);
    Add("aten::add", "add_b", WorkClass::kPointwise, 10'000);
    author.WaitStream("cudaStreamSynchronize", 2'000);
  }
  void Add(std::string_view op, std::string_view kernel, WorkClass work_class, int64_t ns) {
    author.OpenOp(op);
    author.Compute(1'000);
    author.Launch("cudaLaunchKernel", 4'000, {.name = kernel, .work_class = work_class, .ns = ns});
    author.Close();
  }
  int64_t EndWith(std::string_view json) { return Run(Parse(json)).ranks[0].end_ns; }
};

// The first starts at 7, ends at 27; the second at 28.2 and 38.2; the wait at 42.2.
TEST(SimulationPlan, NoChange) { EXPECT_EQ(TwoKernels().EndWith(R"({"changes": []})"), 42'200); }

TEST(SimulationPlan, ScalesWorkByNameOperatorAndClass) {
  for (const char* what : {"kernel:gemm", "op:aten::mm", "class:gemm"}) {
    const std::string json = std::string(R"({"changes": [{"scale": ")") + what + "=0.5\"}]}";
    EXPECT_EQ(TwoKernels().EndWith(json), 32'200) << what;
  }
  EXPECT_EQ(TwoKernels().EndWith(R"({"changes": [{"scale": "phase:forward=0.5"}]})"), 27'200);
  EXPECT_EQ(TwoKernels().EndWith(R"({"changes": [{"scale": "kernel:other=0.5"}]})"), 42'200);
}

TEST(SimulationPlan, FactorsMultiply) {
  EXPECT_EQ(TwoKernels().EndWith(
                R"({"changes": [{"scale": "class:gemm=0.5"}, {"scale": "kernel:gemm_a=0.5"}]})"),
            27'200);
}

// Without the first kernel, its call and its gap: the second starts at 2 + 6 us.
TEST(SimulationPlan, RemovesWorkAndItsLaunch) {
  EXPECT_EQ(TwoKernels().EndWith(R"({"changes": [{"remove": "op:aten::mm"}]})"), 22'000);
}

// Both launches of 1 us: 7 -> 27 as before.
TEST(SimulationPlan, ScalesLaunches) {
  TwoKernels toy;
  const SimulatedRun run = toy.Run(Parse(R"({"changes": [{"launch": 0.25}]})"));
  EXPECT_EQ(run.ranks[0].calls[0].end_ns, 2'000);
  EXPECT_EQ(run.ranks[0].calls[1].begin_ns, 3'000);
  EXPECT_EQ(run.ranks[0].end_ns, 42'200);
}

TEST(SimulationPlan, ScalesHostTime) {
  TwoKernels toy;
  const SimulatedRun run = toy.Run(Parse(R"({"changes": [{"scale": "host:aten::mm=2"}]})"));
  EXPECT_EQ(run.ranks[0].calls[0].begin_ns, 2'000);
  EXPECT_EQ(run.ranks[0].calls[0].end_ns, 10'000);
  EXPECT_EQ(run.ranks[0].calls[1].begin_ns, 11'000);
}

// The wait ends where it begins, at 10 us; the last that happens is the second kernel.
TEST(SimulationPlan, EndsWaits) {
  TwoKernels toy;
  const SimulatedRun run = toy.Run(Parse(R"({"changes": [{"no-sync": "Stream"}]})"));
  EXPECT_EQ(run.ranks[0].calls[2].begin_ns, 10'000);
  EXPECT_EQ(run.ranks[0].calls[2].end_ns, 10'000);
  EXPECT_EQ(run.ranks[0].end_ns, 38'200);
}

TEST(SimulationPlan, ScalesCopies) {
  Toy toy;
  toy.Kernel(10'000);
  toy.author.Launch("cudaMemsetAsync", 1'000,
                    {.name = "Memset (Device)", .ns = 4'000, .kind = WorkKind::kMemset});
  const SimulatedRun run = toy.Run(Parse(R"({"changes": [{"scale": "copy=0.25"}]})"));
  EXPECT_EQ(run.ranks[0].works[1].end_ns, 16'000 + 1'200 + 1'000);
}

// Data that takes 30, 10 and 20 us.
TEST(SimulationPlan, LoadsDataInTheShortestTime) {
  Toy toy;
  for (const int64_t ns : {30'000, 10'000, 20'000}) {
    toy.author.BeginStep();
    toy.author.OpenData("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    toy.author.LoadData(ns);
    toy.author.Close();
    toy.author.Compute(5'000);
    toy.author.EndStep();
  }
  EXPECT_EQ(toy.Run().ranks[0].end_ns, 75'000);
  EXPECT_EQ(toy.Run(Parse(R"({"changes": [{"no-data-wait": true}]})")).ranks[0].end_ns, 45'000);
  EXPECT_EQ(toy.Run(Parse(R"({"changes": [{"no-data-wait": "zero"}]})")).ranks[0].end_ns, 15'000);
}

TEST(SimulationPlan, JoinsLaunchesIntoAGraph) {
  Toy toy;
  toy.author.OpenNote("region");
  for (int i = 0; i < 3; ++i) {
    toy.author.OpenOp("aten::add");
    toy.author.Compute(10'000);
    toy.Kernel(2'000);
    toy.author.Close();
  }
  toy.author.Close();
  toy.author.WaitStream("cudaStreamSynchronize", 2'000);
  toy.Kernel(2'000);
  const SimulatedRun run = toy.Run(Parse(R"({"changes": [{"graph": "region"}]})"));
  ASSERT_EQ(run.ranks[0].calls.size(), 3u);
  // One call of 10 us and 0.3 us a kernel, at once: the operators take no time.
  EXPECT_EQ(run.program.Name(run.ranks[0].calls[0].name), "cudaGraphLaunch");
  EXPECT_EQ(run.ranks[0].calls[0].begin_ns, 0);
  EXPECT_EQ(run.ranks[0].calls[0].end_ns, 10'900);
  EXPECT_EQ(run.ranks[0].works[0].begin_ns, 9'000);
  EXPECT_EQ(run.ranks[0].works[2].end_ns, 9'000 + 3 * 2'000 + 2 * 700);
  EXPECT_EQ(run.ranks[0].calls[1].end_ns, 16'400 + 4'000);
}

// What backward launches on a thread of its own is part of the step that waits for it.
TEST(SimulationPlan, AGraphHasTheLaunchesOfTheThreadThatIsWaitedFor) {
  Toy toy;
  const int32_t engine = toy.author.AddThread("autograd");
  const int32_t begin = toy.author.NewEvent();
  const int32_t end = toy.author.NewEvent();
  toy.author.OpenNote("region");
  toy.Kernel(2'000);
  toy.author.Signal(begin);
  toy.author.OnThread(engine);
  toy.author.Await(begin);
  toy.author.Compute(50'000);
  toy.Kernel(2'000);
  toy.author.Signal(end);
  toy.author.OnThread(0);
  toy.author.Await(end);
  toy.Kernel(2'000);
  toy.author.Close();
  const SimulatedRun run = toy.Run(Parse(R"({"changes": [{"graph": "region"}]})"));
  ASSERT_EQ(run.ranks[0].calls.size(), 1u);
  EXPECT_EQ(run.ranks[0].calls[0].end_ns, 10'900);
  EXPECT_EQ(run.ranks[0].works[2].end_ns, 9'000 + 3 * 2'000 + 2 * 700);
}

TEST(SimulationPlan, AGraphMayKeepTheHostTime) {
  Toy toy;
  toy.author.OpenNote("region");
  for (int i = 0; i < 2; ++i) {
    toy.author.Compute(10'000);
    toy.Kernel(2'000);
  }
  toy.author.Close();
  const SimulatedRun run = toy.Run(Parse(R"({"changes": [{"graph": "region", "host": "kept"}]})"));
  ASSERT_EQ(run.ranks[0].calls.size(), 1u);
  EXPECT_EQ(run.ranks[0].calls[0].begin_ns, 10'000);
  EXPECT_EQ(run.ranks[0].frames[0].end_ns, 10'000 + 10'600 + 10'000);
}

TEST(SimulationPlan, AWaitDividesAGraph) {
  Toy toy;
  toy.author.OpenNote("region");
  for (int half = 0; half < 2; ++half) {
    toy.Kernel(2'000);
    toy.Kernel(2'000);
    toy.author.WaitStream("cudaStreamSynchronize", 2'000);
  }
  toy.author.Close();
  const SimulatedRun run = toy.Run(Parse(R"({"changes": [{"graph": "region"}]})"));
  EXPECT_EQ(run.ranks[0].calls.size(), 4u);
}

// Of one rank. The second kernel waits for the collective on its stream; beside it, it does not.
TEST(SimulationPlan, CollectivesLeaveTheStreamOfOtherWork) {
  Toy toy;
  const int32_t comm = toy.author.AddStream(20, "comm");
  const int32_t world = toy.author.AddPartition({{0}});
  const int32_t sum = toy.author.AddCollective("allreduce", world, 0);
  toy.Kernel(20'000);  // 6 -> 26 us
  toy.author.Only(When::kOverlapped);
  const int32_t ready = toy.author.Record(0);
  toy.author.OnStream(comm);
  toy.author.StreamWait(0, ready);
  toy.author.OnStream(0);
  toy.author.Only(When::kAlways);
  toy.author.Launch("cudaLaunchKernelExC", 4'000,
                    {.name = "ncclDevKernel_AllReduce_Sum_f16_RING_LL()",
                     .work_class = WorkClass::kCollective,
                     .collective = sum});
  toy.author.MoveToWhenOverlapped(comm);
  toy.Kernel(10'000);
  // 27.2 and 15 us of latency, then the gap again.
  EXPECT_EQ(toy.Run().ranks[0].works[2].begin_ns, 42'200 + 1'200);
  const SimulatedRun twin = toy.Run(Parse(R"({"changes": [{"overlap-comm": "streams"}]})"));
  EXPECT_EQ(twin.ranks[0].works[1].begin_ns, 26'000 + 2'500);
  EXPECT_EQ(twin.ranks[0].works[2].begin_ns, 26'000 + 1'200);
}

TEST(SimulationPlan, ScalesTheTransferOfCollectives) {
  Toy toy;
  const int32_t world = toy.author.AddPartition({{0}});
  toy.author.Launch("cudaLaunchKernelExC", 4'000,
                    {.name = "ncclDevKernel_AllReduce_Sum_f16_RING_LL()",
                     .work_class = WorkClass::kCollective,
                     .collective = toy.author.AddCollective("allreduce", world, 750'000)});
  EXPECT_EQ(toy.Run().ranks[0].works[0].end_ns, 6'000 + 20'000);
  EXPECT_EQ(toy.Run(Parse(R"({"changes": [{"scale": "comm=0.5"}]})")).ranks[0].works[0].end_ns,
            16'000);
}

TEST(SimulationPlan, LeavesStragglersOut) {
  SimulationConfig config;
  config.program = ProgramKind::kDdp;
  const SimulatedRun plain = Simulate(config);
  config.stragglers = {{1, StragglerCause::kHost, 100.0}};
  EXPECT_GT(Simulate(config).ranks[0].end_ns, plain.ranks[0].end_ns);
  const SimulatedRun twin = Simulate(config, Parse(R"({"changes": [{"no-straggler": true}]})"));
  EXPECT_EQ(twin.ranks[0].end_ns, plain.ranks[0].end_ns);
  EXPECT_TRUE(twin.planted.empty());
}

TEST(SimulationPlan, MistakesAreErrors) {
  for (const char* json :
       {"", "{", "{}", R"({"changes": 1})", R"({"changes": [1]})", R"({"changes": [{}]})",
        R"({"changes": [{"scale": "class:gemm"}]})", R"({"changes": [{"scale": "class:gem=1"}]})",
        R"({"changes": [{"scale": "kernel:=1"}]})", R"({"changes": [{"scale": "comm=x"}]})",
        R"({"changes": [{"scale": "comm=-1"}]})", R"({"changes": [{"launch": -1}]})",
        R"({"changes": [{"remove": "everything"}]})", R"({"changes": [{"no-data-wait": false}]})",
        R"({"changes": [{"graph": "x", "host": "gone"}]})", R"({"changes": [{"faster": 2}]})"}) {
    EXPECT_NE(ParsePlan(json).error, "") << json;
  }
}

}  // namespace
}  // namespace borescope::simulation
