#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <random>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/index/syncs/sync_edges.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// Everything is as it should be.
TestTrace Clean() {
  TestTrace trace;
  trace.meta().options = {true, true, true, true, false};
  trace.Annotation("ProfilerStep#1", {0, 1001});
  trace.Op("aten::mm", {10, 90}, {1, kMissing, kMissing, "[[2, 3]]"});
  trace.Launched("gemm", {20, 5}, {200, 10}, {1, 7, 0});
  return trace;
}

std::map<std::string, int64_t> Faults(const Tables& tables) {
  std::map<std::string, int64_t> counts;
  const Table& quality = tables[0];
  for (size_t row = 0; row < quality.rows(); ++row) {
    const std::string& check = Texts(quality, "check")[row];
    if (Ints(quality, "count")[row] != 0 && !check.starts_with("no-")) {
      counts[check] = Ints(quality, "count")[row];
    }
  }
  return counts;
}

using Counts = std::map<std::string, int64_t>;

TEST(DoctorTest, ACleanTraceShowsWhatWasChecked) {
  TestTrace trace = Clean();
  const Tables tables = Analyse("doctor", {&trace.View()});
  EXPECT_EQ(Faults(tables), Counts());
  EXPECT_GT(tables[0].rows(), 25u);
  ASSERT_EQ(tables.size(), 1u);
  const StringValues& severity = Texts(tables[0], "severity");
  EXPECT_EQ(severity[severity.size() - 10], "ok");
  EXPECT_EQ(severity.back(), "n/a");  // there is no operator that could have shapes
}

std::string StatusOf(const Tables& tables, std::string_view check) {
  for (size_t row = 0; row < tables[0].rows(); ++row) {
    if (Texts(tables[0], "check")[row] == check) {
      return Texts(tables[0], "severity")[row];
    }
  }
  return "not there";
}

// Of each kind of call the records of all work, of some, or of none are in the recording.
TEST(DoctorTest, CallsWithoutTheRecordsOfTheirWorkAreAFault) {
  constexpr std::string_view kNames[] = {"hipMemcpy", "cudaMemcpy2D", "hipMemcpyAsync",
                                         "cudaMemcpyAsync", "cudaLaunchKernelExC"};
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    TestTrace trace;
    int64_t now_ns = 0;
    int64_t correlation = 1;
    trace.Launched("gemm", {0, 5}, {10, 10}, {.correlation = correlation});
    int64_t copies = 0;
    int64_t launches = 0;
    for (const std::string_view name : kNames) {
      const auto calls = static_cast<int64_t>(3 + random() % 9);
      const auto recorded = std::array<int64_t, 3>{0, 1, calls}[random() % 3];
      const bool blocks = ClassifyBlockingCall(name) == BlockingCall::kCopy;
      copies += blocks ? calls - recorded : 0;
      launches += !blocks && recorded == 0 ? calls : 0;
      for (int64_t i = 0; i < calls; ++i) {
        now_ns += 100;
        trace.Runtime(name, {now_ns, 50}, ++correlation);
        if (i < recorded) {
          trace.Memcpy("Memcpy", {now_ns + 10, 20}, {.correlation = correlation});
        }
      }
    }
    Counts want;
    if (copies > 0) {
      want["untraced-copies"] = copies;
    }
    if (launches > 0) {
      want["untraced-launches"] = launches;
    }
    Counts found = Faults(Analyse("doctor", {&trace.View()}));
    std::erase_if(found, [](const auto& fault) { return !fault.first.starts_with("untraced"); });
    EXPECT_EQ(found, want);
    trace.Runtime("cudaStreamBeginCapture", {now_ns + 100, 5}, ++correlation);
    EXPECT_FALSE(Faults(Analyse("doctor", {&trace.View()})).contains("untraced-launches"));
  }
}

