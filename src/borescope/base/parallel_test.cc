#include "borescope/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "borescope/base/sanitized_testing.h"

namespace borescope::internal {
namespace {

using testkit::kSanitized;

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

// From now on this process has no room for the stack of a thread.
void LeaveNoRoomForStacks() {
  constexpr rlim_t kRoom = 1 << 20;  // a stack takes 2 MiB or more
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kRoom;
  const rlimit both{limit, limit};
  setrlimit(RLIMIT_AS, &both);
}

// Ends the process with 0 if everything was done without another thread.
[[noreturn]] void RunWithoutThreads() {
  constexpr int kNotDone = 1;
  constexpr int kStarted = 2;
  std::vector<int> runs(1000, 0);
  LeaveNoRoomForStacks();
  if (!StartThreads(4, [] {}).empty()) {
    _exit(kStarted);
  }
  ParallelFor(runs.size(), 8, [&](size_t i) { ++runs[i]; });
  _exit(runs == std::vector<int>(1000, 1) ? 0 : kNotDone);
}

TEST(ParallelTest, DoesItAllWhereNoOtherThreadStarts) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers take address space of their own";
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fork would inherit stacks that are kept
  EXPECT_EXIT(RunWithoutThreads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace borescope::internal
