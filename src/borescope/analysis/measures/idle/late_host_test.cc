#include "borescope/analysis/measures/idle/late_host.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// "activity name[ from caller] (operator) ns" per line.
std::string Explained(const RankView& view, std::vector<LateTime> late) {
  const auto text = [&](StringId id) {
    return id.valid() ? std::string(view.trace.Text(id)) : std::string("-");
  };
  std::string lines;
  for (const LateHostSum& sum : ExplainLateHost(view, std::move(late))) {
    lines += std::string(HostActivityName(sum.activity)) + " " + text(sum.name) +
             (sum.caller.valid() ? " from " + text(sum.caller) : "") + " (" + text(sum.operation) +
             ") " + std::to_string(sum.ns) + "\n";
  }
  return lines;
}

HostId LastRow(const RankView& view) {
  return HostId{static_cast<uint32_t>(view.trace.host().size() - 1)};
}

TEST(LateHostTest, EachInstantHasItsFirstReason) {
  TestTrace trace;
  trace.Op("solve", {100, 500});
  trace.Runtime("cudaMalloc", {110, 40}).LibraryCall("ioctl", {120, 20});  // a call in a call
  trace.LibraryCall("poll", {200, 50}).Pause({180, 60});                   // asleep in a call
  trace.Sample(300, {"main", "axpy", "[libm.so]"}).Sample(320, {"main", "axpy"});
  trace.Runtime("cudaLaunchKernel", {1000, 5});
  const RankView& view = trace.View();
  EXPECT_EQ(SamplingPeriod(view.trace), 20);
  EXPECT_EQ(Explained(view, {{{0, 700}, LastRow(view)}}),
            "unknown - (-) 200\n"
            "event solve (solve) 330\n"
            "call cudaMalloc (solve) 40\n"
            "no processor - (solve) 20\n"
            "call poll (solve) 50\n"
            "sampled axpy (solve) 60\n");
}

// The function that made the outermost call, by its stack or that of a call inside it.
TEST(LateHostTest, CallsAreMadeByFunctions) {
  TestTrace trace;
  trace.Runtime("cudaMalloc", {0, 50}).LibraryCall("ioctl", {10, 20});
  trace.CalledFrom({"_start", "main", "grow(int)", "int cudaMalloc<char>(char**)", "cudaMalloc",
                    "[libcuda.so]", "__GI___ioctl"});
  trace.LibraryCall("read", {60, 20}).CalledFrom({"main", "std::getline(int)", "__read"});
  trace.LibraryCall("write", {100, 10}).CalledFrom({"[a.out]", "_IO_write"});
  trace.Runtime("cudaFree", {120, 30}).LibraryCall("munmap", {125, 5});
  trace.CalledFrom({"main", "drop", "munmap"});  // not in cudaFree
  trace.Runtime("cudaLaunchKernel", {1000, 5});
  const RankView& view = trace.View();
  EXPECT_EQ(Explained(view, {{{0, 150}, LastRow(view)}}),
            "call cudaMalloc from grow(int) (-) 50\n"
            "unknown - (-) 40\n"
            "call read from main (-) 20\n"
            "call write (-) 10\n"
            "call cudaFree (-) 30\n");
  const LateTime late{{0, 50}, LastRow(view)};
  EXPECT_EQ(MostlyWords(view, late), "in `cudaMalloc`, called from `grow(int)`");
  EXPECT_EQ(MostlyWords(view.trace, ExplainLateHost(view, {late})),
            "in `cudaMalloc`, called from `grow(int)`");
}

// The name of a step says nothing about what was done.
TEST(LateHostTest, AStepIsNoReason) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#6", {0, 2000}).LibraryCall("read", {100, 300});
  trace.Runtime("cudaLaunchKernel", {1000, 5});
  const RankView& view = trace.View();
  EXPECT_EQ(MostlyWords(view, {{0, 1000}, LastRow(view)}), "");
  EXPECT_EQ(MostlyWords(view, {{0, 500}, LastRow(view)}), "in `read`");
}

