// What must hold in every run, checked against the rows alone, by ways that are slow and simple.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/support/simulation/kineto.h"
#include "tests/support/simulation/simulate.h"
#include "tests/support/simulation/truth_json.h"

namespace borescope::simulation {
namespace {

constexpr int64_t kNever = -1;

SimulationConfig Random(uint64_t seed) {
  SimulationConfig config;
  config.program = static_cast<ProgramKind>(seed % static_cast<uint64_t>(ProgramKind::kCount));
  config.seed = seed;
  config.steps = 3;
  config.constants.queue_depth = seed % 3 == 0 ? 16 : 1024;
  return config;
}

// One rank, with what was issued to each stream in the order of the calls.
class Checker {
 public:
  Checker(const SimulatedRun& run, size_t rank) : run_(run), rows_(run.ranks[rank]) {
    // Calls are in the order in which they began; works are in that of their calls, but for those
    // of calls that were blocked, which are issued when they are no longer.
    for (size_t i = 0; i < rows_.works.size(); ++i) {
      works_of_[rows_.works[i].call].push_back(static_cast<int32_t>(i));
    }
  }

  void Check() {
    StreamsAreQueues();
    QueuesAreNoLongerThanAllowed();
    WorkFollowsItsLaunch();
    EventsEndWhatPrecedesThem();
    WaitsEndAfterWhatTheyAwait();
    FramesNest();
  }

  // Without jitter: calls that had to wait end a fixed time after what they waited for.
  void EveryWaitHasItsReason() {
    for (const CallRow& call : rows_.calls) {
      if (call.awaited_ns < 0) continue;
      EXPECT_EQ(call.end_ns, call.awaited_ns + run_.config.constants.return_ns);
    }
    for (size_t i = 0; i < rows_.works.size(); ++i) {
      const CallRow& call = CallOf(rows_.works[i]);
      if (!call.is_blocked || call.waits || rows_.works[i].position > 0) continue;
      const int64_t freed_ns = FreedFor(static_cast<int32_t>(i));
      EXPECT_LT(call.begin_ns, freed_ns);
      EXPECT_GE(call.end_ns, freed_ns + run_.config.constants.unblock_ns);
    }
  }

  // Likewise every start is explained by what allowed it, to the nanosecond.
  void EveryStartHasItsReason() {
    EventsEndWhatPrecedesThem();
    for (size_t i = 0; i < rows_.works.size(); ++i) {
      const WorkRow& row = rows_.works[i];
      if (row.position > 0) continue;
      EXPECT_EQ(row.begin_ns, ExpectedStart(static_cast<int32_t>(i))) << "work " << i;
    }
  }

 private:
  const Work& WorkOf(const WorkRow& row) const {
    return run_.program.works[static_cast<size_t>(row.work)];
  }
  const CallRow& CallOf(const WorkRow& row) const {
    return rows_.calls[static_cast<size_t>(row.call)];
  }

  // The last work of each stream that was issued before the call, by a look at all of them.
  int64_t EndOfIssuedBefore(size_t call, int32_t stream) const {
    int64_t end = kNever;
    for (const WorkRow& row : rows_.works) {
      if (WorkOf(row).stream == stream && static_cast<size_t>(row.call) < call) {
        end = std::max(end, row.end_ns);
      }
    }
    // What the stream itself has to wait for, with nothing after it.
    for (size_t i = 0; i < call; ++i) {
      const CallRow& wait = rows_.calls[i];
      if (wait.action != Action::kStreamWait || wait.stream != stream) continue;
      end = std::max(end, event_ends_.at(wait.event));
    }
    return end;
  }

  void StreamsAreQueues() const {
    std::map<int32_t, int64_t> ends;
    for (const WorkRow& row : rows_.works) {
      int64_t& end = ends.try_emplace(WorkOf(row).stream, kNever).first->second;
      EXPECT_LE(end, row.begin_ns);
      EXPECT_LE(row.begin_ns, row.end_ns);
      end = row.end_ns;
    }
  }

  // Launches that were issued, less those that have started.
  void QueuesAreNoLongerThanAllowed() const {
    std::map<int32_t, std::vector<std::pair<int64_t, int>>> changes;
    for (const WorkRow& row : rows_.works) {
      if (row.position > 0) continue;
      const CallRow& call = CallOf(row);
      // A blocked call has its place at some time before it ends.
      const int64_t issued_ns = call.is_blocked ? call.end_ns : call.begin_ns;
      if (issued_ns >= row.begin_ns) continue;
      changes[WorkOf(row).stream].emplace_back(issued_ns, 1);
      changes[WorkOf(row).stream].emplace_back(row.begin_ns, -1);
    }
    for (auto& [stream, list] : changes) {
      std::ranges::sort(list);
      int64_t waiting = 0;
      for (const auto& [at_ns, change] : list) {
        waiting += change;
        EXPECT_LE(waiting, run_.config.constants.queue_depth);
      }
    }
  }

