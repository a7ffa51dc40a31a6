// Each kind of dependency alone, with times computed by hand from the constants: launch 6 us, copy
// 8, graph 9, gap 1.2, graph gap 0.7, event 2.5, return 4, unblock 3, hand-over 12.
#include "tests/support/simulation/toy_testing.h"

namespace borescope::simulation {
namespace {

const WorkRow& WorkAt(const SimulatedRun& run, size_t i) { return run.ranks[0].works.at(i); }
const CallRow& CallAt(const SimulatedRun& run, size_t i) { return run.ranks[0].calls.at(i); }

TEST(SimulatedMachine, WorkStartsALaunchLatencyAfterItsCallBegan) {
  Toy toy;
  toy.author.Compute(1'000);
  toy.Kernel(10'000);
  const SimulatedRun run = toy.Run();
  EXPECT_EQ(CallAt(run, 0).begin_ns, 1'000);
  EXPECT_EQ(CallAt(run, 0).end_ns, 5'000);
  EXPECT_EQ(WorkAt(run, 0).begin_ns, 7'000);
  EXPECT_EQ(WorkAt(run, 0).end_ns, 17'000);
}

TEST(SimulatedMachine, WorkOfAStreamFollowsAfterAGap) {
  Toy toy;
  toy.Kernel(10'000);
  toy.Kernel(5'000);
  const SimulatedRun run = toy.Run();
  EXPECT_EQ(WorkAt(run, 1).begin_ns, 16'000 + 1'200);
  EXPECT_EQ(WorkAt(run, 1).end_ns, 22'200);
}

TEST(SimulatedMachine, CopiesTakeLongerToStart) {
  Toy toy;
  toy.author.Launch("cudaMemcpyAsync", 4'000,
                    {.name = "Memcpy HtoD (Pinned -> Device)",
                     .work_class = WorkClass::kCopy,
                     .ns = 3'000,
                     .kind = WorkKind::kMemcpy});
  EXPECT_EQ(WorkAt(toy.Run(), 0).begin_ns, 8'000);
}

TEST(SimulatedMachine, OneStreamWaitsForTheEventOfAnother) {
  Toy toy;
  const int32_t side = toy.author.AddStream(13, "side");
  toy.Kernel(20'000);  // 6 -> 26 us
  const int32_t event = toy.author.Record(1'000);
  toy.Kernel(50'000);  // after the record: not waited for
  toy.author.OnStream(side);
  toy.author.StreamWait(1'000, event);
  toy.Kernel(5'000);
  const SimulatedRun run = toy.Run();
  EXPECT_EQ(WorkAt(run, 2).begin_ns, 26'000 + 2'500);
}

TEST(SimulatedMachine, AnEventThatIsLongOverDelaysNothing) {
  Toy toy;
  const int32_t side = toy.author.AddStream(13, "side");
  toy.Kernel(1'000);
  const int32_t event = toy.author.Record(1'000);
  toy.author.Compute(100'000);
  toy.author.OnStream(side);
  toy.author.StreamWait(1'000, event);
  toy.Kernel(5'000);  // its call begins at 106 us
  EXPECT_EQ(WorkAt(toy.Run(), 1).begin_ns, 112'000);
}

TEST(SimulatedMachine, AStreamSynchronisationReturnsAfterTheLastWork) {
  Toy toy;
  toy.Kernel(20'000);
  toy.author.WaitStream("cudaStreamSynchronize", 2'000);
  toy.author.Compute(1'000);
  toy.author.WaitStream("cudaStreamSynchronize", 2'000);
  const SimulatedRun run = toy.Run();
  EXPECT_EQ(CallAt(run, 1).awaited_ns, 26'000);
  EXPECT_EQ(CallAt(run, 1).end_ns, 30'000);
  // Nothing is left to wait for: the call takes its own time.
  EXPECT_EQ(CallAt(run, 2).awaited_ns, -1);
  EXPECT_EQ(CallAt(run, 2).end_ns, 33'000);
}

TEST(SimulatedMachine, ADeviceSynchronisationWaitsForAllStreamsAStreamOneForItsOwn) {
  Toy toy;
  const int32_t side = toy.author.AddStream(13, "side");
  toy.Kernel(20'000);  // until 26 us
  toy.author.OnStream(side);
  toy.Kernel(90'000);  // 10 -> 100 us
  toy.author.OnStream(0);
  toy.author.WaitStream("cudaStreamSynchronize", 2'000);
  toy.author.WaitDevice("cudaDeviceSynchronize", 2'000);
  const SimulatedRun run = toy.Run();
  EXPECT_EQ(CallAt(run, 2).end_ns, 30'000);
  EXPECT_EQ(CallAt(run, 3).end_ns, 104'000);
}

TEST(SimulatedMachine, AnEventSynchronisationWaitsForWhatWasIssuedBeforeTheRecord) {
  Toy toy;
  toy.Kernel(20'000);  // until 26 us
  const int32_t event = toy.author.Record(1'000);
  toy.Kernel(90'000);
  toy.author.WaitEvent("cudaEventSynchronize", 2'000, event);
  EXPECT_EQ(CallAt(toy.Run(), 3).end_ns, 30'000);
}

TEST(SimulatedMachine, ASynchronousCopyWaitsForItself) {
  Toy toy;
  toy.Kernel(20'000);  // until 26 us
  toy.author.Launch("cudaMemcpy", 3'000,
                    {.name = "Memcpy DtoH (Device -> Pageable)",
                     .work_class = WorkClass::kCopy,
                     .ns = 5'000,
                     .kind = WorkKind::kMemcpy},
                    true);
  const SimulatedRun run = toy.Run();
  EXPECT_EQ(WorkAt(run, 1).end_ns, 26'000 + 1'200 + 5'000);
  EXPECT_EQ(CallAt(run, 1).end_ns, 32'200 + 4'000);
}

TEST(SimulatedMachine, AFullQueueHoldsTheCallUntilAPlaceIsFree) {
  Toy toy;
  toy.config.constants.queue_depth = 2;
  // The first starts at 6 us; the third finds two that wait, the fourth again.
  for (int i = 0; i < 4; ++i) toy.Kernel(30'000, "kernel", 1'000);
  const SimulatedRun run = toy.Run();
  EXPECT_FALSE(CallAt(run, 1).is_blocked);
  EXPECT_TRUE(CallAt(run, 2).is_blocked);
  EXPECT_EQ(CallAt(run, 2).begin_ns, 2'000);
  EXPECT_EQ(CallAt(run, 2).end_ns, 6'000 + 3'000);
  EXPECT_TRUE(CallAt(run, 3).is_blocked);
  EXPECT_EQ(WorkAt(run, 1).begin_ns, 37'200);
  EXPECT_EQ(CallAt(run, 3).end_ns, 37'200 + 3'000);
  EXPECT_EQ(WorkAt(run, 3).begin_ns, 6'000 + 3 * 31'200);
}

TEST(SimulatedMachine, TheKernelsOfAGraphFollowFasterAndTakeOnePlace) {
  Toy toy;
  toy.config.constants.queue_depth = 1;
  const WorkSpec kernel{.name = "kernel", .ns = 2'000};
  toy.author.LaunchGraph("cudaGraphLaunch", 5'000, {kernel, kernel, kernel});
  toy.Kernel(1'000);  // begins at 5 us, the graph starts at 9
  const SimulatedRun run = toy.Run();
  EXPECT_EQ(WorkAt(run, 0).begin_ns, 9'000);
  EXPECT_EQ(WorkAt(run, 1).begin_ns, 11'700);
  EXPECT_EQ(WorkAt(run, 2).begin_ns, 14'400);
  EXPECT_TRUE(CallAt(run, 1).is_blocked);
  EXPECT_EQ(CallAt(run, 1).end_ns, 12'000);
  EXPECT_EQ(WorkAt(run, 3).begin_ns, 16'400 + 1'200);
}

TEST(SimulatedMachine, ThreadsHandOver) {
  Toy toy;
  const int32_t other = toy.author.AddThread("autograd");
  const int32_t begin = toy.author.NewEvent();
  const int32_t end = toy.author.NewEvent();
  toy.author.Compute(5'000);
  toy.author.Signal(begin);
  toy.author.Await(end);
  toy.author.OpenOp("after");
  toy.author.Close();
  toy.author.OnThread(other);
  toy.author.Await(begin);
  toy.author.Compute(30'000);
  toy.author.Signal(end);
  EXPECT_EQ(toy.Run().ranks[0].frames[0].begin_ns, 5'000 + 12'000 + 30'000 + 12'000);
}

TEST(SimulatedMachine, ASignalThatWasGivenBeforeNeedsNoHandOver) {
  Toy toy;
  const int32_t other = toy.author.AddThread("loader", false);
  const int32_t ready = toy.author.NewEvent();
  toy.author.Compute(50'000);
  toy.author.Await(ready);
  toy.author.OpenOp("after");
  toy.author.Close();
  toy.author.OnThread(other);
  toy.author.Compute(20'000);
  toy.author.Signal(ready);
  EXPECT_EQ(toy.Run().ranks[0].frames[0].begin_ns, 50'000);
}

// Two ranks, one of which begins later.
TEST(SimulatedMachine, ACollectiveEndsATransferAfterTheLastEntered) {
  Toy toy;
  toy.program.ranks = 2;
  const int32_t world = toy.author.AddPartition({{0, 1}});
  const int32_t sum = toy.author.AddCollective("allreduce", world, 1'500'000);
  toy.author.BeginStep();
  toy.author.Compute(100'000);
  toy.author.Launch("cudaLaunchKernelExC", 4'000,
                    {.name = "ncclDevKernel_AllReduce_Sum_f16_RING_LL()",
                     .work_class = WorkClass::kCollective,
                     .collective = sum});
  toy.author.EndStep();
  // A step takes 104 us: half of that later.
  toy.config.stragglers = {{1, StragglerCause::kLateStart, 50.0}};
  const SimulatedRun run = toy.Run();
  const WorkRow& early = run.ranks[0].works[0];
  const WorkRow& late = run.ranks[1].works[0];
  EXPECT_EQ(early.begin_ns, 106'000);
  EXPECT_EQ(late.begin_ns, 106'000 + 52'000);
  // 15 us and 1.5 MB at 150 bytes a ns.
  EXPECT_EQ(early.end_ns, 158'000 + 15'000 + 10'000);
  EXPECT_EQ(late.end_ns, early.end_ns);
  EXPECT_EQ(run.collectives.at(0).all_in_ns, 158'000);
  EXPECT_EQ(run.collectives.at(0).transfer_ns, 25'000);
}

// The root leaves while the other has not come; the other leaves a transfer after it came.
TEST(SimulatedMachine, TheRootOfABroadcastWaitsForNobody) {
  Toy toy;
  toy.program.ranks = 2;
  const int32_t world = toy.author.AddPartition({{0, 1}});
  const int32_t sent = toy.author.AddBroadcast(world, 750'000);
  toy.author.BeginStep();
  toy.author.Compute(100'000);
  toy.author.Launch("cudaLaunchKernelExC", 0,
                    {.name = "ncclDevKernel_Broadcast_RING_LL()",
                     .work_class = WorkClass::kCollective,
                     .collective = sent});
  toy.author.EndStep();
  for (const int32_t late : {0, 1}) {
    toy.config.stragglers = {{late, StragglerCause::kLateStart, 50.0}};
    const SimulatedRun run = toy.Run();
    // 15 us and 0.75 MB at 150 bytes a ns.
    EXPECT_EQ(run.ranks[0].works[0].end_ns, (late == 0 ? 156'000 : 106'000) + 20'000);
    EXPECT_EQ(run.ranks[1].works[0].end_ns, 156'000 + 20'000);
    EXPECT_EQ(run.collectives.at(0).all_in_ns, 156'000);
  }
}

TEST(SimulatedMachine, AProgramThatNeverEndsIsAnError) {
  Toy toy;
  toy.author.Await(toy.author.NewEvent());
  EXPECT_NE(SimulateProgram(toy.config, toy.program).error, "");
}

}  // namespace
}  // namespace borescope::simulation