// Asynchronous copies in random order: recorded or not, of pinned memory (short), of pageable
// memory (long), waited for, behind a busy device, or in the capture of a graph. Only those without
// a record that last, with their wait, while the device idles are known to have copied.
TEST(DoctorTest, AsynchronousCopiesWithoutRecordThatLastAreAFault) {
  constexpr int64_t kUs = 1000;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    TestTrace trace;
    int64_t now_ns = 0;
    int64_t correlation = 0;
    int64_t want = 0;
    for (int call = 0; call < 40; ++call) {
      const uint64_t kind = random() % 6;
      const int64_t long_ns = static_cast<int64_t>(150 + random() % 5000) * kUs;
      const int64_t at_ns = now_ns;
      trace.Launched("gemm", {at_ns, 5 * kUs}, {at_ns + 8 * kUs, 10 * kUs},
                     {.correlation = ++correlation});
      const int64_t copy_ns = at_ns + 20 * kUs;
      const std::string_view name = random() % 2 == 0 ? "cudaMemcpyAsync" : "hipMemcpyAsync";
      if (kind == 5) {
        trace.Runtime("cudaStreamBeginCapture", {copy_ns - kUs, 500});
        trace.Runtime("cudaStreamEndCapture", {copy_ns + long_ns + kUs, kUs});
      }
      const bool is_long = kind == 1 || kind == 3 || kind == 5;
      trace.Runtime(name, {copy_ns, is_long ? long_ns : 4 * kUs}, ++correlation);
      if (kind == 2) {
        trace.Runtime("cudaEventRecord", {copy_ns + 5 * kUs, kUs}, ++correlation);
        trace.Runtime("cudaStreamSynchronize", {copy_ns + 7 * kUs, long_ns}, ++correlation);
      } else if (kind == 3) {
        trace.Kernel("long", {copy_ns, long_ns}, {.correlation = correlation - 1});
      } else if (kind == 4) {
        trace.Memcpy("Memcpy", {copy_ns + kUs, long_ns}, {.correlation = correlation});
        trace.Runtime("cudaStreamSynchronize", {copy_ns + 5 * kUs, long_ns}, ++correlation);
      }
      want += kind == 1 || kind == 2 ? 1 : 0;
      now_ns = copy_ns + long_ns + 10 * kUs;
    }
    const Counts faults = Faults(Analyse("doctor", {&trace.View()}));
    const auto found = faults.find("untraced-copies");
    EXPECT_EQ(found == faults.end() ? 0 : found->second, want);
  }
}

// A recording of Nsight Systems without operators, of one kernel.
Tables OfOtherProfiler(std::string_view kernel) {
  TestTrace trace;
  trace.meta().format = TraceFormat::kNsys;
  trace.Launched(kernel, {20, 5}, {200, 10}, {1, 7, 0});
  return Analyse("doctor", {&trace.View()});
}

TEST(DoctorTest, ProgramsWithoutPyTorchLackNoOperators) {
  const Tables plain = OfOtherProfiler("saxpy(double*, double)");
  const Tables pytorch = OfOtherProfiler("void at::native::vectorized_elementwise_kernel<4>()");
  for (const std::string_view check : {"no-operators", "no-operator", "no-steps"}) {
    EXPECT_EQ(StatusOf(plain, check), "n/a") << check;
    EXPECT_EQ(StatusOf(pytorch, check), "info") << check;
  }
}

std::string AdviceOf(TestTrace& trace, std::string_view check) {
  const Tables tables = Analyse("doctor", {&trace.View()});
  for (size_t row = 0; row < tables[0].rows(); ++row) {
    if (Texts(tables[0], "check")[row] == check) {
      return Texts(tables[0], "help")[row];
    }
  }
  return "not there";
}

// Frames and annotations are recorded by the CPU activity alone, calls of the runtime by either.
TEST(DoctorTest, WhatTheCpuActivityRecordedShowsThatItWasOn) {
  TestTrace off;
  off.Launched("gemm", {20, 5}, {200, 10}, {1, 7, 0});
  EXPECT_NE(AdviceOf(off, "no-operators").find("add ProfilerActivity.CPU"), std::string::npos);
  TestTrace on;
  on.Python("replay", {0, 50}).Launched("gemm", {20, 5}, {200, 10}, {1, 7, 0});
  EXPECT_EQ(StatusOf(Analyse("doctor", {&on.View()}), "no-operators"), "n/a");
}

