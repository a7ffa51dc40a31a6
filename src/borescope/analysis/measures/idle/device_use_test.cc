#include "borescope/analysis/measures/idle/device_use.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/statistics/statistics.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kUs = 1000;

Span Us(int64_t ts_us, int64_t dur_us) { return {ts_us * kUs, dur_us * kUs}; }

std::vector<DeviceUse> UseOf(TestTrace& trace) {
  const RankView& view = trace.View();
  const auto idle = SharedIdleTimes(view, Selection());
  EXPECT_TRUE(idle->ok());
  return FindDeviceUse(view, **idle);
}

int64_t Held(const DeviceUse& use, IdleCause cause) {
  return use.held_ns[static_cast<size_t>(cause)];
}

TEST(DeviceUseTest, WorkThatWaitsForAnotherDeviceIsHeldByIt) {
  TestTrace trace;
  trace.Op("all", Us(0, 3000));
  trace.Launched("first", Us(0, 5), Us(10, 490), {1, 7, 0});      // until 500
  trace.Launched("second", Us(20, 5), Us(505, 495), {2, 7, 1});   // begins as that ends
  trace.Launched("third", Us(30, 5), Us(1005, 495), {3, 7, 0});   // 505 us later, likewise
  trace.Launched("fourth", Us(40, 5), Us(1505, 495), {4, 7, 1});  // likewise
  const std::vector<DeviceUse> uses = UseOf(trace);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].busy_ns, 985 * kUs);
  EXPECT_EQ(uses[0].any_ns, 1975 * kUs);
  EXPECT_EQ(uses[0].together_ns, 0);
  // The other works from 505 to 1000, and from 1505 to 2000 after the last work.
  EXPECT_EQ(Held(uses[0], IdleCause::kUnrecorded), 495 * kUs);
  EXPECT_EQ(Held(uses[0], IdleCause::kTail), 495 * kUs);
  EXPECT_EQ(Held(uses[1], IdleCause::kUnrecorded), (480 + 495) * kUs);
  EXPECT_EQ(uses[1].held_at_begin_ns, 480 * kUs);  // from its launch at 20 on
  EXPECT_EQ(Held(uses[1], IdleCause::kTail), 0);
}

// The other device goes on, and what held the work back is not known.
TEST(DeviceUseTest, WorkThatBeginsWhileTheOtherWorksIsNotHeldByIt) {
  TestTrace trace;
  trace.Op("all", Us(0, 2000));
  trace.Launched("long", Us(0, 5), Us(10, 1800), {1, 7, 0});
  trace.Launched("one", Us(20, 5), Us(30, 300), {2, 7, 1});
  trace.Launched("two", Us(40, 5), Us(900, 300), {3, 7, 1});
  const std::vector<DeviceUse> uses = UseOf(trace);
  EXPECT_EQ(Held(uses[1], IdleCause::kUnrecorded), 0);
  EXPECT_EQ(Held(uses[1], IdleCause::kTail), 610 * kUs);
}

// The thread that waits is the one that launches the next work.
TEST(DeviceUseTest, AThreadWaitsForItsOwnDevicesAlone) {
  for (const int64_t waiting : {1, 2}) {
    TestTrace trace;
    trace.Op("all", Us(0, 2000));
    trace.Op("other", Us(0, 2000), {}, 2);
    trace.Launched("short", Us(0, 5), Us(10, 200), {1, 7, 0});
    trace.Launched("long", Us(6, 5), Us(20, 1000), {2, 7, 1});
    trace.Runtime("cudaDeviceSynchronize", Us(20, 1003), kMissing, waiting);
    trace.Launched("next", Us(1030, 5), Us(1040, 200), {3, 7, 0});
    const std::vector<DeviceUse> uses = UseOf(trace);
    // From 210 to 1020.
    EXPECT_EQ(Held(uses[0], IdleCause::kSync), waiting == 1 ? 810 * kUs : 0);
  }
}

// A launch for a device with a full queue waits until there is room.
TEST(DeviceUseTest, AFullQueueOfAnotherDeviceHoldsTheHost) {
  TestTrace trace;
  trace.Op("all", Us(0, 2000));
  trace.Launched("short", Us(0, 5), Us(10, 100), {1, 7, 0});
  trace.Launched("long", Us(6, 5), Us(20, 700), {2, 7, 1});
  trace.Launched("longer", Us(20, 650), Us(721, 700), {3, 7, 1});
  trace.Launched("next", Us(700, 5), Us(710, 100), {4, 7, 0});
  const std::vector<DeviceUse> uses = UseOf(trace);
  // From 110 until the call returns at 670; then the host is late for another reason.
  EXPECT_EQ(Held(uses[0], IdleCause::kHost), 560 * kUs);
}