  void WorkFollowsItsLaunch() const {
    for (const WorkRow& row : rows_.works) EXPECT_GT(row.begin_ns, CallOf(row).begin_ns);
  }

  void EventsEndWhatPrecedesThem() {
    for (size_t i = 0; i < rows_.calls.size(); ++i) {
      const CallRow& call = rows_.calls[i];
      if (call.action != Action::kRecord) continue;
      event_ends_[call.event] = std::max(call.begin_ns, EndOfIssuedBefore(i, call.stream));
    }
  }

  void WaitsEndAfterWhatTheyAwait() const {
    for (size_t i = 0; i < rows_.calls.size(); ++i) {
      const CallRow& call = rows_.calls[i];
      int64_t expected = kNever;
      if (call.action == Action::kWaitStream) expected = EndOfIssuedBefore(i, call.stream);
      if (call.action == Action::kWaitEvent) expected = event_ends_.at(call.event);
      if (call.action == Action::kLaunch && call.waits) {
        expected = EndOfIssuedBefore(i + 1, call.stream);
      }
      if (call.action == Action::kWaitDevice) {
        for (size_t stream = 0; stream < run_.program.streams.size(); ++stream) {
          expected = std::max(expected, EndOfIssuedBefore(i, static_cast<int32_t>(stream)));
        }
      }
      if (expected <= call.begin_ns) expected = kNever;  // it was done
      EXPECT_EQ(call.awaited_ns, expected) << "call " << i;
      EXPECT_GE(call.end_ns, std::max(call.begin_ns, expected));
    }
  }

  void FramesNest() const {
    std::map<int32_t, std::vector<const FrameRow*>> open;
    for (const FrameRow& frame : rows_.frames) {
      std::vector<const FrameRow*>& stack = open[frame.thread];
      while (!stack.empty() && stack.back()->end_ns <= frame.begin_ns &&
             stack.back()->end_ns < frame.end_ns) {
        stack.pop_back();
      }
      EXPECT_LE(frame.begin_ns, frame.end_ns);
      if (!stack.empty()) {
        EXPECT_LE(frame.end_ns, stack.back()->end_ns);
      }
      stack.push_back(&frame);
    }
  }

  // Of the first work of a launch.
  int64_t ExpectedStart(int32_t index) const {
    const WorkRow& row = rows_.works[static_cast<size_t>(index)];
    const Work& work = WorkOf(row);
    const CallRow& call = CallOf(row);
    const Constants& constants = run_.config.constants;
    const bool is_graph = works_of_.at(row.call).size() > 1;
    const int64_t lag = is_graph                         ? constants.graph_launch_ns
                        : work.kind != WorkKind::kKernel ? constants.copy_launch_ns
                                                         : constants.launch_ns;
    // A blocked call is issued when a place becomes free: when an earlier work starts.
    int64_t expected = (call.is_blocked ? FreedFor(index) : call.begin_ns) + lag;
    for (int32_t i = index; i-- > 0;) {
      if (WorkOf(rows_.works[static_cast<size_t>(i)]).stream != work.stream) continue;
      expected = std::max(expected, rows_.works[static_cast<size_t>(i)].end_ns + constants.gap_ns);
      break;
    }
    for (int32_t i = 0; i < row.call; ++i) {
      const CallRow& wait = rows_.calls[static_cast<size_t>(i)];
      if (wait.action != Action::kStreamWait || wait.stream != work.stream) continue;
      expected = std::max(expected, event_ends_.at(wait.event) + constants.event_ns);
    }
    return expected;
  }

  // When the launch `queue_depth` places before this one started.
  int64_t FreedFor(int32_t index) const {
    int32_t places = run_.config.constants.queue_depth;
    const int32_t stream = WorkOf(rows_.works[static_cast<size_t>(index)]).stream;
    for (int32_t i = index; i-- > 0;) {
      const WorkRow& row = rows_.works[static_cast<size_t>(i)];
      if (row.position > 0 || WorkOf(row).stream != stream) continue;
      if (--places == 0) return row.begin_ns;
    }
    return kNever;
  }

