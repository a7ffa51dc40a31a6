// Paths that are known: through communication, with clocks that differ, with and without records of
// who waited for what.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

const Table& TableOf(const Tables& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  EXPECT_NE(found, tables.end()) << name;
  return *found;
}

Tables Ask(TestTrace& trace) { return Analyse("critical-path", {&trace.View()}); }

// The rows of the path: "name kind bound_by duration".
std::vector<std::string> PathOf(TestTrace& trace) {
  const Tables tables = Ask(trace);
  const Table& path = TableOf(tables, "critical_path");
  std::vector<std::string> lines;
  for (size_t row = 0; row < path.rows(); ++row) {
    lines.push_back(Texts(path, "name")[row] + " " + Texts(path, "kind")[row] + " " +
                    Texts(path, "bound_by")[row] + " " +
                    std::to_string(Ints(path, "duration_ns")[row]));
  }
  return lines;
}

using Lines = std::vector<std::string>;

// --- clocks ---

// A step in which the device is busy to its end; the kernel seems to end 8 us after the call that
// waits for it, more than the launch allows as a skew.
void PlantDrift(TestTrace& trace) {
  trace.Launched("kernel", {0, 4'000}, {5'000, 903'000}, {.correlation = 1});
  trace.Runtime("cudaDeviceSynchronize", {10'000, 890'000});
  trace.Op("aten::after", {901'000, 99'000});
}

TEST(PlantedPathsTest, AWaitForWorkThatSeemsToEndAfterItIsOnThePath) {
  TestTrace trace;
  PlantDrift(trace);
  EXPECT_EQ(PathOf(trace),
            (Lines{"kernel launch_delay launch 5000", "kernel operator gpu_compute 895000",
                   "cudaDeviceSynchronize sync cpu 0", "(between events) dependency cpu 1000",
                   "aten::after operator cpu 99000"}));
  EXPECT_EQ(Csv(TableOf(Ask(trace), "clock_skew"),
                {"gpu", "skew_ns", "lowest_ns", "highest_ns", "inferred_waits", "contradicting"}),
            "gpu,skew_ns,lowest_ns,highest_ns,inferred_waits,contradicting\n0,0,-5000,-,1,1\n");
}

// The same with a clock that is 100 us ahead, and one that is 100 us late: the path is the same.
TEST(PlantedPathsTest, ASkewOfTheClockDoesNotChangeThePath) {
  const auto plant = [](TestTrace& trace, int64_t ahead_ns) {
    trace.Op("aten::before", {0, 200'000});
    trace.Launched("first", {200'000, 4'000}, {205'000 + ahead_ns, 300'000}, {.correlation = 1});
    trace.Launched("second", {210'000, 4'000}, {510'000 + ahead_ns, 90'000}, {.correlation = 2});
    trace.Runtime("cudaStreamSynchronize", {220'000, 390'000}, 3);
    trace.Sync("Stream Sync", {220'000 + ahead_ns, 380'000}, {.correlation = 3});
    trace.Op("aten::after", {610'000, 390'000});
  };
  TestTrace exact;
  plant(exact, 0);
  const Lines path = PathOf(exact);
  EXPECT_EQ(path,
            (Lines{"aten::before operator cpu 200000", "first launch_delay launch 5000",
                   "first operator gpu_compute 300000",
                   "second kernel_kernel_delay kernel_kernel_delay 5000",
                   "second operator gpu_compute 90000", "cudaStreamSynchronize sync cpu 10000",
                   "aten::after operator cpu 390000"}));
  TestTrace ahead;
  plant(ahead, 100'000);
  // Of the values that fit, the one nearest 0 is used: the call then returns with the work.
  EXPECT_EQ(Ints(TableOf(Ask(ahead), "clock_skew"), "skew_ns")[0], -90'000);
  TestTrace late;
  plant(late, -100'000);
  EXPECT_EQ(Ints(TableOf(Ask(late), "clock_skew"), "skew_ns")[0], 95'000);
  for (TestTrace* trace : {&ahead, &late}) {
    const Tables tables = Ask(*trace);
    EXPECT_EQ(Ints(TableOf(tables, "critical_path_summary"), "total_ns")[4], 390'000);  // compute
    EXPECT_EQ(Csv(TableOf(tables, "critical_path"), {"name", "bound_by"}),
              Csv(TableOf(Ask(exact), "critical_path"), {"name", "bound_by"}));
    EXPECT_EQ(Ints(TableOf(tables, "sync_quality"), "backward")[0], 0);
  }
}

TEST(PlantedPathsTest, ASkewDoesNotMakeTheRecordingLonger) {
  TestTrace trace;
  trace.Launched("kernel", {10'000, 2'000}, {4'000, 20'000}, {.correlation = 1});
  EXPECT_EQ(PathOf(trace),
            (Lines{"(nothing recorded) dependency wait 6000", "kernel launch_delay launch 0",
                   "kernel operator gpu_compute 14000"}));
}

// --- before the recording ---

// Of another stream, where it runs in the shadow of the first work that was launched later.
void PlantInherited(TestTrace& trace, int64_t begin_ns) {
  trace.Kernel("earlier", {begin_ns, 1'000}, {.correlation = 3, .stream = 21});
}

// Work launched at 2 us starts 500 us later on a device that has work from before the recording.
TEST(PlantedPathsTest, FirstWorkThatStartsLateWaitedForWorkFromBeforeTheRecording) {
  TestTrace trace;
  trace.Op("aten::first", {0, 20'000});
  trace.Launched("first", {2'000, 8'000}, {502'000, 98'000}, {.correlation = 11});
  trace.Launched("second", {30'000, 8'000}, {601'000, 99'000}, {.correlation = 12});
  PlantInherited(trace, 510'000);
  EXPECT_EQ(PathOf(trace),
            (Lines{"aten::first operator cpu 2000", "first launch_delay before_recording 500000",
                   "first operator gpu_compute 98000",
                   "second kernel_kernel_delay kernel_kernel_delay 1000",
                   "second operator gpu_compute 99000"}));
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(TableOf(tables, "critical_path_summary"), {"bound_by", "total_ns", "share"}),
            "bound_by,total_ns,share\ncpu,2000,0.01\ndata_load,0,0\nlaunch,0,0\n"
            "kernel_kernel_delay,1000,0.005\ngpu_compute,197000,0.985\ngpu_communication,0,0\n"
            "gpu_memory_copy,0,0\nwait,0,0\nbefore_recording,500000,-\n");
  EXPECT_EQ(Csv(TableOf(tables, "critical_ops"), {"name", "path_ns", "share"}),
            "name,path_ns,share\n(before_recording),500000,-\nsecond,99000,0.495\n"
            "first,98000,0.49\naten::first,2000,0.01\n(kernel_kernel_delay),1000,0.005\n");
}

TEST(PlantedPathsTest, NothingSaysThatWorkFromBeforeTheRecordingHeldItBack) {
  TestTrace trace;
  trace.Op("aten::first", {0, 20'000});
  trace.Launched("first", {2'000, 8'000}, {502'000, 98'000}, {.correlation = 11});
  EXPECT_EQ(PathOf(trace),
            (Lines{"aten::first operator cpu 2000", "first launch_delay launch 500000",
                   "first operator gpu_compute 98000"}));
}

TEST(PlantedPathsTest, AnOrdinaryDelayOrALongLaunchCallIsOfTheLaunch) {
  TestTrace ordinary;
  ordinary.Launched("first", {2'000, 8'000}, {101'000, 98'000}, {.correlation = 1});
  EXPECT_EQ(PathOf(ordinary)[0], "first launch_delay launch 99000");
  TestTrace long_call;
  long_call.Launched("first", {2'000, 700'000}, {703'000, 98'000}, {.correlation = 1});
  EXPECT_EQ(PathOf(long_call)[0], "first launch_delay launch 701000");
  TestTrace both;  // the call loads code, and then the device is busy with something else
  both.Launched("first", {2'000, 700'000}, {902'000, 98'000}, {.correlation = 11});
  PlantInherited(both, 910'000);
  EXPECT_EQ(PathOf(both)[0], "first launch_delay launch 700000");
  EXPECT_EQ(PathOf(both)[1], "first launch_delay before_recording 200000");
}

TEST(PlantedPathsTest, OnlyTheFirstWorkOfADeviceIsFromBeforeTheRecording) {
  TestTrace trace;
  trace.Launched("first", {2'000, 8'000}, {12'000, 8'000}, {.correlation = 1});
  trace.Launched("second", {30'000, 8'000}, {500'000, 98'000}, {.correlation = 2});
  const Tables tables = Ask(trace);
  const Table& summary = TableOf(tables, "critical_path_summary");
  ASSERT_EQ(Texts(summary, "bound_by").back(), "before_recording");
  EXPECT_EQ(Ints(summary, "total_ns").back(), 0);
}

TEST(PlantedPathsTest, AHostThatWaitsBeforeAnyWorkWaitsForWorkFromBeforeTheRecording) {
  TestTrace trace;
  trace.Op("aten::first", {0, 5'000});
  trace.Runtime("cudaDeviceSynchronize", {5'000, 295'000});
  trace.Launched("kernel", {310'000, 8'000}, {320'000, 80'000}, {.correlation = 11});
  PlantInherited(trace, 330'000);
  EXPECT_EQ(
      PathOf(trace),
      (Lines{"aten::first operator cpu 5000", "cudaDeviceSynchronize sync before_recording 295000",
             "(between events) dependency cpu 10000", "kernel launch_delay launch 10000",
             "kernel operator gpu_compute 80000"}));
}

TEST(PlantedPathsTest, AWindowWithinTheTimeBeforeTheFirstWorkIsAllOfIt) {
  TestTrace trace;
  trace.Launched("first", {0, 8'000}, {500'000, 100'000}, {.correlation = 11});
  PlantInherited(trace, 510'000);
  Params params;
  params.selection.range = TimeRange::Parse("+450us", "").value();
  const Tables tables = Analyse("critical-path", {&trace.View()}, params);
  EXPECT_EQ(Csv(TableOf(tables, "critical_path"), {"name", "bound_by", "duration_ns"}),
            "name,bound_by,duration_ns\nfirst,before_recording,50000\nfirst,gpu_compute,100000\n");
}

// --- communication ---

// Compute, a collective on its own stream that waits for it, and compute that waits for that. With
// records of the waits between the streams, or without them.
void PlantCollective(TestTrace& trace, bool is_recorded) {
  trace.Launched("forward", {0, 4'000}, {5'000, 200'000}, {.correlation = 1});
  trace.Runtime("cudaEventRecord", {5'000, 1'000}, 2);
  trace.Runtime("cudaStreamWaitEvent", {7'000, 1'000}, 3);
  trace.Launched("ncclDevKernel_AllReduce", {10'000, 4'000}, {210'000, 400'000},
                 {.correlation = 4, .stream = 20});
  trace.Runtime("cudaEventRecord", {15'000, 1'000}, 5);
  trace.Runtime("cudaStreamWaitEvent", {17'000, 1'000}, 6);
  trace.Launched("optimizer", {20'000, 4'000}, {617'000, 100'000}, {.correlation = 7});
  trace.Runtime("cudaDeviceSynchronize", {30'000, 690'000}, 8);
  if (is_recorded) {
    trace.StreamWait({7'500, 1}, {.correlation = 3, .stream = 20}, 7, 2);
    trace.StreamWait({17'500, 1}, {.correlation = 6, .stream = 7}, 20, 5);
    trace.Sync("Context Sync", {30'000, 690'000}, {.correlation = 8, .stream = -1});
  }
}

const char* const kPlantedCollective[] = {
    "forward launch_delay launch 5000", "forward operator gpu_compute 200000",
    "ncclDevKernel_AllReduce operator gpu_communication 400000",
    "optimizer operator gpu_compute 100000", "cudaDeviceSynchronize sync cpu 3000"};

TEST(PlantedPathsTest, ACollectiveThatWasWaitedForIsOnThePath) {
  TestTrace trace;
  PlantCollective(trace, true);
  EXPECT_EQ(PathOf(trace), (Lines{kPlantedCollective[0], kPlantedCollective[1],
                                  "ncclDevKernel_AllReduce sync kernel_kernel_delay 5000",
                                  kPlantedCollective[2], "optimizer sync kernel_kernel_delay 7000",
                                  kPlantedCollective[3], kPlantedCollective[4]}));
  const Tables tables = Ask(trace);
  EXPECT_EQ(Ints(TableOf(tables, "sync_quality"), "path_inferred_ns")[0], 0);
  EXPECT_EQ(Floats(TableOf(tables, "sync_quality"), "path_inferred_share")[0], 0);
}

TEST(PlantedPathsTest, ACollectiveThatADelayIsSpentOnIsOnThePathByInference) {
  TestTrace trace;
  PlantCollective(trace, false);
  EXPECT_EQ(PathOf(trace),
            (Lines{kPlantedCollective[0], kPlantedCollective[1],
                   "ncclDevKernel_AllReduce kernel_kernel_delay kernel_kernel_delay 5000",
                   kPlantedCollective[2], "optimizer kernel_kernel_delay kernel_kernel_delay 7000",
                   kPlantedCollective[3], kPlantedCollective[4]}));
  const Tables tables = Ask(trace);
  // Two delays, the work before each, and the inferred wait of the host for the last work.
  EXPECT_EQ(Ints(TableOf(tables, "sync_quality"), "path_inferred_ns")[0],
            5'000 + 200'000 + 7'000 + 400'000 + 3'000 + 100'000);
  EXPECT_EQ(Csv(TableOf(tables, "critical_path_summary"), {"bound_by", "total_ns", "inferred_ns"}),
            "bound_by,total_ns,inferred_ns\ncpu,3000,3000\ndata_load,0,0\nlaunch,5000,0\n"
            "kernel_kernel_delay,12000,12000\ngpu_compute,300000,300000\n"
            "gpu_communication,400000,400000\ngpu_memory_copy,0,0\nwait,0,0\n"
            "before_recording,0,0\n");
}

// Its launch was not recorded, nor was anything on its stream before it.
TEST(PlantedPathsTest, AnUnmatchedCollectiveIsOnThePathByInference) {
  TestTrace trace;
  trace.Launched("forward", {0, 4'000}, {5'000, 200'000}, {.correlation = 1});
  trace.Kernel("ncclDevKernel_AllReduce", {210'000, 400'000}, {.stream = 20});
  trace.Launched("optimizer", {20'000, 4'000}, {617'000, 100'000}, {.correlation = 7});
  EXPECT_EQ(PathOf(trace),
            (Lines{kPlantedCollective[0], kPlantedCollective[1],
                   "ncclDevKernel_AllReduce kernel_kernel_delay kernel_kernel_delay 5000",
                   kPlantedCollective[2], "optimizer kernel_kernel_delay kernel_kernel_delay 7000",
                   kPlantedCollective[3]}));
}

// A start is late by no more than is usual, or other work ends within that: nothing is inferred.
TEST(PlantedPathsTest, UsualDelaysAreNotInferred) {
  TestTrace trace;
  trace.Kernel("other", {0, 70'000}, {.stream = 20});
  trace.Launched("late", {50'000, 4'000}, {80'000, 100'000}, {.correlation = 1});
  EXPECT_EQ(PathOf(trace).front(), "(nothing recorded) dependency wait 50000");
  TestTrace later;
  later.Kernel("other", {0, 70'001}, {.stream = 20});
  later.Launched("late", {50'000, 4'000}, {80'000, 100'000}, {.correlation = 1});
  EXPECT_EQ(PathOf(later), (Lines{"other operator gpu_compute 70001",
                                  "late kernel_kernel_delay kernel_kernel_delay 9999",
                                  "late operator gpu_compute 100000"}));
}

// --- planted chains, with clocks that differ ---

// Work that alternates between two streams, each item after the one before; launched early, and
// waited for at the end. Every second item is a collective.
class Chain {
 public:
  explicit Chain(uint32_t seed) : random_(seed) {
    const int64_t count = Between(2, 9);
    int64_t now = kFirstLaunch + Between(3'000, 9'000);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t length = Between(30'000, 300'000);
      work_.push_back({now, length});
      now += length + Between(0, 15'000);
    }
    returned_ns_ = work_.back().ts_ns + work_.back().dur_ns + Between(1'000, 9'000);
  }

  // `ahead_ns`: what the clock of the device shows more than that of the host.
  void Plant(TestTrace& trace, int64_t ahead_ns, bool is_recorded) const {
    trace.Op("aten::before", {0, kFirstLaunch});
    int64_t number = 0;
    for (size_t i = 0; i < work_.size(); ++i) {
      const int64_t begin_ns = kFirstLaunch + 100 * static_cast<int64_t>(i);
      const int64_t launch = ++number;
      trace.Launched(NameOf(i), {begin_ns, 20}, {work_[i].ts_ns + ahead_ns, work_[i].dur_ns},
                     {.correlation = launch, .stream = StreamOf(i)});
      const int64_t record = ++number;
      const int64_t wait = ++number;
      trace.Runtime("cudaEventRecord", {begin_ns + 30, 10}, record);
      trace.Runtime("cudaStreamWaitEvent", {begin_ns + 50, 10}, wait);
      if (is_recorded) {
        trace.StreamWait({begin_ns + 50 + ahead_ns, 1},
                         {.correlation = wait, .stream = StreamOf(i + 1)}, StreamOf(i), record);
      }
    }
    const Span waiting{kFirstLaunch + 2'000, returned_ns_ - kFirstLaunch - 2'000};
    trace.Runtime("cudaDeviceSynchronize", waiting, ++number);
    if (is_recorded) {
      trace.Sync("Context Sync", {waiting.ts_ns + ahead_ns, waiting.dur_ns},
                 {.correlation = number, .stream = -1});
    }
    trace.Op("aten::after", {returned_ns_, 500'000});
  }

  // The work, by name and duration.
  Lines Work() const {
    Lines lines;
    for (size_t i = 0; i < work_.size(); ++i) {
      lines.push_back(std::string(NameOf(i)) + " " + std::to_string(work_[i].dur_ns));
    }
    return lines;
  }

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  static constexpr int64_t kFirstLaunch = 300'000;

  static const char* NameOf(size_t i) { return i % 2 == 0 ? "gemm" : "ncclDevKernel_AllReduce"; }
  static int64_t StreamOf(size_t i) { return i % 2 == 0 ? 7 : 20; }

  std::mt19937 random_;
  std::vector<Span> work_;
  int64_t returned_ns_ = 0;
};

Lines WorkOnPath(const Tables& tables) {
  const Table& path = TableOf(tables, "critical_path");
  Lines lines;
  for (size_t row = 0; row < path.rows(); ++row) {
    if (Texts(path, "kind")[row] == "operator" && Texts(path, "side")[row] == "device") {
      lines.push_back(std::string(Texts(path, "name")[row]) + " " +
                      std::to_string(Ints(path, "duration_ns")[row]));
    }
  }
  return lines;
}

TEST(PlantedPathsTest, PlantedChainsAreRecoveredWhateverTheClock) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Chain chain(seed);
    const int64_t ahead_ns = seed % 3 == 0 ? 0 : chain.Between(-100'000, 100'000);
    for (const bool is_recorded : {true, false}) {
      TestTrace trace;
      chain.Plant(trace, ahead_ns, is_recorded);
      const Tables tables = Ask(trace);
      ASSERT_EQ(WorkOnPath(tables), chain.Work()) << seed << " " << ahead_ns << " " << is_recorded;
      const int64_t inferred_ns = Ints(TableOf(tables, "sync_quality"), "path_inferred_ns")[0];
      ASSERT_EQ(inferred_ns == 0, is_recorded) << seed;
      const int64_t skew_ns = Ints(TableOf(tables, "clock_skew"), "skew_ns")[0];
      ASSERT_LE(std::abs(skew_ns + ahead_ns), 9'000) << seed;  // as far as the pairs can show
      ASSERT_EQ(Ints(TableOf(tables, "sync_quality"), "backward")[0], 0) << seed;
    }
  }
}

}  // namespace
}  // namespace borescope::internal
