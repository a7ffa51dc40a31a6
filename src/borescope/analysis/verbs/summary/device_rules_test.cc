// Findings about the devices of one process, on random programs of which it is known how much each
// device works and when.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/statistics/statistics.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr uint64_t kSeeds = 25;
constexpr int64_t kUs = 1000;
constexpr std::string_view kTurns = "Devices of one process take turns";
constexpr std::string_view kWaits = "Devices of one process wait for each other";
constexpr std::string_view kUneven = "Devices of one process have uneven work";
constexpr std::string_view kHardly = "A device is hardly used";

// A host that launches to several devices, each of which takes its work in order.
class Devices {
 public:
  Devices(uint64_t seed, size_t devices) : random_(seed), free_ns_(devices), busy_(devices) {}

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_.Next() % static_cast<uint64_t>(high - low + 1));
  }

  // Work that begins no earlier than `after_ns`; when it ends.
  int64_t Launch(size_t gpu, int64_t ns, int64_t after_ns = 0) {
    ++correlation_;
    const int64_t ready_ns = host_ns_ + 8 * kUs;
    const int64_t begin_ns = std::max({ready_ns, free_ns_[gpu] + kUs, after_ns + 2 * kUs});
    const On on{.correlation = correlation_, .stream = 7, .gpu = static_cast<int64_t>(gpu)};
    trace_.Op("aten::mm", {host_ns_, 6 * kUs});
    trace_.Launched(fmt::format("kernel_{}", gpu), {host_ns_, 5 * kUs}, {begin_ns, ns}, on);
    host_ns_ += 7 * kUs;
    free_ns_[gpu] = begin_ns + ns;
    busy_[gpu].push_back({begin_ns, begin_ns + ns});
    return free_ns_[gpu];
  }
  void WaitForAll() {
    const int64_t last_ns = *std::max_element(free_ns_.begin(), free_ns_.end());
    const int64_t ns = std::max(last_ns - host_ns_, int64_t{0}) + 3 * kUs;
    trace_.Runtime("cudaDeviceSynchronize", {host_ns_, ns}, ++correlation_);
    host_ns_ += ns + kUs;
  }
  void HostDoes(int64_t ns) {
    trace_.Op("aten::host", {host_ns_, ns});
    host_ns_ += ns + kUs;
  }

  int64_t BeginStep() const { return host_ns_; }
  void EndStep(int64_t number, int64_t begin_ns) {
    trace_.Annotation(fmt::format("ProfilerStep#{}", number), {begin_ns, host_ns_ - begin_ns});
    host_ns_ += kUs;
  }

  Tables Ask(const Params& params = {}) {
    WaitForAll();
    return Analyse("summary", {&trace_.View()}, params);
  }

  double span() const { return static_cast<double>(host_ns_ - kUs); }
  double Busy(size_t gpu) const { return static_cast<double>(Coverage(Union(busy_[gpu]))); }
  double Busiest() const {
    double most = 0;
    for (size_t gpu = 0; gpu < busy_.size(); ++gpu) most = std::max(most, Busy(gpu));
    return most;
  }
  double AnyBusy() const {
    std::vector<Interval> all;
    for (const IntervalSet& busy : busy_) all.insert(all.end(), busy.begin(), busy.end());
    return static_cast<double>(Coverage(Union(all)));
  }
  // What would be won if all worked at once, and if each had as much.
  double TurnsShare() const { return (AnyBusy() - Busiest()) / span(); }
  double UnevenShare() const {
    double sum = 0;
    for (size_t gpu = 0; gpu < busy_.size(); ++gpu) sum += Busy(gpu);
    return (Busiest() - sum / static_cast<double>(busy_.size())) / span();
  }

 private:
  SplitMix64 random_;
  TestTrace trace_;
  int64_t correlation_ = 0;
  int64_t host_ns_ = 0;
  std::vector<int64_t> free_ns_;
  std::vector<IntervalSet> busy_;
};

double ValueOf(const Tables& tables, std::string_view title) {
  const StringValues& titles = Texts(tables[0], "finding");
  for (size_t row = 0; row < titles.size(); ++row) {
    if (titles[row] == title) return Floats(tables[0], "value")[row];
  }
  return 0;
}

std::string First(const Tables& tables) { return Texts(tables[0], "finding")[0]; }

std::string AllOf(const Tables& tables) { return Csv(tables[0], {"finding", "evidence"}); }

bool SpeaksOfDevices(const Tables& tables) {
  for (const std::string_view title : {kTurns, kWaits, kUneven, kHardly}) {
    if (ValueOf(tables, title) > 0) return true;
  }
  return false;
}

