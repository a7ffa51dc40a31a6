#include "borescope/base/parallel.h"

#include <gtest/gtest.h>

namespace borescope {
namespace {

TEST(ParallelThreadsTest, EveryIndexRunsOnceWhateverTheThreads) {
  for (const int threads : {-1, 0, 1, 2, 5, 64}) {
    std::vector<int> runs(1000, 0);
    ParallelFor(runs.size(), threads, [&](size_t i) { ++runs[i]; });
    EXPECT_EQ(runs, std::vector<int>(1000, 1)) << threads << " threads";
  }
}

TEST(ParallelThreadsTest, ReturnsOnlyWhenAllIsDone) {
  std::atomic<int> done{0};
  ParallelFor(64, 8, [&](size_t) {
    std::this_thread::yield();
    ++done;
  });
  EXPECT_EQ(done, 64);
}

TEST(ParallelTest, OneThreadRunsInOrderOnTheCaller) {
  std::vector<size_t> order;
  ParallelFor(4, 1, [&](size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3}));
}

TEST(ParallelTest, NothingToDoCallsNothing) {
  ParallelFor(0, 4, [](size_t) { FAIL() << "called without an index"; });
}

}  // namespace
}  // namespace borescope