TEST(DoctorTest, LinkFaults) {
  TestTrace trace = Clean();
  trace.Launched("early", {310, 5}, {305, 30}, {2, 7, 0});
  trace.Kernel("orphan", {400, 10}, {77, 7, 0});
  trace.Launched("outside", {420, 5}, {430, 10}, {3, 7, 0});
  trace.Runtime("cudaGraphLaunch", {450, 5}, 4);
  trace.Kernel("g1", {460, 5}, {4, 7, 0}).Kernel("g2", {470, 5}, {4, 7, 0});
  const Tables tables = Analyse("doctor", {&trace.View()});
  EXPECT_EQ(Faults(tables), (Counts{{"device-before-launch", 1},
                                    {"unlinked-device-event", 1},
                                    {"graph-launch", 1},
                                    {"unclassified-kernels", 5}}));
  const std::string text = Csv(tables[0], {"check", "severity", "count", "share", "first"});
  const std::string_view head =
      "check,severity,count,share,first\n"
      "device-before-launch,warning,1,0.428571,early, ts 0.305 us, correlation 2\n"
      "unlinked-device-event,warning,1,0.142857,orphan, ts 0.400 us, correlation 77\n"
      "no-operator,info,4,0.714286,early, ts 0.305 us, correlation 2\n";
  EXPECT_EQ(text.substr(0, head.size()), head);
}

TEST(DoctorTest, TimeFaults) {
  TestTrace trace = Clean();
  trace.Launched("gemm", {30, 5}, {205, 10}, {2, 7, 0});
  trace.Launched("gemm", {40, 5}, {230, 0}, {3, 7, 0});
  trace.Op("late", {50, 100});
  EXPECT_EQ(Faults(Analyse("doctor", {&trace.View()})),
            (Counts{{"stream-overlap", 1}, {"zero-device-duration", 1}, {"not-nested", 1}}));
}

