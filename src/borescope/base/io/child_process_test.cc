#include "borescope/base/io/child_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace borescope::internal {
namespace {

using std::chrono::milliseconds;

TEST(ChildProcess, GivesBothStreamsAndTheStatus) {
  const Result<ChildOutput> output =
      RunChild({"sh", "-c", "echo one; echo two >&2; cat; exit 3"}, {});
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "one\n");
  EXPECT_EQ(output->err, "two\n");
  EXPECT_EQ(output->status, 3);
}

TEST(ChildProcess, WordsArePassedAsTheyAre) {
  const Result<ChildOutput> output = RunChild({"echo", "$HOME; `a` 'b'"}, {});
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "$HOME; `a` 'b'\n");
}

TEST(ChildProcess, OurEnvironmentIsItsOwn) {
  setenv("BORESCOPE_CHILD_TEST", "seen", 1);  // NOLINT(concurrency-mt-unsafe)
  const Result<ChildOutput> output = RunChild({"sh", "-c", "echo $BORESCOPE_CHILD_TEST"}, {});
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "seen\n");
}

TEST(ChildProcess, AMissingProgramIsAnError) {
  const Result<ChildOutput> output = RunChild({"no-such-program-here"}, {});
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().Sentence(), "no-such-program-here: No such file or directory");
}

// Also its own children, which keep the pipe open.
TEST(ChildProcess, TimeIsLimited) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<ChildOutput> output =
      RunChild({"sh", "-c", "sleep 30 & sleep 30"}, {.time = milliseconds(100)});
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().Sentence(), "sh: ran too long");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(ChildProcess, AClosedOutputDoesNotHideThatItGoesOn) {
  const Result<ChildOutput> output =
      RunChild({"sh", "-c", "exec >&- 2>&-; sleep 30"}, {.time = milliseconds(100)});
  EXPECT_FALSE(output.ok());
}

TEST(ChildProcess, OutputIsLimited) {
  const Result<ChildOutput> output =
      RunChild({"sh", "-c", "while :; do echo aaaaaaaaaaaaaaaa; done"}, {.output_bytes = 1000});
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().Sentence(), "sh: wrote too much");
}

TEST(ChildProcess, ASignalIsAStatus) {
  const Result<ChildOutput> output = RunChild({"sh", "-c", "kill -9 $$"}, {});
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->status, 137);
}

TEST(ChildProcess, OneThatIsLeftToItself) {
  const std::string path = testing::TempDir() + "child_process_test_left";
  std::filesystem::remove(path);
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::optional<int>> started =
      StartChild({"sh", "-c", "echo unheard; sleep 0.1; cat; echo $1 > $2.new; mv $2.new $2", "sh",
                  "here", path},
                 {});
  ASSERT_TRUE(started.ok());
  EXPECT_EQ(*started, std::nullopt);
  while (!std::filesystem::exists(path) &&
         std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    usleep(1000);
  }
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "here");
  std::filesystem::remove(path);
}

TEST(ChildProcess, OneThatEndsWhileItIsWatched) {
  const Result<std::optional<int>> ended =
      StartChild({"sh", "-c", "exit 3"}, std::chrono::seconds(20));
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(*ended, 3);
}

TEST(ChildProcess, OneThatCannotBeStarted) {
  const Result<std::optional<int>> started = StartChild({"no-such-program-here"}, {});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().Sentence(), "no-such-program-here: No such file or directory");
}

// Signals that we block must not be blocked in the child.
TEST(ChildProcess, SignalsReachIt) {
  sigset_t ours;
  sigset_t before;
  sigemptyset(&ours);
  sigaddset(&ours, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  const Result<ChildOutput> output = RunChild({"sh", "-c", "kill -TERM $$; echo still"}, {});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "");
  EXPECT_EQ(output->status, 128 + SIGTERM);
}

// A process that ignores SIGCHLD never learns how its children end.
TEST(ChildProcess, WhatTheSystemDoesNotSayIsAnError) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const Result<ChildOutput> output = RunChild({"sh", "-c", "exit 0"}, {});
  const Result<std::optional<int>> watched =
      StartChild({"sh", "-c", "exit 0"}, std::chrono::seconds(20));
  std::signal(SIGCHLD, before);
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().Sentence(), "sh: how it ended cannot be found out: No child processes");
  EXPECT_FALSE(watched.ok());
}

}  // namespace
}  // namespace borescope::internal