TEST(LateHostTest, OnlyTheThreadThatLaunchesCounts) {
  TestTrace trace;
  trace.LibraryCall("poll", {0, 100}, 2).Runtime("cudaLaunchKernel", {100, 5});
  const RankView& view = trace.View();
  EXPECT_EQ(Explained(view, {{{0, 50}, HostId{0}}, {{50, 80}, HostId()}, {{0, 50}, HostId{1}}}),
            "unknown - (-) 80\ncall poll (-) 50\n");
}

TEST(LateHostTest, WordsForWhatItMostlyDid) {
  TestTrace trace;
  trace.LibraryCall("read", {0, 100}).LibraryCall("read", {110, 100}).Pause({300, 100});
  trace.Runtime("cudaLaunchKernel", {1000, 5});
  const RankView& view = trace.View();
  const HostId launch = LastRow(view);
  EXPECT_EQ(MostlyWords(view, {{0, 250}, launch}), "in `read`");
  EXPECT_EQ(MostlyWords(view, {{290, 410}, launch}), "without a processor");
  EXPECT_EQ(MostlyWords(view, {{500, 600}, launch}), "");
  EXPECT_EQ(MostlyWords(view, {{0, 250}, HostId()}), "");
}

TEST(LateHostTest, TimesAtTheEndsOfTheClock) {
  constexpr int64_t kFar = int64_t{1} << 61;
  TestTrace trace;
  trace.Sample(-kFar, {"main"}).Sample(kFar, {"main"}).Pause({-kFar, 2});
  trace.Runtime("cudaLaunchKernel", {kFar, 5});
  const RankView& view = trace.View();
  EXPECT_EQ(Explained(view, {{{-kFar, kFar}, LastRow(view)}}),
            "no processor - (-) 2\nsampled main (-) " + std::to_string(kFar - 2 + kFar) + "\n");
}

std::string TextOf(const std::vector<LateHostSum>& sums) {
  std::string text;
  for (const LateHostSum& sum : sums) {
    text += std::string(HostActivityName(sum.activity)) + " " + std::to_string(sum.name.value) +
            " " + std::to_string(sum.caller.value) + " " + std::to_string(sum.operation.value) +
            " " + std::to_string(sum.ns) + "\n";
  }
  return text;
}

TestTrace RandomThreads(std::mt19937& random) {
  TestTrace trace;
  const auto upto = [&](int64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
  for (int i = 0; i < 40; ++i) {
    const std::string name(1, static_cast<char>('a' + random() % 3));
    const Interval time{upto(400), 0};
    switch (random() % 5) {
      case 0:
        trace.Op(name, {time.begin, upto(60)});
        break;
      case 1:
        trace.LibraryCall(name, {time.begin, upto(30)});
        break;
      case 2:
        trace.Annotation(name, {time.begin, upto(100)});
        break;
      case 3:
        trace.Sample(time.begin, {"main", name});
        break;
      default:
        trace.Runtime("cudaLaunchKernel", {time.begin, upto(5)});
    }
  }
  trace.Pause({100, 20}).Pause({200, 50});
  trace.Runtime("cudaLaunchKernel", {450, 5});
  return trace;
}

// More questions than are answered by walking the rows.
TEST(LateHostTest, WhatIsPreparedAnswersAsWalksDo) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    TestTrace trace = RandomThreads(random);
    const RankView& view = trace.View();
    LateHost prepared(view);
    for (int question = 0; question < 200; ++question) {
      std::vector<LateTime> late;
      int64_t now_ns = -20 + static_cast<int64_t>(random() % 100);
      for (size_t i = 0; i < 1 + random() % 3; ++i) {
        const int64_t begin_ns = now_ns + static_cast<int64_t>(random() % 50);
        now_ns = begin_ns + 1 + static_cast<int64_t>(random() % 300);
        late.push_back({{begin_ns, now_ns}, random() % 9 == 0 ? HostId() : LastRow(view)});
      }
      ASSERT_EQ(TextOf(prepared.Explain(late)), TextOf(ExplainLateHost(view, late)));
      ASSERT_EQ(prepared.MostlyWords(late.front()), MostlyWords(view, late.front()));
    }
  }
}

}  // namespace
}  // namespace borescope::internal
