#include "borescope/base/stop.h"

#include <gtest/gtest.h>

#include <atomic>

#include "borescope/base/parallel.h"

namespace borescope::internal {
namespace {

TEST(StopTest, WithoutAScopeNothingStops) {
  EXPECT_FALSE(IsStopRequested());
  EXPECT_NO_THROW(CheckStop());
}

TEST(StopTest, WorkThatIsStoppedIsCancelled) {
  std::stop_source stop;
  bool is_left = true;
  const Result<int> result = Stoppable(stop.get_token(), [&]() -> Result<int> {
    CheckStop();
    stop.request_stop();
    CheckStop();
    is_left = false;
    return 1;
  });
  EXPECT_TRUE(is_left);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(IsStopRequested()) << "the scope has ended";
}

TEST(StopTest, WorkThatIsDoneCounts) {
  std::stop_source stop;
  const auto finish = [&]() -> Result<int> {
    stop.request_stop();
    return 1;
  };
  EXPECT_EQ(Stoppable(stop.get_token(), finish).value(), 1);
  EXPECT_EQ(Stoppable(stop.get_token(), finish).error().code, ErrorCode::kCancelled);
}

TEST(StopTest, LooksOnceInManyIterations) {
  std::stop_source stop;
  stop.request_stop();
  const StopScope scope(stop.get_token());
  EXPECT_NO_THROW(CheckStopAt(1));
  EXPECT_NO_THROW(CheckStopAt(1023));
  EXPECT_THROW(CheckStopAt(0), StopRequested);
  EXPECT_THROW(CheckStopAt(1024), StopRequested);
}

TEST(StopTest, AnInnerStopEndsTheInnerWorkOnly) {
  std::stop_source inner;
  const Result<int> result = Stoppable({}, [&]() -> Result<int> {
    const Result<int> part = Stoppable(inner.get_token(), [&]() -> Result<int> {
      inner.request_stop();
      CheckStop();
      return 1;
    });
    EXPECT_EQ(part.error().code, ErrorCode::kCancelled);
    return 2;
  });
  EXPECT_EQ(result.value(), 2);
}

TEST(StopTest, AnOuterStopEndsAll) {
  std::stop_source outer;
  bool is_left = true;
  const Result<int> result = Stoppable(outer.get_token(), [&]() -> Result<int> {
    const Result<int> part = Stoppable({}, [&]() -> Result<int> {
      outer.request_stop();
      CheckStop();
      return 1;
    });
    is_left = false;
    return part;
  });
  EXPECT_TRUE(is_left);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
}

TEST(StopThreads, ThreadsAskTheTokenOfWhoStartedThem) {
  std::stop_source stop;
  std::atomic<int> left = 0;
  const auto work = [&](size_t i) {
    try {
      for (;;) {
        CheckStop();
        i == 0 ? stop.request_stop() : false;
      }
    } catch (...) {
      ++left;
      throw;
    }
  };
  const Result<void> result = Stoppable(stop.get_token(), [&]() -> Result<void> {
    ParallelFor(2, 2, work);
    return {};
  });
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_GE(left, 1);
}

TEST(StopThreads, ThreadsOfOthersGoOn) {
  std::stop_source stop;
  stop.request_stop();
  const StopScope scope(stop.get_token());
  std::jthread([] { EXPECT_FALSE(IsStopRequested()); }).join();
  EXPECT_TRUE(IsStopRequested());
}

}  // namespace
}  // namespace borescope::internal
