#include "borescope/analysis/measures/idle/stream_gaps.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kLong = kOrdinaryLaunchNs / kUs;

std::string CauseName(IdleCause cause) {
  constexpr std::string_view kNames[] = {"head",    "before", "inherited",  "tail",
                                         "sync",    "data",   "host",       "launch call",
                                         "latency", "device", "unrecorded", "unknown"};
  static_assert(std::size(kNames) == static_cast<size_t>(IdleCause::kCount));
  return std::string(kNames[static_cast<size_t>(cause)]);
}

// "host 10-30, latency 30-40", in microseconds.
std::string Text(const std::vector<IdlePart>& parts) {
  std::string text;
  for (const IdlePart& part : parts) {
    text += (text.empty() ? "" : ", ") + CauseName(part.cause) + " " +
            std::to_string(part.time.begin / kUs) + "-" + std::to_string(part.time.end / kUs);
  }
  return text;
}

Interval Us(int64_t begin, int64_t end) { return {begin * kUs, end * kUs}; }

LaunchTime Launch(int64_t begin, int64_t end) { return {begin * kUs, end * kUs}; }

std::string Gap(Interval gap, LaunchTime launch, const HostTime& host = {}) {
  std::vector<IdlePart> parts;
  DivideGap(gap, launch, host, parts);
  return Text(parts);
}

std::string Head(Interval head, LaunchTime launch, const HostTime& host = {},
                 int64_t first_work_us = 0, bool has_inherited = true) {
  std::vector<IdlePart> parts;
  DivideHead(head, launch, {has_inherited, first_work_us == 0 ? head.end : first_work_us * kUs},
             host, parts);
  return Text(parts);
}

TEST(IdleDivision, TheHostIsLateUpToTheLaunch) {
  EXPECT_EQ(Gap(Us(10, 40), Launch(30, 35)), "host 10-30, latency 30-40");
  EXPECT_EQ(Gap(Us(10, 40), Launch(10, 15)), "latency 10-40");
  EXPECT_EQ(Gap(Us(10, 40), Launch(40, 45)), "host 10-40");
  EXPECT_EQ(Gap(Us(10, 40), Launch(60, 65)), "host 10-40");  // clocks differ
  EXPECT_EQ(Gap(Us(10, 40), {}), "unknown 10-40");
}

TEST(IdleDivision, WorkLaunchedLongAgoWaitsForTheDevice) {
  EXPECT_EQ(Gap(Us(1000, 1040), Launch(1040 - kLong + 1, 1000)), "latency 1000-1040");
  EXPECT_EQ(Gap(Us(1000, 1040), Launch(1040 - kLong, 1000)), "device 1000-1040");
  EXPECT_EQ(Gap(Us(1000, 1000 + kLong), Launch(10, 15)),
            "unrecorded 1000-" + std::to_string(1000 + kLong));
  EXPECT_EQ(Gap(Us(1000, 464000), Launch(1120, 1125)), "host 1000-1120, unrecorded 1120-464000");
}

TEST(IdleDivision, LongLaunchCallsAreACauseOfTheirOwn) {
  EXPECT_EQ(Gap(Us(10, 400), Launch(30, 30 + kLong - 1)), "host 10-30, unrecorded 30-400");
  EXPECT_EQ(Gap(Us(10, 400), Launch(30, 390)), "host 10-30, launch call 30-390, latency 390-400");
  EXPECT_EQ(Gap(Us(10, 400), Launch(30, 500)), "host 10-30, launch call 30-400");
  EXPECT_EQ(Gap(Us(200, 900), Launch(30, 500)), "launch call 200-500, unrecorded 500-900");
  EXPECT_EQ(Gap(Us(200, 230), Launch(30, 190)), "latency 200-230");
}

TEST(IdleDivision, ALateHostWasBlockedOrLoadedData) {
  const HostTime blocked{{Us(5, 12)}, {}};
  EXPECT_EQ(Gap(Us(10, 40), Launch(30, 35), blocked), "sync 10-17, host 17-30, latency 30-40");
  const HostTime always_blocked{{Us(0, 28)}, {}};
  EXPECT_EQ(Gap(Us(10, 40), Launch(30, 35), always_blocked), "sync 10-30, latency 30-40");
  const HostTime blocked_later{{Us(12, 28)}, {}};
  EXPECT_EQ(Gap(Us(10, 40), Launch(30, 35), blocked_later), "host 10-30, latency 30-40");
  const HostTime loading{{}, {Us(12, 22)}};
  EXPECT_EQ(Gap(Us(10, 40), Launch(30, 35), loading), "data 10-30, latency 30-40");
  EXPECT_EQ(Gap(Us(10, 50), Launch(40, 45), loading), "host 10-40, latency 40-50");
}