TEST(DeviceUseTest, HardlyIsLessThanAHundredth) {
  for (const int64_t us : {9, 10}) {
    TestTrace trace;
    trace.Op("all", Us(0, 2000));
    trace.Launched("long", Us(0, 5), Us(10, 1000), {1, 7, 0});
    trace.Launched("stray", Us(20, 5), Us(30, us), {2, 7, 1});
    const std::vector<DeviceUse> uses = UseOf(trace);
    EXPECT_EQ(uses[1].is_hardly_used, us == 9);
    EXPECT_EQ(uses[0].any_ns, us == 9 ? 0 : 1000 * kUs);  // of one device nothing is compared
  }
}

TEST(DeviceUseTest, ProcessesAreNotCompared) {
  TestTrace trace;
  trace.Op("all", Us(0, 2000));
  trace.Launched("first", Us(0, 5), Us(10, 490), {1, 7, 0});
  trace.Kernel("unlinked", Us(505, 495), {.correlation = 77, .gpu = 1});
  const std::vector<DeviceUse> uses = UseOf(trace);
  EXPECT_EQ(uses[0].any_ns, 0);
  EXPECT_EQ(uses[1].process, kMissing);
}

// On random programs: the sums of sets, counted nanosecond by nanosecond, and no more held than
// idle for that cause.
TEST(DeviceUseTest, TimesAreThoseOfEachInstant) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    SplitMix64 random(seed);
    const auto below = [&](int64_t bound) {
      return static_cast<int64_t>(random.Next() % static_cast<uint64_t>(bound));
    };
    constexpr int64_t kGpus = 3;
    constexpr int64_t kEnd = 40'000;
    TestTrace trace;
    trace.Op("all", {0, kEnd});
    std::vector<std::vector<char>> works(kGpus, std::vector<char>(kEnd));
    int64_t host_ns = 0;
    int64_t free_ns[kGpus] = {};
    for (int64_t i = 1; host_ns < kEnd - 8000; ++i) {
      const int64_t gpu = below(kGpus);
      const int64_t begin_ns = std::max(host_ns + 10, free_ns[gpu] + below(60));
      const int64_t end_ns = std::min(begin_ns + 1 + below(500), kEnd);
      trace.Launched("kernel", {host_ns, 5}, {begin_ns, end_ns - begin_ns}, {i, 7, gpu});
      std::fill(works[static_cast<size_t>(gpu)].begin() + begin_ns,
                works[static_cast<size_t>(gpu)].begin() + end_ns, 1);
      free_ns[gpu] = end_ns;
      host_ns += 10 + below(200);
      if (end_ns == kEnd) break;
    }
    int64_t any_ns = 0;
    int64_t together_ns = 0;
    for (size_t at = 0; at < kEnd; ++at) {
      const int count = works[0][at] + works[1][at] + works[2][at];
      any_ns += count > 0 ? 1 : 0;
      together_ns += count > 1 ? 1 : 0;
    }
    const RankView& view = trace.View();
    const auto idle = SharedIdleTimes(view, Selection());
    ASSERT_TRUE(idle->ok());
    const std::vector<DeviceUse> uses = FindDeviceUse(view, **idle);
    ASSERT_EQ(uses.size(), 3U);
    for (size_t i = 0; i < uses.size(); ++i) {
      EXPECT_EQ(uses[i].busy_ns, std::count(works[i].begin(), works[i].end(), 1));
      EXPECT_EQ(uses[i].any_ns, any_ns);
      EXPECT_EQ(uses[i].together_ns, together_ns);
      std::vector<int64_t> idle_ns(uses[i].held_ns.size());
      for (const IdlePiece& piece : (*idle)->devices[i].pieces) {
        idle_ns[static_cast<size_t>(piece.cause)] += piece.time.length();
      }
      for (size_t cause = 0; cause < idle_ns.size(); ++cause) {
        EXPECT_LE(uses[i].held_ns[cause], idle_ns[cause]);
      }
    }
  }
}

}  // namespace
}  // namespace borescope::internal
