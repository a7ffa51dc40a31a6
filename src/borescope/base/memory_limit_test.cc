#include "borescope/base/memory_limit.h"

#include <gtest/gtest.h>

#include <vector>

#include "borescope/base/parallel.h"

namespace borescope::internal {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(MemoryLimitTest, CountsWhatIsTakenSinceItWasMade) {
  const MemoryLimit limit(100 * kMiB);
  EXPECT_LT(limit.taken(), 8 * kMiB);
  const std::vector<char> some(64 * kMiB);
  EXPECT_GE(limit.taken(), 64 * kMiB);
  EXPECT_LT(limit.taken(), 80 * kMiB);
  EXPECT_FALSE(limit.IsExceeded());
}

TEST(MemoryLimitTest, WorkBeyondItIsLeftAndStaysExceeded) {
  MemoryLimit limit(10 * kMiB);
  bool is_left = true;
  const std::optional<int> result = WithinMemory(limit, [&] {
    const std::vector<char> much(64 * kMiB);
    CheckStop();
    is_left = false;
    return 1;
  });
  EXPECT_EQ(result, std::nullopt);
  EXPECT_TRUE(is_left);
  EXPECT_TRUE(limit.IsExceeded()) << "although it was given back";
  limit.Forget();
  EXPECT_EQ(WithinMemory(limit, [] { return 2; }), 2);
}

TEST(MemoryLimitTest, WithoutALimitNothingEnds) {
  const MemoryLimit none(0);
  const std::vector<char> much(64 * kMiB);
  EXPECT_FALSE(none.IsExceeded());
  EXPECT_THROW(WithinMemory(none, []() -> int { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(MemoryLimitTest, AStopFromOutsideGoesOn) {
  const MemoryLimit limit(100 * kMiB);
  std::stop_source stop;
  const Result<int> result = Stoppable(stop.get_token(), [&]() -> Result<int> {
    return *WithinMemory(limit, [&] {
      stop.request_stop();
      CheckStop();
      return 1;
    });
  });
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
}

TEST(MemoryLimitThreads, ThreadsAskTheLimitOfWhoStartedThem) {
  const MemoryLimit limit(10 * kMiB);
  const std::vector<char> much(64 * kMiB);
  const std::optional<int> result = WithinMemory(limit, [] {
    ParallelFor(4, 4, [](size_t) { CheckStop(); });
    return 1;
  });
  EXPECT_EQ(result, std::nullopt);
}

}  // namespace
}  // namespace borescope::internal
