// Rules that start and stop recording, and the patterns they come with, compiled into a test so
// that sanitizers see them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "borescope/recording/control.h"
#include "core/endings.h"
#include "core/options.h"
#include "core/ranges.h"
#include "core/state.h"
#include "core/text.h"

namespace borescope::inject {
namespace {

namespace fs = std::filesystem;

std::string Decoded(const std::string& text, size_t capacity = 100) {
  std::vector<char> decoded(capacity);
  const size_t count = DecodePercent(text.data(), text.size(), decoded.data(), capacity);
  EXPECT_EQ(decoded[count], '\0');
  return {decoded.data(), count};
}

TEST(Percent, StandsForAByte) {
  EXPECT_EQ(Decoded("a%3bb%3B%25%"), "a;b;%%");
  EXPECT_EQ(Decoded("%3"), "%3");
  EXPECT_EQ(Decoded("%3x%x3"), "%3x%x3");
  EXPECT_EQ(Decoded("abcdef", 4), "abc");
  EXPECT_EQ(Decoded("", 1), "");
}

// Tries every way, as the pattern is described.
bool MatchesSlowly(const std::string& pattern, const std::string& name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    for (size_t taken = 0; taken <= name.size(); ++taken) {
      if (MatchesSlowly(pattern.substr(1), name.substr(taken))) return true;
    }
    return false;
  }
  if (name.empty()) return false;
  const size_t end =
      pattern[0] == '[' ? pattern.find(']', pattern.starts_with("[!") ? 3 : 2) : std::string::npos;
  if (end == std::string::npos) {
    const bool fits = pattern[0] == '?' || pattern[0] == name[0];
    return fits && MatchesSlowly(pattern.substr(1), name.substr(1));
  }
  const bool is_negated = pattern[1] == '!';
  const std::string set = pattern.substr(is_negated ? 2 : 1, end - (is_negated ? 2 : 1));
  const bool is_in = set.find(name[0]) != std::string::npos;
  return is_in != is_negated && MatchesSlowly(pattern.substr(end + 1), name.substr(1));
}

TEST(Pattern, AgreesWithTryingEveryWay) {
  std::mt19937 random(7);
  const std::string letters = "ab*?[]!";
  for (int round = 0; round < 200'000; ++round) {
    std::string pattern;
    std::string name;
    for (size_t i = random() % 7; i > 0; --i) pattern += letters[random() % letters.size()];
    for (size_t i = random() % 6; i > 0; --i) name += letters[random() % 2];
    ASSERT_EQ(MatchesPattern(pattern.c_str(), name.c_str()), MatchesSlowly(pattern, name))
        << pattern << " " << name;
  }
  EXPECT_TRUE(MatchesPattern("[a-c]x", "bx"));
  EXPECT_FALSE(MatchesPattern("[!a-c]x", "bx"));
}

// A pattern of many stars does not take longer and longer.
TEST(Pattern, IsQuick) {
  std::string pattern;
  for (int i = 0; i < 120; ++i) pattern += "*a";
  EXPECT_FALSE(MatchesPattern((pattern + "b").c_str(), std::string(100'000, 'a').c_str()));
}

TEST(RuleOptions, AreRead) {
  const RuleOptions rules =
      ParseOptions("start-range=a%3bb*;stop-step=12;repeat=0;children-match=py%2a").rules;
  EXPECT_EQ(rules.start, RuleKind::kRange);
  EXPECT_TRUE(rules.start_name.Matches("a;bc", 4));
  EXPECT_FALSE(rules.start_name.Matches("a;", 2));
  EXPECT_EQ(rules.stop, RuleKind::kStep);
  EXPECT_EQ(rules.stop_step, 12U);
  EXPECT_EQ(rules.most_starts, 0U);
  const Options others = ParseOptions("start-calls;stop-own-range;children-match=py*");
  EXPECT_EQ(others.rules.start, RuleKind::kCall);
  EXPECT_EQ(others.rules.stop, RuleKind::kOwnRange);
  EXPECT_EQ(others.children, Children::kMatching);
  EXPECT_STREQ(others.children_pattern.text, "py*");
  const RuleOptions none = ParseOptions("start-range=;start-step=x;repeat=99999999").rules;
  EXPECT_EQ(none.start, RuleKind::kNone);
  EXPECT_EQ(none.most_starts, 1U);
}

TEST(Endings, AreTakenOnce) {
  constexpr uint64_t kMany = 300;
  uint64_t awaited = 0;
  for (uint64_t id = 1; id <= kMany; ++id) awaited += AwaitEnd(id) ? 1 : 0;
  EXPECT_EQ(awaited, 256U);
  uint64_t taken = 0;
  for (uint64_t id = 1; id <= kMany; ++id) taken += TakeEnd(id) ? 1 : 0;
  EXPECT_EQ(taken, awaited);
  EXPECT_FALSE(TakeEnd(1));
}

// Records with rules into a folder of its own, without a launcher.
class PausedRun {
 public:
  explicit PausedRun(const char* options)
      : folder_(fs::temp_directory_path() / ("borescope-rules-" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
    BeginRecording(folder_.c_str(), options);
    g_control->is_recording = 0;
    g_control->starts = 0;
    g_control->rule_starts = 0;
    g_control->are_rules_done = 0;
  }
  PausedRun(const PausedRun&) = delete;
  PausedRun& operator=(const PausedRun&) = delete;
  ~PausedRun() { fs::remove_all(folder_); }

 private:
  fs::path folder_;
};

uint32_t Starts() { return recording::CountOf(recording::LoadStarts(*g_control)); }

void MarkNow(const char* text) { Mark(recording::kDefaultDomain, PlainMessage(text)); }

// More ranges than whose ends can be awaited: recording stops all the same.
TEST(RuleRanges, StopWhateverEndsAreNotAwaited) {
  constexpr int kRanges = 300;
  const PausedRun run("start-range=go;stop-own-range;repeat=0");
  std::vector<uint64_t> ids;
  for (int i = 0; i < kRanges; ++i) {
    ids.push_back(StartRange(recording::kDefaultDomain, PlainMessage("go")));
  }
  EXPECT_EQ(Starts(), 1U);
  for (size_t i = 1; i < ids.size(); ++i) EndRange(recording::kDefaultDomain, ids[i]);
  EXPECT_TRUE(IsRecording());
  EndRange(recording::kDefaultDomain, ids[0]);
  EXPECT_EQ(Starts(), 0U);
  EXPECT_FALSE(IsRecording());
}

// Of a domain that is not counted, whose ends are not known.
TEST(RuleRanges, DoNotStartWhatNothingStops) {
  const PausedRun run("start-range=go;stop-own-range");
  Push(kCountedDomains, true, PlainMessage("go"));
  EXPECT_FALSE(IsRecording());
  Push(recording::kDefaultDomain, true, PlainMessage("go"));
  EXPECT_TRUE(IsRecording());
  Pop(kCountedDomains);
  EXPECT_TRUE(IsRecording());
  Pop(recording::kDefaultDomain);
  EXPECT_FALSE(IsRecording());
}

// A stop that meets a start on another thread, at any moment of it, is not lost.
TEST(RuleThreads, LoseNoStop) {
  constexpr int kRounds = 1'000'000;
  const PausedRun run("start-range=go;stop-range=end;repeat=0");
  std::barrier ready(2);
  std::vector<std::thread> threads;
  for (const char* name : {"go", "end"}) {
    threads.emplace_back([name, &ready] {
      ready.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) MarkNow(name);
    });
  }
  for (std::thread& thread : threads) thread.join();
  MarkNow("end");
  EXPECT_GT(g_control->rule_starts, 0U);
  EXPECT_EQ(Starts(), 0U);
  EXPECT_FALSE(IsRecording());
}

// Whatever the launcher ends while a rule starts: after that, it can start again.
TEST(RuleThreads, StartAgainAfterTheLauncherEndedAll) {
  constexpr int kRounds = 60;
  const PausedRun run("start-range=go;repeat=0");
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<bool> has_ended = false;
    std::thread launcher([&has_ended] {
      for (int i = 0; i < 200; ++i) {
        recording::EndStarts(*g_control);
        recording::ApplyStarts(*g_control, 1);
      }
      has_ended.store(true);
    });
    while (!has_ended.load()) MarkNow("go");
    launcher.join();
    MarkNow("go");
    ASSERT_EQ(Starts(), 1U) << round;
    ASSERT_TRUE(IsRecording()) << round;
  }
}

// What the launcher ended for good does not start again, whatever was about to.
TEST(RuleThreads, StartNothingAfterTheLastEnd) {
  constexpr int kRounds = 600;
  const PausedRun run("start-range=go;repeat=0");
  for (int round = 0; round < kRounds; ++round) {
    g_control->are_rules_done = 0;
    std::barrier ready(2);
    std::thread launcher([&ready] {
      ready.arrive_and_wait();
      __atomic_store_n(&g_control->are_rules_done, 1, __ATOMIC_SEQ_CST);
      recording::EndStarts(*g_control);
      recording::ApplyStarts(*g_control, 1);
    });
    ready.arrive_and_wait();
    for (int i = 0; i < 50; ++i) MarkNow("go");
    launcher.join();
    ASSERT_EQ(Starts(), 0U) << round;
  }
}

// Whoever begins and ends ranges at the same time: in the end as many stops as starts were counted.
TEST(RuleThreads, StartAndStopTogether) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 2000;
  const PausedRun run("start-range=go;stop-own-range;repeat=0");
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      for (int round = 0; round < kRounds; ++round) {
        Push(recording::kDefaultDomain, true, PlainMessage(round % 3 == 0 ? "other" : "go"));
        const uint64_t id = StartRange(recording::kDefaultDomain, PlainMessage("go"));
        if (i % 2 == 0) EndRange(recording::kDefaultDomain, id);
        Pop(recording::kDefaultDomain);
        if (i % 2 != 0) EndRange(recording::kDefaultDomain, id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Starts(), 0U);
  EXPECT_FALSE(IsRecording());
  EXPECT_GT(g_control->rule_starts, 0U);
  EXPECT_LE(g_control->rule_starts, 2U * kThreads * kRounds);
}

}  // namespace
}  // namespace borescope::inject
