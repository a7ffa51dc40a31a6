#include "borescope/cli/interrupts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

namespace borescope::cli {
namespace {

void Nothing() {}

TEST(InterruptsThreads, WhileServingASignalOnlyAsksToStop) {
  Interrupts interrupts(Nothing);
  interrupts.BeginServing();
  EXPECT_FALSE(interrupts.stop());
  kill(getpid(), SIGTERM);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!interrupts.stop() && std::chrono::steady_clock::now() < end) {
    usleep(1000);
  }
  EXPECT_TRUE(interrupts.stop());
}

// Else the signal ends the process, as its parent can see, after the cleanup.
TEST(InterruptsDeathTest, BeforeThatItEndsTheProcess) {
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
    Interrupts interrupts(Nothing);
    interrupts.BeginServing();
    kill(getpid(), SIGHUP);
    usleep(200'000);
    EXPECT_FALSE(interrupts.stop());
  }
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace borescope::cli
