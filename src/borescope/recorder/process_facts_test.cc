#include "borescope/recorder/process_facts.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <iterator>
#include <optional>

#include "borescope/recorder/run_folder.h"
#include "borescope/recording/log_format.h"
#include "borescope/testing/no_descriptors.h"

namespace borescope::internal {
namespace {

TEST(ProcessFactsTest, AProcessRunsUntilItEnds) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    pause();
    _exit(0);
  }
  const uint64_t start = StartTimeOf(child).value_or(0);
  EXPECT_NE(start, 0U);
  EXPECT_TRUE(StillRuns(child, start));
  EXPECT_FALSE(StillRuns(child, start + 1)) << "an older process of the number";
  kill(child, SIGKILL);
  siginfo_t end{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(StillRuns(child, start)) << "ended, but its entry is still there";
  EXPECT_FALSE(StillRuns(child, 0));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(StillRuns(child, 0));
}

// A program that left /proc behind (chroot) could not read when it began.
TEST(ProcessFactsTest, OfAnUnknownBeginningAnyProcessOfTheNumberCounts) {
  EXPECT_TRUE(StillRuns(getpid(), 0));
  recording::LogHeader header{};
  const std::array<uint8_t, 16> boot = BootId();
  std::copy(boot.begin(), boot.end(), std::begin(header.boot_id));
  header.pid = static_cast<uint32_t>(getpid());
  header.start_time = 0;
  EXPECT_TRUE(IsWriterAlive(header));
  header.start_time = 1;
  EXPECT_FALSE(IsWriterAlive(header));
  // Nor could it read which start of the machine it is.
  header.start_time = 0;
  std::fill(std::begin(header.boot_id), std::end(header.boot_id), uint8_t{0});
  header.host_hash = HostHash({});
  EXPECT_TRUE(IsWriterAlive(header));
  header.host_hash += 1;
  EXPECT_FALSE(IsWriterAlive(header)) << "of another machine";
}

TEST(ProcessFactsTest, AProcessThatCannotBeLookedAtCountsAsTheOne) {
  const NoDescriptors none;
  EXPECT_EQ(StartTimeOf(getpid()), std::nullopt);
  EXPECT_TRUE(StillRuns(getpid(), 1));
  EXPECT_FALSE(StillRuns(0, 0));
  EXPECT_FALSE(StillRuns(-1, 0));
  EXPECT_FALSE(StillRuns(int64_t{1} << 40, 0));
}

}  // namespace
}  // namespace borescope::internal
