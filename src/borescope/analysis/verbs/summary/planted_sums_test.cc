// Findings about sums, on random programs: one to three of many events that make up most of a sum
// are named, with their place, and programs without such are not called that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr uint64_t kSeeds = 50;
constexpr int64_t kUs = 1000;
constexpr size_t kPerStep = 4;

// A device that is always busy, as the host launches all its work at the begin.
class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {}

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  // Places of one to three events among `count`.
  std::set<size_t> PickFew(size_t count) {
    std::set<size_t> places;
    const auto few = static_cast<size_t>(Between(1, 3));
    while (places.size() < few) {
      places.insert(static_cast<size_t>(Between(0, static_cast<int64_t>(count) - 1)));
    }
    return places;
  }

  void BeginStep(int64_t number) {
    step_begin_ns_ = host_ns_;
    step_ = number;
  }
  void EndStep() {
    host_ns_ += kUs;
    trace.Annotation(fmt::format("ProfilerStep#{}", step_),
                     {step_begin_ns_, host_ns_ - step_begin_ns_});
    host_ns_ += kUs;
  }

  // Of which the begin is returned.
  int64_t Kernel(std::string_view name, int64_t ns) {
    const On on = Launch("cudaLaunchKernel");
    trace.Kernel(name, {device_ns_, ns}, on);
    return Pass(ns);
  }
  int64_t Copy(std::string_view name, int64_t ns, int64_t bytes) {
    const On on = Launch("cudaMemcpyAsync");
    trace.Memcpy(name, {device_ns_, ns}, on, bytes);
    return Pass(ns);
  }
  void HostIs(std::string_view call, int64_t ns) {
    trace.Runtime(call, {host_ns_, ns}, ++correlation_);
    host_ns_ += ns;
  }
  // The host waits for the device, and then for as long again.
  int64_t WaitAndIdle(int64_t ns) {
    const int64_t free_ns = device_ns_;
    HostIs("cudaDeviceSynchronize", std::max<int64_t>(free_ns - host_ns_, 0) + 2 * kUs);
    host_ns_ = std::max(host_ns_, free_ns + ns);
    device_ns_ = host_ns_ + 4 * kUs;
    return free_ns;
  }

  Tables Ask() { return Analyse("summary", {&trace.View()}); }

  TestTrace trace;

 private:
  On Launch(std::string_view call) {
    ++correlation_;
    trace.Runtime(call, {host_ns_, kUs}, correlation_);
    host_ns_ += 2 * kUs;
    device_ns_ = std::max(device_ns_, host_ns_);
    return {.correlation = correlation_};
  }
  int64_t Pass(int64_t ns) {
    const int64_t begin_ns = device_ns_;
    device_ns_ += ns;
    return begin_ns;
  }

  std::mt19937_64 random_;
  int64_t correlation_ = 10;
  int64_t host_ns_ = 0;
  int64_t device_ns_ = 20 * kUs;
  int64_t step_begin_ns_ = 0;
  int64_t step_ = 0;
};

size_t RowOf(const Tables& tables, std::string_view title) {
  size_t row = 0;
  while (row < tables[0].rows() && Texts(tables[0], "finding")[row] != title) {
    ++row;
  }
  return row;
}

bool Holds(const Tables& tables, std::string_view title) {
  return RowOf(tables, title) < tables[0].rows();
}

std::string AllOf(const Tables& tables) {
  return Csv(tables[0], {"finding", "evidence", "help", "where"});
}

bool NamesFew(const Tables& tables) {
  for (size_t row = 0; row < tables[0].rows(); ++row) {
    if (Texts(tables[0], "finding")[row].starts_with("A few ")) {
      return true;
    }
  }
  return false;
}

enum class Sum { kCollectives, kCopies, kKernels };

constexpr std::string_view kTitles[] = {"A few collectives take most of the communication",
                                        "A few copies take most of the time of copies",
                                        "A few launches take a large part of the kernel time"};

constexpr std::string_view kEvents[] = {"collectives", "copies", "launches"};

// A program with 16 to 60 events of a kind, beside which nothing runs, in steps of four. All but
// `few` are short.
struct Planted {
  std::set<size_t> few;
  int64_t longest_begin_ns = 0;
  int64_t longest_step = 0;
  size_t longest = 0;
  size_t count = 0;
};

