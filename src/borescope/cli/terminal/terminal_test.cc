#include "borescope/cli/terminal/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

namespace borescope::cli {

namespace {

TEST(InterruptsThreads, ASignalOnlyAsksToStop) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU}) {
    const Interrupts interrupts;
    EXPECT_FALSE(interrupts.stop());
    kill(getpid(), signal);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!interrupts.stop() && std::chrono::steady_clock::now() < end) {
      usleep(1000);
    }
    EXPECT_TRUE(interrupts.stop()) << signal;
  }
}

// As the parent of the process can see.
TEST(InterruptsDeathTest, ASignalEndsTheProcessAfterTheCleanup) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto interrupt = [] {
    const Interrupts interrupts([] { static_cast<void>(write(STDERR_FILENO, "cleaned\n", 8)); });
    kill(getpid(), SIGINT);
    sleep(20);
  };
  EXPECT_EXIT(interrupt(), testing::KilledBySignal(SIGINT), "cleaned");
}

TEST(InterruptsThreads, WhatWasIgnoredStaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const Interrupts interrupts;
    kill(getpid(), SIGHUP);
    usleep(200'000);
    EXPECT_FALSE(interrupts.stop());
  }
  std::signal(SIGHUP, before);
}

}  // namespace

}  // namespace borescope::cli