// A model in parts on several devices, one batch after the other.
TEST(DeviceRulesTest, TurnsArePlanted) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const size_t count = 2 + seed % 3;
    Devices devices(seed, count);
    const bool waits = seed % 2 == 0;
    for (int64_t step = devices.Between(3, 8); step > 0; --step) {
      int64_t done_ns = 0;
      for (size_t gpu = 0; gpu < count; ++gpu) {
        for (int layer = 0; layer < 8; ++layer) {
          done_ns = devices.Launch(gpu, devices.Between(150, 250) * kUs, done_ns);
        }
      }
      // The next batch needs what the last one learned.
      for (size_t gpu = 0; gpu < count; ++gpu) devices.Launch(gpu, 20 * kUs, done_ns);
      if (waits) devices.WaitForAll();
    }
    const Tables tables = devices.Ask();
    if (waits) {
      EXPECT_EQ(First(tables), kTurns) << AllOf(tables);
      EXPECT_NEAR(ValueOf(tables, kTurns), devices.TurnsShare(), 0.03) << AllOf(tables);
      EXPECT_EQ(AllOf(tables).find("was not recorded"), std::string::npos) << AllOf(tables);
      EXPECT_EQ(AllOf(tables).find("after synchronisation"), std::string::npos) << AllOf(tables);
    } else {
      const double value = std::max(ValueOf(tables, kTurns), ValueOf(tables, kWaits));
      EXPECT_NEAR(value, devices.TurnsShare(), 0.06) << AllOf(tables);
    }
  }
}

// A pipeline with micro-batches: its bubble is (p - 1) / (m + p - 1) of a step.
TEST(DeviceRulesTest, BubblesOfPipelinesArePlanted) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const size_t count = 2 + seed % 3;
    const auto batches = static_cast<size_t>(4 + seed % 7);
    SCOPED_TRACE(fmt::format("{} stages, {} batches", count, batches));
    Devices devices(seed, count);
    for (int64_t step = 0; step < 5; ++step) {
      for (size_t batch = 0; batch < batches; ++batch) {
        int64_t done_ns = 0;
        for (size_t gpu = 0; gpu < count; ++gpu) {
          done_ns = devices.Launch(gpu, 1000 * kUs, done_ns);
        }
      }
      devices.WaitForAll();
    }
    const Tables tables = devices.Ask();
    const double bubble = static_cast<double>(count - 1) / static_cast<double>(batches + count - 1);
    const double value = std::max(ValueOf(tables, kTurns), ValueOf(tables, kWaits));
    EXPECT_NEAR(value, bubble, 0.03) << AllOf(tables);
    EXPECT_EQ(ValueOf(tables, kUneven), 0) << AllOf(tables);
  }
}

TEST(DeviceRulesTest, ManyMicroBatchesHideTheBubble) {
  Devices devices(1, 2);
  for (int64_t step = 0; step < 4; ++step) {
    for (int batch = 0; batch < 40; ++batch) {
      devices.Launch(1, 500 * kUs, devices.Launch(0, 500 * kUs));
    }
    devices.WaitForAll();
  }
  const Tables tables = devices.Ask();
  EXPECT_EQ(First(tables), "The device is well used") << AllOf(tables);
  EXPECT_FALSE(SpeaksOfDevices(tables)) << AllOf(tables);
}

TEST(DeviceRulesTest, UnevenWorkIsPlanted) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const size_t count = 2 + seed % 3;
    Devices devices(seed, count);
    const size_t most = seed % count;
    const int64_t percent = 130 + static_cast<int64_t>(seed) * 10;
    for (int64_t step = devices.Between(3, 8); step > 0; --step) {
      for (int layer = 0; layer < 10; ++layer) {
        for (size_t gpu = 0; gpu < count; ++gpu) {
          const int64_t ns = devices.Between(180, 220) * kUs;
          devices.Launch(gpu, gpu == most ? ns * percent / 100 : ns);
        }
      }
      devices.WaitForAll();
    }
    const Tables tables = devices.Ask();
    EXPECT_EQ(First(tables), kUneven) << AllOf(tables);
    EXPECT_NEAR(ValueOf(tables, kUneven), devices.UnevenShare(), 0.02) << AllOf(tables);
    EXPECT_NE(AllOf(tables).find(fmt::format("GPU {} works for", most)), std::string::npos)
        << AllOf(tables);
    EXPECT_EQ(AllOf(tables).find("after synchronisation"), std::string::npos) << AllOf(tables);
  }
}