Planted Plant(Program& program, Sum sum, bool has_few) {
  Planted planted;
  planted.count = kPerStep * static_cast<size_t>(program.Between(4, 15));
  if (has_few) {
    planted.few = program.PickFew(planted.count);
  }
  int64_t longest_ns = 0;
  for (size_t i = 0; i < planted.count; ++i) {
    if (i % kPerStep == 0) {
      program.BeginStep(static_cast<int64_t>(i / kPerStep));
    }
    for (int kernel = 0; kernel < 3; ++kernel) {
      program.Kernel(fmt::format("gemm_{}", (i + static_cast<size_t>(kernel)) % 7),
                     program.Between(80, 160) * kUs);
    }
    const bool is_long = planted.few.contains(i);
    const int64_t ns = is_long ? program.Between(8'000, 40'000) * kUs : program.Between(4, 6) * kUs;
    const int64_t begin_ns =
        sum == Sum::kCollectives ? program.Kernel("ncclDevKernel_AllReduce", ns)
        : sum == Sum::kCopies    ? program.Copy("Memcpy HtoD (Pinned -> Device)", ns, 1 << 20)
                                 : program.Kernel("lookup_kernel", ns);
    if (is_long && ns > longest_ns) {
      longest_ns = ns;
      planted.longest = i;
      planted.longest_begin_ns = begin_ns;
      planted.longest_step = static_cast<int64_t>(i / kPerStep);
    }
    if (i % kPerStep == kPerStep - 1) {
      program.EndStep();
    }
  }
  return planted;
}

void ExpectWords(const std::string& evidence, const Planted& planted, std::string_view what) {
  EXPECT_NE(evidence.find(fmt::format("{} of {} {} take", planted.few.size(), planted.count, what)),
            std::string::npos)
      << evidence;
}

class PlantedSums : public testing::TestWithParam<Sum> {};

TEST_P(PlantedSums, AFewOfManyAreNamed) {
  const std::string_view title = kTitles[static_cast<size_t>(GetParam())];
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    const Planted planted = Plant(program, GetParam(), true);
    const Tables tables = program.Ask();
    const size_t row = RowOf(tables, title);
    ASSERT_LT(row, tables[0].rows()) << AllOf(tables);
    ExpectWords(Texts(tables[0], "evidence")[row], planted,
                kEvents[static_cast<size_t>(GetParam())]);
    EXPECT_EQ(Ints(tables[0], "begin_ns")[row], planted.longest_begin_ns);
    EXPECT_EQ(Ints(tables[0], "step")[row], planted.longest_step);
    EXPECT_FALSE(Holds(tables, "Communication is not hidden behind compute")) << AllOf(tables);
    EXPECT_FALSE(Holds(tables, "Copies are not hidden behind compute")) << AllOf(tables);
    if (GetParam() == Sum::kCollectives) {
      EXPECT_EQ(
          Texts(tables[0], "help")[row].find("arrive at different times") != std::string::npos,
          planted.longest == 0);
    }
  }
}

TEST_P(PlantedSums, ManyAreNotCalledAFew) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    Plant(program, GetParam(), false);
    const Tables tables = program.Ask();
    EXPECT_FALSE(NamesFew(tables)) << AllOf(tables);
    EXPECT_TRUE(Holds(tables, "The device is well used")) << AllOf(tables);
  }
}

// A collective of every step that is longer than the others is a pattern of the program.
TEST(PlantedEvents, WhatEveryStepHasIsAPattern) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    const int64_t steps = program.Between(1, 3);
    const int64_t long_ns = program.Between(3'000, 9'000) * kUs;
    for (int64_t step = 0; step < steps; ++step) {
      program.BeginStep(step);
      const int64_t place = program.Between(0, 19);
      for (int64_t i = 0; i < 20; ++i) {
        program.Kernel(fmt::format("gemm_{}", i % 7), 100 * kUs);
        program.Kernel("ncclDevKernel_AllReduce", i == place ? long_ns : 5 * kUs);
      }
      program.EndStep();
    }
    const Tables tables = program.Ask();
    EXPECT_FALSE(NamesFew(tables)) << AllOf(tables);
    EXPECT_TRUE(Holds(tables, "Communication is not hidden behind compute")) << AllOf(tables);
  }
}

std::string NameOf(const testing::TestParamInfo<Sum>& info) {
  constexpr std::string_view kNames[] = {"Collectives", "Copies", "Kernels"};
  return std::string(kNames[static_cast<size_t>(info.param)]);
}

INSTANTIATE_TEST_SUITE_P(Sums, PlantedSums,
                         testing::Values(Sum::kCollectives, Sum::kCopies, Sum::kKernels), NameOf);