TEST(DoctorTest, ClockJump) {
  constexpr int64_t kSecond = 1'000'000'000;
  TestTrace trace;
  trace.Op("first", {1, 1001}).Op("second", {60 * kSecond, 1001});
  TestTrace busy;
  busy.Op("first", {1, 20 * kSecond + 1}).Op("second", {40 * kSecond, kSecond});
  EXPECT_EQ(Faults(Analyse("doctor", {&trace.View()})), (Counts{{"clock-jump", 1}}));
  TestTrace threads;  // two at once are no longer than one
  threads.Op("one", {0, 2'100'000'000}).Op("two", {0, 2'100'000'000}, {}, 2);
  threads.Op("late", {40 * kSecond, 1'001});
  EXPECT_EQ(Faults(Analyse("doctor", {&busy.View()})), Counts());
  const Tables without = Analyse("doctor", {&busy.View(1)});
  EXPECT_NE(Csv(without[0], {"check", "share"}).find("clock-jump,0\n"), std::string::npos);
  EXPECT_EQ(Faults(Analyse("doctor", {&threads.View()})), (Counts{{"clock-jump", 1}}));
}

TEST(DoctorTest, ExternalIdsTwice) {
  constexpr int64_t kFar = int64_t{1} << 62;
  TestTrace far;
  for (const int64_t id : {int64_t{1}, kFar, kFar, -kFar, kFar + (kFar - 1), -kFar - (kFar - 2)}) {
    far.Op("op", {0, 1}, {.external_id = id});
  }
  TestTrace dense;
  for (int64_t id = 1; id < 100; ++id) {
    dense.Op("op", {id, 1}, {.external_id = id});
  }
  EXPECT_EQ(Faults(Analyse("doctor", {&far.View()})), (Counts{{"duplicate-external-id", 1}}));
  EXPECT_EQ(Faults(Analyse("doctor", {&dense.View()})), Counts());
}

TEST(DoctorTest, WaitFaults) {
  TestTrace trace = Clean();
  trace.Runtime("cudaEventRecord", {300, 5}, 30).Runtime("cudaStreamWaitEvent", {310, 5}, 31);
  trace.Sync("Stream Wait Event", {320, 2}, {31, 7, 0}, 30);  // good
  trace.Sync("Stream Wait Event", {330, 2}, {32, 7, 0}, -1);  // names no record
  trace.Sync("Event Sync", {340, 2}, {33, 7, 0}, 12345);      // names a lost one
  trace.Kernel("gemm", {400, 50}, {34, 9, 0}).Runtime("cudaLaunchKernel", {20, 1}, 34);
  trace.Sync("Stream Sync", {420, 60}, {35, 9, 0}, kMissing);  // begins inside the kernel
  EXPECT_EQ(
      Faults(Analyse("doctor", {&trace.View()})),
      (Counts{{"wait-without-record", 1}, {"wait-before-record", 1}, {"sync-during-kernel", 1}}));
}

TEST(DoctorTest, WaitsForWhatEndsAfterThem) {
  TestTrace trace = Clean();
  trace.Launched("gemm", {300, 5}, {310, 500}, {2, 7, 0});
  trace.Runtime("cudaStreamSynchronize", {320, 30}, 3);
  trace.Sync("Stream Sync", {1'000, 30}, {3, 7, 0}, kMissing);  // of a clock that is behind
  const Tables tables = Analyse("doctor", {&trace.View()});
  EXPECT_EQ(Faults(tables), (Counts{{"backward-wait", 1}}));
  EXPECT_NE(Csv(tables[0], {"check", "first"})
                .find("backward-wait,cudaStreamSynchronize, ts 0.320 us, for gemm, ts 0.310 us, "
                      "correlation 2\n"),
            std::string::npos);
}

// Each wait looks for the kernel before it, at no cost that grows with the number of waits.
TEST(DoctorTest, ManyWaitsOnAStreamCostLittle) {
  constexpr int64_t kWaits = 200'000;
  TestTrace trace = Clean();
  trace.Launched("gemm", {30, 5}, {1'000, 200}, {2, 9, 0});
  for (int64_t i = 0; i < kWaits; ++i) {
    trace.Sync("Stream Sync", {2'000 + 10 * i, 2}, {100 + i, 7, 0}, kMissing);
    trace.Sync("Stream Sync", {2'000 + 10 * i, 2}, {100 + i, 8, 0}, kMissing);
  }
  trace.Sync("Stream Sync", {1'100, 2}, {3, 9, 0}, kMissing);
  const RankView& view = trace.View();
  const auto checks = LinkChecks();
  const auto check = std::find_if(checks.begin(), checks.end(), [](const QualityCheck& row) {
    return row.name == "sync-during-kernel";
  });
  ASSERT_NE(check, checks.end());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(check->run(view).count, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(DoctorTest, OperatorFaults) {
  TestTrace trace = Clean();
  trace.Op("record_param_comms", {110, 10}, {2, kMissing, kMissing, ""});
  trace.Op("twin", {130, 10}, {2, kMissing, kMissing, ""});
  trace.Op("autograd::engine::evaluate_function: A", {150, 10}, {3, 1, 9, ""});
  trace.Op("autograd::engine::evaluate_function: B", {170, 10}, {4, 1, 9, ""});
  EXPECT_EQ(Faults(Analyse("doctor", {&trace.View()})), (Counts{{"collective-metadata", 1},
                                                                {"duplicate-external-id", 1},
                                                                {"backward-name-conflict", 1}}));
}

TEST(DoctorTest, RanksOfDifferentRunsAreNoticed) {
  TestTrace a = Clean();
  TestTrace b = Clean();
  TestTrace c = Clean();
  a.meta().base_ns = 1'000'000;
  b.meta().base_ns = 1'000'500;
  c.meta().base_ns = 9'000'000;
  const Tables tables = Analyse("doctor", {&a.View(0), &b.View(1), &c.View(2)});
  EXPECT_EQ(Faults(tables), (Counts{{"time-base-mismatch", 2}, {"ranks-apart", 1}}));
}

}  // namespace
}  // namespace borescope::internal
