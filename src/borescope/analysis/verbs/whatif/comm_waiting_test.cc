// How much of its time in collectives a rank waits, where other ranks are there and where not.
#include "borescope/analysis/verbs/whatif/comm_waiting.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kUs = 1000;

// Calls of one size, each as long as listed.
void AddCalls(TestTrace& trace, const std::string& name, const std::string& kernel,
              const std::vector<int64_t>& lengths_us) {
  for (size_t i = 0; i < lengths_us.size(); ++i) {
    CollectiveArgs args{name, 1000, 1000};
    args.sequence = static_cast<int64_t>(i);
    const auto end_us = static_cast<int64_t>(i + 1) * 1000;
    trace.Kernel(kernel, {(end_us - lengths_us[i]) * kUs, lengths_us[i] * kUs}, {}, args);
  }
}

std::map<int64_t, CommWaiting> AskWaiting(const std::vector<TestTrace*>& traces) {
  std::vector<Tables> mapped;
  mapped.reserve(traces.size());
  for (size_t rank = 0; rank < traces.size(); ++rank) {
    mapped.push_back(
        FindRankCalls(traces[rank]->View(static_cast<int64_t>(rank)), {}).value().tables);
  }
  return CommWaitingOf(ConcatTables(mapped, {}).value());
}

TEST(CommWaiting, IsWhatACallTakesLongerThanOnTheLastRank) {
  TestTrace early;
  TestTrace late;
  AddCalls(early, "allreduce", "ncclDevKernel_AllReduce(x)", {100, 100, 100});
  AddCalls(late, "allreduce", "ncclDevKernel_AllReduce(x)", {20, 20, 20});
  const auto waiting = AskWaiting({&early, &late});
  EXPECT_EQ(waiting.at(0).all_ns, 300 * kUs);
  EXPECT_EQ(waiting.at(0).waiting_ns, 240 * kUs);
  EXPECT_TRUE(waiting.at(0).Matters());
  EXPECT_EQ(waiting.at(1).waiting_ns, 0);
  EXPECT_FALSE(waiting.at(1).Matters());
}

// Without the others the fastest call shows what a transfer takes at most.
TEST(CommWaiting, OfOneRankIsWhatIsLongerThanItsFastestCall) {
  TestTrace trace;
  AddCalls(trace, "allreduce", "ncclDevKernel_AllReduce(x)", {100, 20, 60});
  const CommWaiting waiting = AskWaiting({&trace}).at(0);
  EXPECT_EQ(waiting.all_ns, 180 * kUs);
  EXPECT_EQ(waiting.waiting_ns, 120 * kUs);
  EXPECT_FALSE(waiting.has_others);
}

TEST(CommWaiting, OfReceivesNothingIsKnown) {
  TestTrace trace;
  AddCalls(trace, "recv", "ncclDevKernel_SendRecv(x)", {100, 20});
  const CommWaiting waiting = AskWaiting({&trace}).at(0);
  EXPECT_EQ(waiting.all_ns, 0);
  EXPECT_TRUE(waiting.has_others);
  EXPECT_TRUE(waiting.Matters());
}

}  // namespace
}  // namespace borescope::internal