// Many waits, of which one to three make up most; where one does, that is a long gap.
TEST(PlantedEvents, AFewWaitsAreNamed) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    Planted planted;
    planted.count = static_cast<size_t>(program.Between(12, 50));
    planted.few = program.PickFew(planted.count);
    std::vector<std::pair<int64_t, int64_t>> long_gaps;
    for (size_t i = 0; i <= planted.count; ++i) {
      program.Kernel(fmt::format("gemm_{}", i % 7), program.Between(200, 400) * kUs);
      if (i < planted.count) {
        const bool is_long = planted.few.contains(i);
        const int64_t ns = is_long ? program.Between(6'000, 9'000) * kUs : 20 * kUs;
        const int64_t begin_ns = program.WaitAndIdle(ns);
        if (is_long) {
          long_gaps.emplace_back(begin_ns, begin_ns + ns);
        }
      }
    }
    const Tables tables = program.Ask();
    const int64_t begin_ns = Ints(tables[0], "begin_ns")[0];
    EXPECT_TRUE(std::any_of(long_gaps.begin(), long_gaps.end(), [&](const auto& gap) {
      return gap.first <= begin_ns && begin_ns < gap.second;
    })) << AllOf(tables);
    if (Holds(tables, "The device idles in one long gap")) {
      continue;
    }
    ExpectWords(Texts(tables[0], "evidence")[0], planted, "gaps");
    EXPECT_NE(Texts(tables[0], "help")[0].find("in a few times"), std::string::npos);
  }
}

TEST(PlantedEvents, AFewLongStepsAreNamed) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    const auto count = static_cast<size_t>(program.Between(12, 40));
    const std::set<size_t> few = program.PickFew(count);
    const bool has_few = seed % 5 != 0;
    for (size_t i = 0; i < count; ++i) {
      program.BeginStep(static_cast<int64_t>(i));
      program.Kernel("gemm", 50 * kUs);  // the device is never behind
      const bool is_long = has_few ? few.contains(i) : i % 3 == 0;
      program.HostIs("cudaEventSynchronize", (is_long ? program.Between(800, 900) : 100) * kUs);
      program.EndStep();
    }
    const Tables tables = program.Ask();
    const size_t row = RowOf(tables, has_few ? "A few steps take much longer than the others"
                                             : "Steps differ in length");
    ASSERT_LT(row, tables[0].rows()) << AllOf(tables);
    if (has_few) {
      EXPECT_TRUE(few.contains(static_cast<size_t>(Ints(tables[0], "step")[row])));
    }
  }
}

// Where the device is behind, the host is let on now and then; steps are as long as the device's.
TEST(PlantedEvents, StepsOfABusyDeviceAreEqualWhateverTheHostDoes) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    const auto count = static_cast<size_t>(program.Between(12, 40));
    for (size_t i = 0; i < count; ++i) {
      program.BeginStep(static_cast<int64_t>(i));
      program.Kernel("gemm", 500 * kUs);
      const bool is_long = i >= count - 3;  // by then the device is 3 ms behind or more
      program.HostIs("cudaEventSynchronize", (is_long ? program.Between(800, 900) : 100) * kUs);
      program.EndStep();
    }
    const Tables tables = program.Ask();
    EXPECT_FALSE(Holds(tables, "A few steps take much longer than the others")) << AllOf(tables);
    EXPECT_FALSE(Holds(tables, "Steps differ in length")) << AllOf(tables);
  }
}

TEST(PlantedEvents, StepsWithoutDeviceWorkAreNamed) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    const auto count = static_cast<size_t>(program.Between(10, 40));
    const auto with = static_cast<size_t>(program.Between(1, static_cast<int64_t>(count)));
    size_t without = 0;
    int64_t first = kMissing;
    for (size_t i = 0; i < count; ++i) {
      program.BeginStep(static_cast<int64_t>(i));
      if (i * with / count != (i + 1) * with / count) {  // in `with` of them
        program.Kernel("gemm", 900 * kUs);
        program.Kernel("add", 300 * kUs);
      } else if (without++ == 0) {
        first = static_cast<int64_t>(i);
      }
      program.EndStep();
    }
    const Tables tables = program.Ask();
    const bool is_said = Holds(tables, "Steps without device work");
    EXPECT_EQ(is_said, without * 10 >= count) << AllOf(tables);
    EXPECT_NE(is_said, Holds(tables, "The device is well used")) << AllOf(tables);
    if (is_said) {
      const size_t row = RowOf(tables, "Steps without device work");
      EXPECT_EQ(Texts(tables[0], "evidence")[row],
                fmt::format("nothing was launched in {} of {} steps", without, count));
      EXPECT_EQ(Ints(tables[0], "step")[row], first);
      EXPECT_EQ(Texts(tables[0], "severity")[row], without * 2 >= count ? "warning" : "info");
    }
  }
}