// Data-parallel programs: nothing is lost, or the host is late for all devices.
TEST(DeviceRulesTest, EvenDevicesAreNoFinding) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const size_t count = 2 + seed % 3;
    const bool is_late = seed % 2 == 1;
    Devices devices(seed, count);
    for (int64_t step = devices.Between(3, 8); step > 0; --step) {
      for (int layer = 0; layer < 40; ++layer) {
        for (size_t gpu = 0; gpu < count; ++gpu) {
          devices.Launch(gpu, devices.Between(100, 300) * kUs);
        }
      }
      devices.WaitForAll();
      if (is_late) devices.HostDoes(4000 * kUs);
    }
    const Tables tables = devices.Ask();
    EXPECT_FALSE(SpeaksOfDevices(tables)) << AllOf(tables);
    EXPECT_EQ(First(tables) == "The device is well used", !is_late) << AllOf(tables);
  }
}

// One kernel on another device halves no share.
TEST(DeviceRulesTest, AStrayKernelIsSaidAndLeftOut) {
  for (const size_t stray : {0U, 1U}) {
    Devices devices(1, 2);
    const size_t other = 1 - stray;
    for (int64_t step = 0; step < 5; ++step) {
      for (int layer = 0; layer < 20; ++layer) devices.Launch(other, 400 * kUs);
      if (step == 0) devices.Launch(stray, 20 * kUs);
    }
    const Tables tables = devices.Ask();
    EXPECT_EQ(First(tables), "The device is well used") << AllOf(tables);
    EXPECT_GT(Floats(tables[0], "value")[0], 0.98);
    EXPECT_EQ(ValueOf(tables, kHardly), 1) << AllOf(tables);
    EXPECT_NE(AllOf(tables).find(fmt::format("GPU {} of rank 0: 1 kernel or copy", stray)),
              std::string::npos)
        << AllOf(tables);
  }
}

// What is left out of shares is in table left_out, so that the page takes them of the same whole.
TEST(DeviceRulesTest, WhatIsLeftOutIsOnThePage) {
  Devices devices(1, 2);
  for (int layer = 0; layer < 20; ++layer) devices.Launch(0, 400 * kUs);
  devices.Launch(1, 20 * kUs);
  const Tables tables = devices.Ask();
  const auto named = [&](std::string_view name) {
    return *std::find_if(tables.begin(), tables.end(),
                         [name](const Table& table) { return table.name == name; });
  };
  const Table left_out = named("left_out");
  ASSERT_EQ(left_out.rows(), 1U);
  EXPECT_EQ(Ints(left_out, "gpu")[0], 1);
  EXPECT_EQ(Ints(left_out, "hardly_used_ns")[0], Ints(named("breakdown"), "idle_ns")[1]);
  EXPECT_EQ(Csv(named("device_use"), {"gpu", "is_hardly_used", "busy_ns", "held_ns"}),
            "gpu,is_hardly_used,busy_ns,held_ns\n0,0,8000000,0\n1,1,20000,0\n");
  EXPECT_EQ(named("idle_causes").rows(), 2U);
}

// The gap before the work of a step is of that step, and another device then works for the last
// one.
TEST(DeviceRulesTest, OneStepIsJudgedAsAllAre) {
  Devices devices(1, 2);
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t begin_ns = devices.BeginStep();
    for (int layer = 0; layer < 20; ++layer) {
      devices.Launch(0, 200 * kUs);
      devices.Launch(1, 400 * kUs);
    }
    devices.WaitForAll();
    devices.EndStep(step, begin_ns);
  }
  Params params;
  params.selection.steps = NumberRanges::Parse("2").value();
  const Tables tables = devices.Ask(params);
  EXPECT_EQ(First(tables), kUneven) << AllOf(tables);
  EXPECT_NEAR(ValueOf(tables, kUneven), 0.25, 0.02) << AllOf(tables);
}

// A benchmark that measures one device after the other.
TEST(DeviceRulesTest, PhasesOnOtherDevicesAreNoTurns) {
  Devices devices(1, 2);
  for (size_t gpu = 0; gpu < 2; ++gpu) {
    for (int step = 0; step < 4; ++step) {
      for (int layer = 0; layer < 20; ++layer) devices.Launch(gpu, 400 * kUs);
      devices.WaitForAll();
    }
  }
  EXPECT_FALSE(SpeaksOfDevices(devices.Ask()));
}

}  // namespace
}  // namespace borescope::internal
