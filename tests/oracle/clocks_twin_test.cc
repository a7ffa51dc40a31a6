// The skew of device clocks against a slow twin, which tries every value that can be the best one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "borescope/index/clocks/device_clocks.h"
#include "borescope/index/trace_index.h"
#include "tests/oracle/random_run.h"

namespace borescope::internal {
namespace {

using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::TraceOf;

// What the pairs of one device demand of its skew.
struct Bounds {
  std::vector<int64_t> launches;  // at least
  std::vector<int64_t> waits;     // at most
  std::vector<int64_t> inferred;  // at most, if possible
};

int64_t ContradictionOf(const Bounds& bounds, int64_t skew) {
  int64_t sum = 0;
  for (const int64_t bound : bounds.launches) {
    sum += bound <= kMostSkewNs ? std::max(bound - skew, int64_t{0}) : 0;
  }
  for (const int64_t bound : bounds.waits) {
    sum += bound >= -kMostSkewNs ? std::max(skew - bound, int64_t{0}) : 0;
  }
  return sum;
}

// The sum is piecewise linear, so that the best value next to 0 is 0, or where it bends.
int64_t SlowSkew(const Bounds& bounds) {
  std::vector<int64_t> values{0, -kMostSkewNs, kMostSkewNs};
  for (const auto* some : {&bounds.launches, &bounds.waits, &bounds.inferred}) {
    values.insert(values.end(), some->begin(), some->end());
  }
  std::erase_if(values, [](int64_t value) { return std::abs(value) > kMostSkewNs; });
  int64_t least = ContradictionOf(bounds, 0);
  for (const int64_t value : values) {
    least = std::min(least, ContradictionOf(bounds, value));
  }
  std::erase_if(values, [&](int64_t value) { return ContradictionOf(bounds, value) != least; });
  const int64_t lowest = *std::min_element(values.begin(), values.end());
  for (const int64_t bound : bounds.inferred) {
    if (bound >= lowest) {
      std::erase_if(values, [&](int64_t value) { return value > bound; });
    }
  }
  return *std::min_element(values.begin(), values.end(),
                           [](int64_t a, int64_t b) { return std::abs(a) < std::abs(b); });
}

int64_t ContradictingOf(const Bounds& bounds, int64_t skew) {
  int64_t count = 0;
  for (const int64_t bound : bounds.launches) {
    count += bound > skew ? 1 : 0;
  }
  for (const auto* some : {&bounds.waits, &bounds.inferred}) {
    for (const int64_t bound : *some) {
      count += bound < skew ? 1 : 0;
    }
  }
  return count;
}

// Times from a few ns to some ms, so that some of the demands are no matter of clocks.
RandomRun Stretched(RandomRun run, int64_t factor) {
  for (auto& call : run.calls) {
    call.time = {call.time.begin * factor, call.time.end * factor};
  }
  for (auto& work : run.work) {
    work.time = {work.time.begin * factor, work.time.end * factor};
  }
  return run;
}

std::vector<WaitPair> RandomWaits(Random& random, const Trace& trace) {
  std::vector<WaitPair> waits;
  const size_t count = random.Below(6);
  for (size_t i = 0; i < count && trace.host().size() > 0; ++i) {
    const DeviceId work{static_cast<uint32_t>(random.Below(trace.device().size()))};
    const HostId call{static_cast<uint32_t>(random.Below(trace.host().size()))};
    if (IsDeviceWork(trace.device().kind[work.value])) {
      waits.push_back({work, call, random.Below(3) == 0});
    }
  }
  return waits;
}

TEST(ClocksTwinTest, EverySkew) {
  int skewed = 0;
  int contradicted = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Trace trace = TraceOf(Stretched(MakeRandomRun(random), seed % 2 == 0 ? 1 : 40'000));
    if (trace.device().size() == 0) {
      continue;
    }
    const TraceIndex index = BuildIndex(trace, 1);
    const std::vector<WaitPair> waits = RandomWaits(random, trace);
    std::map<int64_t, Bounds> expected;  // per device
    for (uint32_t row = 0; row < trace.device().size(); ++row) {
      const HostId launch = index.correlation.launch_of[row];
      if (launch.valid() && IsDeviceWork(trace.device().kind[row])) {
        expected[trace.DeviceOf(DeviceId{row})].launches.push_back(
            trace.host().ts_ns[launch.value] - trace.device().ts_ns[row]);
      }
    }
    for (const WaitPair& wait : waits) {
      Bounds& bounds = expected[trace.DeviceOf(wait.work)];
      (wait.inferred ? bounds.inferred : bounds.waits)
          .push_back(trace.host().end_ns(wait.call) - trace.device().end_ns(wait.work));
    }
    const DeviceClocks clocks = EstimateClocks(trace, index.correlation, waits);
    ASSERT_EQ(clocks.clocks.size(), expected.size()) << "seed " << seed;
    for (const DeviceClock& clock : clocks.clocks) {
      const Bounds& bounds = expected[clock.device];
      ASSERT_EQ(clock.skew_ns, SlowSkew(bounds)) << "seed " << seed;
      ASSERT_EQ(clock.contradicting, ContradictingOf(bounds, clock.skew_ns)) << "seed " << seed;
      skewed += clock.skew_ns != 0 ? 1 : 0;
      contradicted += clock.contradicting != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(skewed, 500);
  EXPECT_GT(contradicted, 300);
}

}  // namespace
}  // namespace borescope::internal