// Of two ranks one is late, in a few collectives or in all of them.
TEST(PlantedEvents, AFewWaitsForARankAreNamed) {
  constexpr int64_t kRanks = 2;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program random(seed);
    const auto count = static_cast<size_t>(random.Between(12, 40));
    const std::set<size_t> few = random.PickFew(count);
    const bool has_few = seed % 4 != 0;
    const int64_t late = random.Between(0, kRanks - 1);
    TestTrace traces[kRanks];
    int64_t end_ns = 0;
    for (size_t i = 0; i < count; ++i) {
      const int64_t wait_ns = has_few
                                  ? (few.contains(i) ? random.Between(8'000, 20'000) * kUs : kUs)
                                  : random.Between(300, 400) * kUs;
      end_ns += wait_ns + 500 * kUs;
      for (int64_t rank = 0; rank < kRanks; ++rank) {
        const int64_t dur_ns = 20 * kUs + (rank == late ? 0 : wait_ns);
        traces[rank].Kernel("ncclDevKernel_AllReduce(x)", {end_ns - dur_ns, dur_ns}, {.stream = 9},
                            {"allreduce", 64, 64});
        traces[rank].Kernel(fmt::format("gemm_{}", i % 7), {end_ns, 400 * kUs}, {.stream = 7});
      }
    }
    const Tables tables = Analyse("summary", {&traces[0].View(0), &traces[1].View(1)});
    const size_t row = RowOf(tables, "One rank makes the others wait");
    ASSERT_LT(row, tables[0].rows()) << AllOf(tables);
    const std::string& evidence = Texts(tables[0], "evidence")[row];
    const std::string words = fmt::format("{} of {} collectives ha", few.size(), count);
    EXPECT_EQ(evidence.find(words) != std::string::npos, has_few) << evidence;
    EXPECT_EQ(Texts(tables[0], "help")[row].starts_with("It came late once"), has_few);
    EXPECT_EQ(Ints(tables[0], "rank")[row], late);
  }
}

// Arrays that go to the device and back around kernels; of the others each lacks one condition.
TEST(PlantedEvents, RoundTripsAreToldFromOtherCopies) {
  enum class Kind { kRoundTrip, kOtherSizes, kNoKernel, kOneWay, kFewRounds, kCount };
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    const auto kind = static_cast<Kind>(seed % static_cast<uint64_t>(Kind::kCount));
    const int64_t rounds = kind == Kind::kFewRounds ? 4 : program.Between(5, 50);
    const int64_t bytes = program.Between(1, 2'000) * 1'000'000;
    const int64_t arrays = program.Between(1, 3);
    for (int64_t round = 0; round < rounds; ++round) {
      for (int64_t array = 0; array < arrays; ++array) {
        program.Copy("Memcpy HtoD (Pageable -> Device)", program.Between(300, 400) * kUs, bytes);
      }
      if (kind != Kind::kNoKernel) {
        program.Kernel("stencil", program.Between(100, 600) * kUs);
      }
      if (kind != Kind::kOneWay) {
        program.Copy("Memcpy DtoH (Device -> Pageable)", program.Between(300, 400) * kUs,
                     bytes + (kind == Kind::kOtherSizes ? 8 : 0));
      }
    }
    program.Kernel("stencil", program.Between(100, 600) * kUs);
    const Tables tables = program.Ask();
    const size_t row = RowOf(tables, "Copies are not hidden behind compute");
    ASSERT_LT(row, tables[0].rows()) << AllOf(tables);
    const std::string& help = Texts(tables[0], "help")[row];
    const bool is_said = help.find("keep it on the device") != std::string::npos;
    EXPECT_EQ(is_said, kind == Kind::kRoundTrip) << AllOf(tables);
    if (is_said) {
      EXPECT_NE(Texts(tables[0], "evidence")[row].find(fmt::format("in {} rounds", rounds)),
                std::string::npos);
      EXPECT_EQ(help.find("pin_memory"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace borescope::internal
