#include "borescope/recorder/schedule.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "borescope/recorder/run_folder.h"

namespace borescope::internal {
namespace {

using std::chrono::milliseconds;

class ScheduleTest : public testing::Test {
 protected:
  ScheduleTest() : folder_(testing::TempDir() + "/when" + std::to_string(getpid()) + ".bsr") {
    std::filesystem::remove_all(folder_);
    EXPECT_TRUE(MakeRunFolder(folder_, false).ok());
    EXPECT_TRUE(ControlPage::Make(folder_, false).ok());
  }
  ~ScheduleTest() override { std::filesystem::remove_all(folder_); }

  ControlPage Page() { return std::move(ControlPage::Open(folder_)).value(); }
  std::unique_ptr<Schedule> Make(const ScheduleTimes& times) {
    return std::move(Schedule::Make(Page(), times)).value();
  }
  // Whether that is so within a minute: machines may be busy.
  bool Becomes(bool is_recording) {
    const ControlPage page = Page();
    for (int tries = 0; tries < 60'000 && page.is_recording() != is_recording; ++tries) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    return page.is_recording() == is_recording;
  }

  std::string folder_;
};

TEST_F(ScheduleTest, NothingNeedsNoThread) { EXPECT_EQ(Make({}), nullptr); }

TEST_F(ScheduleTest, StartsAfterATimeAndStopsAfterAnother) {
  const auto schedule =
      Make({.start_after = milliseconds(5), .record_for = milliseconds(20), .repeats = false});
  EXPECT_TRUE(Becomes(true));
  EXPECT_TRUE(Becomes(false));
}

TEST_F(ScheduleTest, EndsHoweverOftenItWasStarted) {
  const auto schedule = Make({.start_after = {}, .record_for = milliseconds(20), .repeats = false});
  ControlPage page = Page();
  page.Start();
  page.Start();
  EXPECT_TRUE(Becomes(false));
  EXPECT_EQ(page.starts(), 0U);
  // Once: who starts again by hand is not stopped.
  page.Start();
  std::this_thread::sleep_for(milliseconds(60));
  EXPECT_TRUE(page.is_recording());
}

TEST_F(ScheduleTest, RepeatsAndEndsAtOnce) {
  auto schedule = Make({.start_after = {}, .record_for = milliseconds(10), .repeats = true});
  ControlPage page = Page();
  for (int round = 0; round < 3; ++round) {
    page.Start();
    EXPECT_TRUE(Becomes(false)) << round;
  }
  schedule.reset();
  schedule = Make({.start_after = std::chrono::hours(1), .record_for = {}, .repeats = false});
}

// A start wakes who waits for one: of a hundred windows, each begins when it was started rather
// than when somebody looks, every 50 ms.
TEST_F(ScheduleTest, AStartIsSeenAtOnce) {
  const auto schedule = Make({.start_after = {}, .record_for = milliseconds(1), .repeats = true});
  ControlPage page = Page();
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    page.Start();
    while (page.is_recording()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kRounds * milliseconds(20));
}

TEST_F(ScheduleTest, EndsWhileItWaitsForAStart) {
  for (int round = 0; round < 50; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    Make({.start_after = {}, .record_for = milliseconds(1), .repeats = false}).reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  }
  EXPECT_FALSE(Page().is_recording());
}

}  // namespace
}  // namespace borescope::internal