  const SimulatedRun& run_;
  const RankRun& rows_;
  std::map<int32_t, std::vector<int32_t>> works_of_;
  std::map<int32_t, int64_t> event_ends_;
};

TEST(SimulationInvariants, HoldInEveryRun) {
  for (uint64_t seed = 0; seed < 48; ++seed) {
    SimulationConfig config = Random(seed);
    config.jitter = seed % 2 == 0 ? 0.1 : 0.0;
    const SimulatedRun run = Simulate(config);
    ASSERT_EQ(run.error, "");
    SCOPED_TRACE(seed);
    for (size_t rank = 0; rank < run.ranks.size(); ++rank) Checker(run, rank).Check();
  }
}

TEST(SimulationInvariants, EveryStartHasItsReason) {
  for (uint64_t seed = 100; seed < 132; ++seed) {
    SCOPED_TRACE(seed);
    const SimulatedRun run = Simulate(Random(seed));
    for (size_t rank = 0; rank < run.ranks.size(); ++rank) {
      Checker checker(run, rank);
      checker.EveryStartHasItsReason();
      checker.EveryWaitHasItsReason();
    }
  }
}

TEST(SimulationInvariants, NobodyLeavesACollectiveBeforeAllHaveEntered) {
  SimulationConfig config;
  config.program = ProgramKind::kDdp;
  config.jitter = 0.1;
  config.exit_bias_ns = 5'000;
  config.tail_ns = 3'000;
  config.stragglers = {{2, StragglerCause::kHost, 20}};
  for (config.seed = 1; config.seed < 20; ++config.seed) {
    const SimulatedRun run = Simulate(config);
    ASSERT_FALSE(run.collectives.empty());
    for (const CollectiveRow& row : run.collectives) {
      int64_t all_in_ns = kNever;
      for (size_t m = 0; m < row.ranks.size(); ++m) {
        const RankRun& rank = run.ranks[static_cast<size_t>(row.ranks[m])];
        all_in_ns = std::max(all_in_ns, rank.works[static_cast<size_t>(row.works[m])].begin_ns);
      }
      EXPECT_EQ(row.all_in_ns, all_in_ns);
      if (run.program.collectives[static_cast<size_t>(row.collective)].has_root) continue;
      for (size_t m = 0; m < row.ranks.size(); ++m) {
        const RankRun& rank = run.ranks[static_cast<size_t>(row.ranks[m])];
        const int64_t tail_ns =
            rank.works[static_cast<size_t>(row.works[m])].end_ns - all_in_ns - row.transfer_ns;
        EXPECT_GE(tail_ns, 0);
        EXPECT_LE(tail_ns, config.exit_bias_ns + config.tail_ns);
      }
    }
  }
}

TEST(SimulationInvariants, EqualOptionsGiveEqualBytes) {
  SimulationConfig config = Random(7);
  config.jitter = 0.1;
  const SimulatedRun first = Simulate(config);
  const SimulatedRun second = Simulate(config);
  EXPECT_EQ(KinetoText(first, 0), KinetoText(second, 0));
  EXPECT_EQ(TruthJson(first), TruthJson(second));
  config.run = 1;
  EXPECT_NE(KinetoText(Simulate(config), 0), KinetoText(first, 0));
}

TEST(SimulationInvariants, AFactorOfOneChangesNoByte) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    SimulationConfig config = Random(seed);
    config.jitter = 0.1;
    const Plan plan = ParsePlan(R"({"changes": [{"scale": "kernel:a=1"}, {"scale": "op:aten=1"},
        {"scale": "class:gemm=1"}, {"scale": "comm=1"}, {"scale": "copy=1"},
        {"scale": "phase:backward=1"}, {"scale": "host:aten=1"}, {"launch": 1}]})")
                          .plan;
    ASSERT_EQ(plan.size(), 8u);
    const SimulatedRun run = Simulate(config);
    const SimulatedRun twin = Simulate(config, plan);
    for (int32_t rank = 0; rank < run.program.ranks; ++rank) {
      EXPECT_EQ(KinetoText(run, rank), KinetoText(twin, rank)) << seed;
    }
    EXPECT_EQ(TruthJson(run), TruthJson(twin)) << seed;
  }
}

// The random numbers of what is not changed stay the same, whatever is changed.
TEST(SimulationInvariants, AChangeLeavesTheTimesOfOtherWorkAlone) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    SimulationConfig config = Random(seed);
    config.jitter = 0.1;
    const SimulatedRun run = Simulate(config);
    const SimulatedRun twin =
        Simulate(config, ParsePlan(R"({"changes": [{"remove": "class:pointwise"}]})").plan);
    std::map<int32_t, int64_t> left;
    for (const WorkRow& row : twin.ranks[0].works) left[row.work] = row.end_ns - row.begin_ns;
    size_t removed = 0;
    for (const WorkRow& row : run.ranks[0].works) {
      const Work& work = run.program.works[static_cast<size_t>(row.work)];
      if (work.collective >= 0) continue;
      removed += left.contains(row.work) ? 0 : 1;
      EXPECT_EQ(left.contains(row.work), work.work_class != WorkClass::kPointwise);
      if (left.contains(row.work)) {
        EXPECT_EQ(left[row.work], row.end_ns - row.begin_ns);
      }
    }
    EXPECT_GT(removed, 0u);
  }
}

}  // namespace
}  // namespace borescope::simulation