// Without waiting the launch would have been that long before the gap, and its latency with it.
TEST(IdleDivision, WhatTheHostWasBlockedBeyondTheGap) {
  const auto beyond = [](Interval late, IntervalSet blocked) {
    return BlockedBeyond(late, HostTime{std::move(blocked), {}}) / kUs;
  };
  EXPECT_EQ(beyond(Us(10, 30), {Us(0, 28)}), 8);
  EXPECT_EQ(beyond(Us(100, 130), {Us(20, 103)}), 53);
  EXPECT_EQ(beyond(Us(10, 30), {Us(5, 12)}), 0);   // less than the gap
  EXPECT_EQ(beyond(Us(10, 30), {Us(12, 28)}), 0);  // not when it began
  EXPECT_EQ(beyond(Us(10, 30), {}), 0);
  EXPECT_EQ(beyond(Us(30, 30), {Us(0, 40)}), 0);  // launched before the gap
}

TEST(IdleDivision, BeforeTheRecordingTheDeviceHadWork) {
  EXPECT_EQ(Head(Us(0, 151000), Launch(2000, 2005)), "head 0-2000, before 2000-151000");
  EXPECT_EQ(Head(Us(0, 2020), Launch(2000, 2005)), "head 0-2000, latency 2000-2020");
  EXPECT_EQ(Head(Us(0, 3000), Launch(2000, 2990)),
            "head 0-2000, launch call 2000-2990, latency 2990-3000");
  EXPECT_EQ(Head(Us(0, 2020), {}), "before 0-2020");
  EXPECT_EQ(Head(Us(0, 2020), Launch(2000, 2005), {{}, {Us(100, 1900)}}),
            "data 0-2000, latency 2000-2020");
}

TEST(IdleDivision, WhoWaitsBeforeTheFirstWorkWaitsForWhatWasNotRecorded) {
  const HostTime host{{Us(0, 300), Us(500, 600)}, {}};
  EXPECT_EQ(Head(Us(0, 1000), Launch(990, 995), host),
            "before 0-300, head 300-500, before 500-600, head 600-990, latency 990-1000");
  // The second wait may be for another device that has recorded work.
  EXPECT_EQ(Head(Us(0, 1000), Launch(990, 995), host, 400),
            "before 0-300, head 300-990, latency 990-1000");
}

TEST(IdleDivision, NothingSaysThatThereWasWorkBeforeTheRecording) {
  EXPECT_EQ(Head(Us(0, 151000), Launch(2000, 2005), {}, 0, false),
            "head 0-2000, unrecorded 2000-151000");
  EXPECT_EQ(Head(Us(0, 2020), {}, {}, 0, false), "head 0-2020");
  EXPECT_EQ(Head(Us(0, 1000), Launch(990, 995), {{Us(0, 300)}, {}}, 0, false),
            "head 0-990, latency 990-1000");
}

TEST(IdleDivision, WhileCopiesAreNotRecordedNothingIsKnown) {
  const HostTime host{{Us(5, 12)}, {}, {Us(20, 25), Us(27, 60)}};
  EXPECT_EQ(Gap(Us(10, 80), Launch(70, 75), host),
            "sync 10-17, host 17-20, unrecorded 20-25, host 25-27, unrecorded 27-60, host 60-70, "
            "latency 70-80");
  EXPECT_EQ(Gap(Us(21, 60), Launch(55, 58), host),
            "unrecorded 21-25, host 25-27, unrecorded 27-55, latency 55-60");
  EXPECT_EQ(Head(Us(0, 80), Launch(70, 75), host, 0, false),
            "head 0-20, unrecorded 20-25, head 25-27, unrecorded 27-60, head 60-70, latency 70-80");
}

TEST(MainEvent, IsTheInnermostThatFillsHalf) {
  TestTrace trace;
  trace.Annotation("outer", {0, 1000}).Python("inner", {100, 600}).Op("short", {150, 200});
  trace.Op("elsewhere", {0, 1000}, {}, 2).Launched("gemm", {900, 10}, {920, 50}, {1, 7, 0});
  const RankView& view = trace.View();
  const HostId launch = view.index.correlation.launch_of[0];
  EXPECT_EQ(view.trace.Name(MainEventIn(view.trace, launch, {0, 900})), "inner");
  EXPECT_EQ(view.trace.Name(MainEventIn(view.trace, launch, {140, 360})), "short");
  EXPECT_EQ(view.trace.Name(MainEventIn(view.trace, launch, {600, 900})), "outer");
  EXPECT_FALSE(MainEventIn(view.trace, launch, {900, 900}).valid());
  EXPECT_FALSE(MainEventIn(view.trace, HostId(), {0, 900}).valid());
}

}  // namespace

}  // namespace borescope::internal
