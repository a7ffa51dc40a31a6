#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/table/table_ops.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kUs = 1000;
constexpr std::string_view kCausesHead =
    "rank,gpu,idle_ns,gaps,head_ns,tail_ns,before_recording_ns,inherited_ns,sync_ns,data_ns,host_"
    "ns,"
    "launch_call_ns,latency_ns,device_ns,unrecorded_ns,unknown_ns\n";

Span Us(int64_t ts_us, int64_t dur_us) { return {ts_us * kUs, dur_us * kUs}; }

std::string Finding(const Tables& tables, size_t row) {
  return Texts(tables[0], "finding")[row] + " | " + Texts(tables[0], "severity")[row] + " | " +
         Texts(tables[0], "evidence")[row];
}

// The verdict, a line each.
std::string AllOf(const Tables& tables) {
  std::string all;
  for (size_t row = 0; row < tables[0].rows(); ++row) {
    all += Finding(tables, row) + "\n";
  }
  return all;
}

// Of the verdict; as many as it has where nothing was found under that title.
size_t RowOf(const Tables& tables, std::string_view title) {
  const StringValues& titles = Texts(tables[0], "finding");
  size_t row = 0;
  while (row < titles.size() && titles[row] != title) {
    ++row;
  }
  return row;
}

bool Holds(const Tables& tables, std::string_view title) {
  return RowOf(tables, title) < tables[0].rows();
}

const Table& Named(const Tables& tables, std::string_view name) {
  return *std::find_if(tables.begin(), tables.end(),
                       [name](const Table& table) { return table.name == name; });
}

TEST(SummaryTest, NamesTheCauseOfEachGap) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000));
  trace.Launched("gemm", Us(10, 5), Us(20, 80), {1, 7, 0});
  trace.Launched("gemm", Us(30, 5), Us(110, 40), {2, 7, 0});    // latency: 10
  trace.Launched("gemm", Us(190, 5), Us(200, 100), {3, 7, 0});  // host: 40, latency: 10
  trace.Runtime("cudaDeviceSynchronize", Us(250, 51));
  trace.Launched("gemm", Us(320, 5), Us(330, 100), {4, 7, 0});  // sync: 20, latency: 10
  trace.Annotation("enumerate(DataLoader)#x.__next__", Us(425, 60));
  trace.Launched("gemm", Us(500, 5), Us(510, 90), {5, 7, 0});  // data: 70, latency: 10
  trace.Kernel("gemm", Us(620, 180), {99, 7, 0});              // unknown: 20
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Csv(Named(tables, "idle_causes")),
            std::string(kCausesHead) +
                "0,0,410000,5,10000,200000,0,0,20000,70000,40000,0,50000,0,0,20000\n");
  EXPECT_EQ(
      Finding(tables, 0),
      "The device idles after its last work | warning | after the last device work: 200 us of "
      "1.0 ms (20.0 %); idle 410 us of 1.0 ms (41.0 %); host loading data: 70.0 us, next work not "
      "launched yet: 40.0 us");
}

// Had the host not waited for 51 us, it would have launched 31 us before the gap, and the 10 us
// that the launch takes would have passed while the device worked: they are of the wait, and those
// of other launches are not.
TEST(SummaryTest, TheLatencyOfALaunchAfterAWaitIsOfTheWait) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000));
  int64_t correlation = 0;
  for (int64_t at_us = 0; at_us < 1000; at_us += 100) {
    trace.Launched("gemm", Us(at_us, 5), Us(at_us + 10, 70), {++correlation, 7, 0});
    trace.Runtime("cudaDeviceSynchronize", Us(at_us + 30, 51));
  }
  trace.Launched("gemm", Us(1000, 5), Us(1010, 70), {++correlation, 7, 0});
  const Tables tables = Analyse("summary", {&trace.View()});
  // Ten gaps of 30 us: 20 up to the launch, and 10 after it.
  const std::string finding = Finding(tables, 0);
  EXPECT_TRUE(
      finding.starts_with("The device idles after synchronisation | warning | host had "
                          "waited for the device: 300 us of "))
      << finding;
  EXPECT_NE(finding.find(", with 100 us for the launches after it"), std::string::npos) << finding;
  EXPECT_EQ(Ints(Named(tables, "idle_causes"), "sync_ns")[0], 200000);
  // And 10 before the first work.
  EXPECT_EQ(Ints(Named(tables, "idle_causes"), "latency_ns")[0], 110000);
}

// Had the host not waited, it would have launched earlier by as long as it waited, and no more.
TEST(SummaryTest, WhatTheHostDoesAfterAWaitIsNotTheWait) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000));
  trace.Launched("gemm", Us(0, 5), Us(10, 90), {1, 7, 0});
  trace.Runtime("cudaDeviceSynchronize", Us(80, 21));
  trace.Launched("gemm", Us(400, 5), Us(410, 90), {2, 7, 0});   // sync: 21, host: 279
  trace.Launched("gemm", Us(420, 5), Us(510, 90), {3, 7, 0});   // latency: 10
  trace.Launched("gemm", Us(690, 5), Us(700, 300), {4, 7, 0});  // host: 90
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Csv(Named(tables, "idle_causes")),
            std::string(kCausesHead) + "0,0,430000,3,0,0,0,0,21000,0,369000,0,40000,0,0,0\n");
  EXPECT_EQ(Finding(tables, 0),
            "The device idles in one long gap | warning | 300 us of 1.0 ms (30.0 %) in one gap on "
            "rank 0, GPU 0, the host mostly in `all`; host had waited for the device: 21.0 us; "
            "idle 430 us of 1.0 ms (43.0 %); next work not launched yet: 90.0 us, launch latency: "
            "40.0 us");
  EXPECT_DOUBLE_EQ(Floats(tables[0], "value")[0], 0.3);
}

// Work that begins long after its launch on a device that has work from before the recording.
TEST(SummaryTest, WorkFromBeforeTheRecordingIsNotIdleTime) {
  TestTrace trace;
  trace.Op("all", Us(0, 1200));
  trace.Launched("gemm", Us(10, 5), Us(1010, 180), {.correlation = 11});
  trace.Kernel("earlier", Us(1020, 10), {.correlation = 3, .stream = 8});
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(
      Csv(Named(tables, "idle_causes"), {"idle_ns", "head_ns", "before_recording_ns", "tail_ns"}),
      "idle_ns,head_ns,before_recording_ns,tail_ns\n1020000,10000,1000000,10000\n");
  EXPECT_EQ(Csv(Named(tables, "left_out"),
                {"before_first_launch_ns", "after_last_work_ns", "before_recording_ns"}),
            "before_first_launch_ns,after_last_work_ns,before_recording_ns\n0,0,1000000\n");
  EXPECT_EQ(
      Finding(tables, 0),
      "The device idles before its first work | warning | before the first launch: 10.0 us of 200 "
      "us (5.0 %), the host mostly in `all`; idle 20.0 us of 200 us (10.0 %); after the last "
      "device work: 10.0 us; without 1.0 ms of idle time beside work from before the recording");
  EXPECT_TRUE(Holds(tables, "The device is well used"));
}

// Nothing says why: it is no work from before the recording, and stays in the shares.
TEST(SummaryTest, WorkThatBeginsLateIsAFinding) {
  TestTrace trace;
  trace.Op("all", Us(0, 1200));
  trace.Launched("gemm", Us(10, 5), Us(1010, 180), {.correlation = 11});
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Csv(Named(tables, "idle_causes"),
                {"head_ns", "before_recording_ns", "unrecorded_ns", "tail_ns"}),
            "head_ns,before_recording_ns,unrecorded_ns,tail_ns\n10000,0,1000000,10000\n");
  EXPECT_EQ(Finding(tables, 0),
            "The device begins late, for an unknown reason | warning | the first work launched, "
            "and not begun: 1.0 ms of 1.2 ms (83.3 %); idle 1.0 ms of 1.2 ms (85.0 %); before the "
            "first launch: 10.0 us, after the last device work: 10.0 us");
}

TEST(SummaryTest, CopiesWithoutRecordsAreNoWaits) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000));
  trace.Launched("gemm", Us(10, 5), Us(20, 180), {.correlation = 11});
  trace.Runtime("hipMemcpy", Us(50, 500), 12);
  trace.Launched("gemm", Us(560, 5), Us(570, 430), {.correlation = 13});
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Csv(Named(tables, "idle_causes"), {"sync_ns", "host_ns", "unrecorded_ns"}),
            "sync_ns,host_ns,unrecorded_ns\n0,10000,350000\n");
  EXPECT_EQ(Finding(tables, 0),
            "Copies were not recorded, and may be what the device did | warning | host in calls "
            "that copy, without a record of the copy: 350 us of 1.0 ms (35.0 %); idle 390 us of "
            "1.0 ms (39.0 %); launch latency: 20.0 us, next work not launched yet: 10.0 us");
  EXPECT_TRUE(Holds(tables, "The recording has faults"));
}

// A copy from pageable memory blocks; one that is waited for may run until then.
TEST(SummaryTest, AsynchronousCopiesWithoutRecordsAreNoWorkOfTheHost) {
  TestTrace trace;
  trace.Op("all", Us(0, 2000));
  trace.Launched("gemm", Us(10, 5), Us(20, 180), {.correlation = 11});
  trace.Runtime("cudaMemcpyAsync", Us(210, 500), 12);
  trace.Launched("gemm", Us(720, 5), Us(730, 470), {.correlation = 13});
  trace.Runtime("cudaMemcpyAsync", Us(1210, 5), 14);
  trace.Runtime("cudaStreamSynchronize", Us(1220, 300), 15);
  trace.Launched("gemm", Us(1530, 5), Us(1540, 460), {.correlation = 16});
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Csv(Named(tables, "idle_causes"), {"sync_ns", "host_ns", "unrecorded_ns"}),
            "sync_ns,host_ns,unrecorded_ns\n0,40000,810000\n");
  EXPECT_TRUE(Finding(tables, 0).starts_with(
      "Copies were not recorded, and may be what the device did | warning | host in calls that "
      "copy, without a record of the copy: 810 us of 2.0 ms (40.5 %)"))
      << Finding(tables, 0);
}

TEST(SummaryTest, TheFirstLaunchWaitsForWhatTheHostDoes) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000)).Python("preprocess", Us(20, 400));
  trace.Launched("gemm", Us(500, 5), Us(510, 490), {1, 7, 0});
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Finding(tables, 0),
            "The device idles before its first work | warning | before the first launch: 500 us of "
            "1.0 ms (50.0 %), the host mostly in `preprocess`; idle 510 us of 1.0 ms (51.0 %); "
            "launch latency: 10.0 us");
}

// Of a finding.
std::string HelpOf(const Tables& tables, std::string_view title) {
  const size_t row = RowOf(tables, title);
  return row < tables[0].rows() ? Texts(tables[0], "help")[row] : std::string();
}

// A program in C++ under Nsight Systems: it starts, works for a while, and ends.
TestTrace PlainProgram(std::string_view kernel) {
  TestTrace trace;
  trace.meta().format = TraceFormat::kNsys;
  trace.LibraryCall("read", Us(0, 700));
  trace.Launched(kernel, Us(790, 5), Us(800, 20), {1, 7, 0});
  trace.LibraryCall("poll", Us(821, 48));
  trace.Launched(kernel, Us(870, 5), Us(880, 20), {2, 7, 0});
  trace.Runtime("cudaMemcpyAsync", Us(902, 2), 3);
  trace.Memcpy("Memcpy HtoD (Pageable -> Device)", Us(905, 40), {3, 7, 0});
  trace.LibraryCall("poll", Us(946, 48));
  trace.Launched(kernel, Us(995, 5), Us(1005, 40), {4, 7, 0});
  trace.LibraryCall("munmap", Us(1100, 1900));
  return trace;
}

TEST(SummaryTest, StartAndEndOfAProcessAreNotTheVerdict) {
  TestTrace trace = PlainProgram("saxpy(double*)");
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(AllOf(tables),
            "The device idles while the host is busy | warning | next work not launched yet: 102 "
            "us of 255 us (40.0 %), the host mostly in `poll`; idle 135 us of 255 us (52.9 %); "
            "launch latency: 33.0 us; without 790 us before the first launch and 2.0 ms after the "
            "last device work\n"
            "Copies are not hidden behind compute | warning | exposed 40.0 us of 255 us (15.7 %); "
            "most in Memcpy HtoD (Pageable -> Device): 1 copy, 40.0 us\n"
            "The device idles for the latency of launches | warning | launch latency: 33.0 us of "
            "255 us (12.9 %)\n"
            "The process starts and ends in the recording | info | 2.7 ms of 3.0 ms (91.5 %): 790 "
            "us before the first launch, the host mostly in `read`, 2.0 ms after the last device "
            "work\n");
}

TEST(SummaryTest, OptionsOfPyTorchAreAdviceForItsProgramsOnly) {
  constexpr std::string_view kCopies = "Copies are not hidden behind compute";
  TestTrace plain = PlainProgram("saxpy(double*)");
  TestTrace pytorch = PlainProgram("void at::native::elementwise_kernel<4>()");
  const Tables of_plain = Analyse("summary", {&plain.View()});
  const Tables of_pytorch = Analyse("summary", {&pytorch.View()});
  EXPECT_EQ(HelpOf(of_plain, kCopies).find("pin_memory"), std::string::npos);
  EXPECT_NE(HelpOf(of_plain, kCopies).find("page-locked"), std::string::npos);
  EXPECT_NE(HelpOf(of_pytorch, kCopies).find("pin_memory=True"), std::string::npos);
  for (size_t row = 0; row < of_plain[0].rows(); ++row) {
    const std::string& help = Texts(of_plain[0], "help")[row];
    for (const std::string_view word : {"torch", "pin_memory", ".item()", "--step", "ProfilerA"}) {
      EXPECT_EQ(help.find(word), std::string::npos) << help;
    }
  }
}

TEST(SummaryTest, WhoeverRecordedTheHostIsNotToldToRecordIt) {
  constexpr std::string_view kTitle = "The device idles, and launches are not recorded";
  TestTrace with_host;
  with_host.Op("all", Us(0, 1000)).Kernel("a", Us(0, 100)).Kernel("b", Us(600, 400));
  TestTrace without_host;
  without_host.Kernel("a", Us(0, 100)).Kernel("b", Us(600, 400));
  const Tables lacks_launches = Analyse("summary", {&with_host.View()});
  const Tables lacks_host = Analyse("summary", {&without_host.View()});
  EXPECT_TRUE(
      HelpOf(lacks_launches, kTitle).starts_with("The host was recorded, but not the calls"))
      << HelpOf(lacks_launches, kTitle);
  EXPECT_TRUE(HelpOf(lacks_host, kTitle).starts_with("Record the host as well"))
      << HelpOf(lacks_host, kTitle);
}

TEST(SummaryTest, ALongLaunchCallIsNoLateHost) {
  TestTrace trace;
  trace.Op("all", Us(0, 2000)).Launched("add", Us(0, 5), Us(10, 90), {1, 7, 0});
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t begin = 110 + 600 * i;
    trace.Launched("add", Us(begin, 450), Us(begin + 455, 100), {i + 2, 7, 0});
  }
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_TRUE(Finding(tables, 0).starts_with("The device idles during long launch calls | warning"))
      << Finding(tables, 0);
  EXPECT_EQ(Csv(Named(tables, "idle_causes"), {"launch_call_ns", "latency_ns", "host_ns"}),
            "launch_call_ns,latency_ns,host_ns\n1350000,25000,100000\n");
}

TEST(SummaryTest, WorkHeldBackByWhatWasNotRecordedIsNoLateHost) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000)).Launched("add", Us(0, 5), Us(5, 5), {1, 7, 0});
  trace.Launched("gemm", Us(12, 5), Us(910, 90), {2, 7, 0});
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_TRUE(Finding(tables, 0).starts_with(
      "Launched work waits for something that was not recorded | warning | launched work held back "
      "by what was not recorded: 898 us of 1.0 ms (89.8 %); idle 905 us of 1.0 ms"))
      << Finding(tables, 0);
  EXPECT_EQ(Csv(Named(tables, "idle_causes"), {"host_ns", "unrecorded_ns"}),
            "host_ns,unrecorded_ns\n2000,898000\n");
}

// Of several devices the gap is a part of the span of its own.
TEST(SummaryTest, OneLongGapIsAPartOfItsDevice) {
  TestTrace a;
  TestTrace b;
  a.Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(2, 990), {1, 7, 0});
  b.Op("all", Us(0, 2000)).Launched("gemm", Us(0, 1), Us(2, 98), {1, 7, 3});
  b.Launched("gemm", Us(105, 1), Us(110, 90), {2, 7, 3});
  b.Launched("gemm", Us(1395, 1), Us(1400, 600), {3, 7, 3});
  const Tables tables = Analyse("summary", {&a.View(0), &b.View(1)});
  EXPECT_TRUE(Finding(tables, 0).starts_with(
      "The device idles in one long gap | warning | 1.2 ms of 2.0 ms (59.8 %) in "
      "one gap on rank 1, GPU 3, the host mostly in `all`; idle 1.2 ms of 3.0 ms (40.7 %); "
      "launch latency: 14.0 us"))
      << Finding(tables, 0);
  EXPECT_DOUBLE_EQ(Floats(tables[0], "value")[0], 0.5975);
}

// Where a finding is seen: rank, GPU, step, begin and end.
std::string PlaceOf(const Tables& tables, std::string_view title) {
  const size_t row = RowOf(tables, title);
  const Table one = row < tables[0].rows()
                        ? TakeRows(tables[0], std::vector{static_cast<uint32_t>(row)})
                        : Head(tables[0], 0);
  const std::string lines = Csv(one, {"where", "rank", "gpu", "step", "begin_ns", "end_ns"});
  return lines.substr(lines.find('\n') + 1);
}

// The longest time of the cause on any device, however much of it others have.
TEST(SummaryTest, FindingsLeadToTheirStrongestEvidence) {
  TestTrace a;
  TestTrace b;
  a.Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(1, 500), {1, 7, 0});
  for (int64_t i = 0; i < 9; ++i) {  // 37 to 40 of the host each
    a.Launched("add", Us(50 * i + 541, 1), Us(50 * i + 542, 12), {i + 2, 7, 0});
  }
  b.Op("all", Us(5000, 1000)).Launched("gemm", Us(5000, 1), Us(5002, 398), {1, 7, 3});
  b.Launched("gemm", Us(5469, 1), Us(5470, 430), {2, 7, 3});
  b.Launched("gemm", Us(5965, 1), Us(5966, 34), {3, 7, 3});
  const Tables tables = Analyse("summary", {&a.View(0), &b.View(1)});
  EXPECT_EQ(PlaceOf(tables, "The device idles while the host is busy"),
            "rank 1, GPU 3, +0.400ms to +0.469ms,1,3,-,5400000,5469000\n");
  EXPECT_EQ(PlaceOf(tables, "One kernel takes a large part of the kernel time"),
            "rank 0, GPU 0, +0.001ms to +0.501ms,0,0,-,1000,501000\n");
  EXPECT_EQ(PlaceOf(tables, "More could be told from a fuller recording"), "-,-,-,-,-,-\n");
}

// A gap that is a finding of its own is not that of another; nor does it hide the rest of its
// device.
TEST(SummaryTest, TheLongGapIsNoPlaceOfOtherCauses) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(1, 50), {1, 7, 0});
  trace.Launched("gemm", Us(450, 1), Us(451, 20), {2, 7, 0});  // host: 399
  int64_t end_us = 471;
  for (int64_t i = 0; i < 9; ++i) {  // host: 30 each, and once 40
    const int64_t launch_us = end_us + (i == 4 ? 40 : 30);
    trace.Launched("gemm", Us(launch_us, 1), Us(launch_us + 1, 20), {i + 3, 7, 0});
    end_us = launch_us + 21;
  }
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(PlaceOf(tables, "The device idles in one long gap"),
            "rank 0, GPU 0, +0.051ms to +0.450ms,0,0,-,51000,450000\n");
  EXPECT_EQ(PlaceOf(tables, "The device idles while the host is busy"),
            "rank 0, GPU 0, +0.675ms to +0.715ms,0,0,-,675000,715000\n");
}

// Of rank 1 the whole process was recorded, so that its head, which is longest, is left out.
TEST(SummaryTest, WhatIsLeftOutIsNoPlace) {
  TestTrace traces[2];
  traces[0].Op("all", Us(0, 1000)).Launched("gemm", Us(300, 1), Us(301, 699), {1, 7, 0});
  traces[1].Op("all", Us(0, 2000)).Launched("gemm", Us(900, 1), Us(901, 1099), {1, 7, 0});
  traces[1].meta().format = TraceFormat::kNsys;
  const Tables tables = Analyse("summary", {&traces[0].View(0), &traces[1].View(1)});
  EXPECT_EQ(PlaceOf(tables, "The device idles before its first work"),
            "rank 0, GPU 0, +0.000ms to +0.300ms,0,0,-,0,300000\n");
  EXPECT_EQ(PlaceOf(tables, "The process starts and ends in the recording"),
            "rank 1, GPU 0, +0.000ms to +0.900ms,1,0,-,0,900000\n");
}

// The first of several reasons may be made of several itself.
TEST(SummaryTest, SeveralReasonsLeadToTheFirst) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000)).Launched("gemm", Us(40, 1), Us(44, 846), {1, 7, 0});
  for (int64_t i = 0; i < 5; ++i) {  // latency: 9, and once 10
    const int64_t launch_us = 890 + 13 * i;
    trace.Launched("add", Us(launch_us, 1), Us(launch_us + (i == 2 ? 10 : 9), 13 - 9),
                   {i + 2, 7, 0});
  }
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_NE(AllOf(tables).find("waits for launches of less than"), std::string::npos)
      << AllOf(tables);
  EXPECT_EQ(PlaceOf(tables, "The device idles for several reasons"),
            "rank 0, GPU 0, +0.916ms to +0.926ms,0,0,-,916000,926000\n");
}

TEST(SummaryTest, AFindingAboutStepsLeadsToTheSlowest) {
  TestTrace trace;
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t begin_us = 1000 + 100 * step;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(begin_us, step == 3 ? 300 : 100));
    trace.Launched("gemm", Us(begin_us, 5), Us(begin_us + 10, 90), {step + 1, 7, 0});
  }
  EXPECT_EQ(PlaceOf(Analyse("summary", {&trace.View()}), "Steps differ in length"),
            "rank 0, step 3, +0.300ms to +0.600ms,0,-,3,1300000,1600000\n");
}

// It stands out among the two of its rank, and is nothing beside the 89 of the other one.
TEST(SummaryTest, OneLongGapIsMostOfTheCauseOnAllRanks) {
  TestTrace a;
  TestTrace b;
  a.Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(1, 500), {1, 7, 0});
  a.Launched("gemm", Us(530, 1), Us(531, 100), {2, 7, 0});  // host: 30
  a.Launched("gemm", Us(632, 1), Us(633, 367), {3, 7, 0});  // host: 2
  b.Op("all", Us(0, 1000));
  for (int64_t i = 0; i < 90; ++i) {  // host: 89 gaps of 5
    b.Launched("add", Us(11 * i + 4, 1), Us(11 * i + 5, 6), {i + 1, 7, 0});
  }
  const Tables tables = Analyse("summary", {&a.View(0), &b.View(1)});
  EXPECT_TRUE(Finding(tables, 0).starts_with(
      "Launch-bound: short kernels, slow launches | warning | waits for launches of less than "
      "100 us each: 479 us of 2.0 ms (23.9 %)"))
      << Finding(tables, 0);
  EXPECT_FALSE(Holds(tables, "The device idles in one long gap"));
  EXPECT_DOUBLE_EQ(Floats(tables[0], "value")[0], 0.2395);
}

// Ranks that all wait for their set-up wait for one thing.
TEST(SummaryTest, EachDeviceMayHaveItsLongGap) {
  TestTrace traces[3];
  for (int64_t rank = 0; rank < 2; ++rank) {
    TestTrace& trace = traces[rank];
    const int64_t begin = 600 + 100 * rank;
    trace.Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(2, 98), {1, 7, rank});
    trace.Launched("gemm", Us(105, 1), Us(110, 90), {2, 7, rank});
    trace.Launched("gemm", Us(begin - 5, 1), Us(begin, 1000 - begin), {3, 7, rank});
  }
  traces[2].Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(2, 990), {1, 7, 2});
  const Tables tables =
      Analyse("summary", {&traces[0].View(0), &traces[1].View(1), &traces[2].View(2)});
  EXPECT_TRUE(Finding(tables, 0).starts_with(
      "The device idles in one long gap | warning | 890 us of 2.0 ms (44.5 %) in "
      "one gap on each of 2 devices, longest on rank 1, GPU 1, the host mostly in `all`; idle 934 "
      "us of 3.0 ms (31.1 %)"))
      << Finding(tables, 0);
  EXPECT_DOUBLE_EQ(Floats(tables[0], "value")[0], 0.445);
}

// Of all time 8 % are idle, which is a hint; of the device with the gap 13.9 %.
TEST(SummaryTest, ALongGapIsAsGraveAsItsShare) {
  TestTrace a;
  TestTrace b;
  a.Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(0, 421), {1, 7, 0});
  a.Launched("gemm", Us(560, 1), Us(571, 300), {2, 7, 0});  // host: 139
  a.Launched("gemm", Us(875, 1), Us(881, 119), {3, 7, 0});  // host: 4
  b.Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(0, 1000), {1, 7, 0});
  const Tables tables = Analyse("summary", {&a.View(0), &b.View(1)});
  const size_t row = RowOf(tables, "The device idles in one long gap");
  ASSERT_LT(row, tables[0].rows());
  EXPECT_TRUE(
      Finding(tables, row)
          .starts_with("The device idles in one long gap | warning | 139 us of 1.0 ms (13.9 %) in "
                       "one gap on rank 0, GPU 0, the host mostly in `all`; idle 160 us of 2.0 ms "
                       "(8.0 %)"))
      << Finding(tables, row);
  EXPECT_DOUBLE_EQ(Floats(tables[0], "value")[row], 0.139);
}

// The gap is 5.5 %, but 16 % are idle.
TEST(SummaryTest, TheFirstCauseIsAsGraveAsAllIdleTime) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000)).Launched("gemm", Us(40, 1), Us(50, 300), {1, 7, 0});
  trace.Launched("add", Us(355, 1), Us(360, 5), {2, 7, 0});  // host: 5
  trace.Launched("add", Us(362, 1), Us(365, 5), {3, 7, 0});
  trace.Launched("add", Us(425, 1), Us(430, 5), {4, 7, 0});  // host: 55
  trace.Launched("gemm", Us(427, 1), Us(435, 525), {5, 7, 0});
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Finding(tables, 0),
            "The device idles in one long gap | warning | 55.0 us of 1.0 ms (5.5 %) in one gap on "
            "rank 0, GPU 0, the host mostly in `all`; idle 160 us of 1.0 ms (16.0 %); before the "
            "first launch: 40.0 us, after the last device work: 40.0 us");
  EXPECT_DOUBLE_EQ(Floats(tables[0], "value")[0], 0.055);
}

// One long gap of another cause says nothing of many short ones.
TEST(SummaryTest, TheLongestGapIsOneOfTheCause) {
  TestTrace trace;
  trace.Op("all", Us(0, 4000));
  for (int64_t i = 0; i < 20; ++i) {  // host: 19 gaps of 95
    trace.Launched("gemm", Us(i * 105 + 10, 2), Us(i * 105 + 15, 5), {i + 1, 7, 0});
  }
  trace.Annotation("enumerate(DataLoader)#x.__next__", Us(2016, 1750));
  trace.Launched("gemm", Us(3770, 2), Us(3775, 225), {30, 7, 0});  // data: 1,755
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_TRUE(Finding(tables, 0).starts_with("Launch-bound")) << Finding(tables, 0);
}

TEST(SummaryTest, LaunchBound) {
  TestTrace trace;
  for (int64_t i = 0; i < 10; ++i) {
    trace.Launched("add", Us(20 * i, 8), Us(20 * i + 9, 4), {i + 1, 7, 0});
  }
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Finding(tables, 0),
            "Launch-bound: short kernels, slow launches | warning | waits for launches of less "
            "than 100 us each: 153 us of 193 us (79.3 %); 10 of 10 kernels are shorter than 10 us; "
            "idle 153 us of 193 us (79.3 %)");
}

TEST(SummaryTest, GoodUseIsSaid) {
  TestTrace trace;
  trace.Op("all", Us(0, 100)).Launched("gemm", Us(0, 1), Us(2, 97), {1, 7, 0});
  EXPECT_EQ(Finding(Analyse("summary", {&trace.View()}), 0),
            "The device is well used | ok | computing 97.0 us of 100 us (97.0 %)");
}

// One launch of many that is most of the work is no habit of the program.
TEST(SummaryTest, OneLaunchMakesNoGoodUse) {
  TestTrace trace;
  trace.Op("all", Us(0, 2640));
  for (int64_t i = 0; i < 64; ++i) {
    const int64_t begin_us = i < 30 ? 2 + i * 10 : 2000 + i * 10;
    trace.Launched("gemm", Us(i, 1), Us(begin_us, i == 29 ? 2000 : 9), {i + 1, 7, 0});
  }
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_FALSE(Holds(tables, "The device is well used"));
  EXPECT_TRUE(Holds(tables, "A few launches take a large part of the kernel time"));
}

TEST(SummaryTest, ExposedCommunicationAndPageableCopies) {
  TestTrace trace;
  trace.Op("all", Us(0, 100));
  trace.Launched("gemm", Us(0, 1), Us(1, 50), {1, 7, 0});
  trace.Launched("ncclDevKernel_AllReduce", Us(2, 1), Us(41, 40), {2, 9, 0});
  trace.Runtime("cudaMemcpyAsync", Us(4, 1), 3);
  trace.Memcpy("Memcpy HtoD (Pageable -> Device)", Us(81, 18), {3, 7, 0});
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(
      Finding(tables, 0),
      "Communication is not hidden behind compute | warning | exposed 30.0 us of 100 us (30.0 "
      "%); all communication 40.0 us");
  EXPECT_EQ(Finding(tables, 1),
            "Copies are not hidden behind compute | warning | exposed 18.0 us of 100 us (18.0 %); "
            "most in Memcpy HtoD (Pageable -> Device): 1 copy, 18.0 us");
}

TEST(SummaryTest, SlowStepAndUnevenRanks) {
  TestTrace a;
  TestTrace b;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t begin = i == 0 ? 0 : 100 + 100 * i;
    a.Annotation("ProfilerStep#" + std::to_string(i), Us(begin, i == 0 ? 200 : 100));
  }
  a.Launched("gemm", Us(1, 1), Us(2, 198), {1, 7, 0});
  a.Launched("gemm", Us(201, 1), Us(202, 98), {2, 7, 0});
  a.Launched("gemm", Us(301, 1), Us(302, 94), {3, 7, 0});
  b.Op("all", Us(0, 400)).Launched("gemm", Us(1, 1), Us(2, 200), {1, 7, 0});
  const Tables tables = Analyse("summary", {&a.View(0), &b.View(1)});
  const std::string all = AllOf(tables);
  EXPECT_NE(all.find("compute 200 us on rank 1, 390 us on rank 0; 1.32 x the mean of 295 us"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("step 0 of rank 0 takes 200 us, 2.00 x the median of 100 us"),
            std::string::npos)
      << all;
}

// Of four ranks one comes 30 us later than the others; what it wins or loses itself is no matter.
Tables SummaryOfFour(int64_t late_us) {
  TestTrace traces[4];
  const RankView* views[4];
  for (int64_t rank = 0; rank < 4; ++rank) {
    const int64_t late = rank == 2 ? late_us : 0;
    traces[rank].Op("all", Us(0, 200)).Launched("gemm", Us(1, 1), Us(2, 100 + late), {1, 7, 0});
    traces[rank].Launched("ncclDevKernel_AllReduce(x)", Us(3, 1), Us(102 + late, 60 - late),
                          {2, 20, 0});
    views[rank] = &traces[rank].View(rank);
  }
  return Analyse("summary", {views[0], views[1], views[2], views[3]});
}

// A fault of the recording is not less of a warning than what costs time.
TEST(SummaryTest, WarningsAboutTheRecordingComeBeforeHints) {
  TestTrace trace;
  trace.Runtime("cudaLaunchKernel", Us(0, 1), 1).Kernel("gemm", Us(2, 990), {1, 7, 0});
  trace.Runtime("cudaLaunchKernel", Us(3, 1), 2).Kernel("add", Us(993, 7), {2, 7, 0});
  const Tables tables = Analyse("summary", {&trace.View()});
  const StringValues& severities = Texts(tables[0], "severity");
  EXPECT_TRUE(Finding(tables, 0).starts_with("The recording has faults | warning"))
      << Finding(tables, 0);
  for (size_t row = 1; row < severities.size(); ++row) {
    EXPECT_TRUE(severities[row] == "info" || severities[row] == "ok") << severities[row];
  }
  EXPECT_TRUE(Holds(tables, "One kernel takes a large part of the kernel time"));
  EXPECT_TRUE(Finding(tables, 1).starts_with("The device is well used"));
}

TEST(SummaryTest, AStragglerIsNamed) {
  const Tables tables = SummaryOfFour(30);
  const std::string all = AllOf(tables);
  EXPECT_NE(all.find("One rank makes the others wait | warning | rank 2: last in 1 of 1 "
                     "collectives; the others waited 90.0 us for it (100.0 % of all waiting); "
                     "ranks that waited lost 15.0 % of their time on average"),
            std::string::npos)
      << all;
  EXPECT_EQ(tables[4].name, "breakdown_spread");
  EXPECT_EQ(tables[5].name, "stragglers");
}

// Rank 0 waits 80 us for rank 1, beside a kernel of this length that begins 20 us before.
Tables SummaryOfWaiting(int64_t kernel_us) {
  TestTrace traces[2];
  for (int64_t rank = 0; rank < 2; ++rank) {
    const int64_t waited = rank == 0 ? 80 : 0;
    traces[rank].Op("all", Us(0, 200)).Kernel("gemm", Us(0, kernel_us), {.stream = 7});
    traces[rank].Kernel("ncclDevKernel_AllReduce(x)", Us(100 - waited, 10 + waited), {.stream = 9},
                        {"allreduce", 1, 1});
  }
  return Analyse("summary", {&traces[0].View(0), &traces[1].View(1)});
}

TEST(SummaryTest, NoMoreIsLostThanIsExposed) {
  EXPECT_NE(AllOf(SummaryOfWaiting(10)).find("lost 40.0 % of their time"), std::string::npos);
  EXPECT_NE(AllOf(SummaryOfWaiting(90)).find("lost 10.0 % of their time"), std::string::npos);
  EXPECT_FALSE(Holds(SummaryOfWaiting(200), "One rank makes the others wait"));
}

// Which rank differs from the others is not known.
TEST(SummaryTest, FaultsOfTheRunAreOfNoRank) {
  TestTrace traces[3];
  for (int64_t rank = 0; rank < 3; ++rank) {
    traces[rank].Op("all", Us(0, 200)).Launched("gemm", Us(1, 1), Us(2, 100), {1, 7, 0});
    traces[rank].meta().base_ns = rank * 10'000'000'000'000;
  }
  const Tables tables =
      Analyse("summary", {&traces[0].View(0), &traces[1].View(1), &traces[2].View(2)});
  const std::string all = AllOf(tables);
  EXPECT_NE(all.find("ranks-apart"), std::string::npos) << all;
  EXPECT_EQ(all.find("ranks-apart on"), std::string::npos) << all;
}

// Two are late in turn: the ranks that wait lose to each what they waited for it.
TEST(SummaryTest, EachStragglerCausesItsPart) {
  TestTrace traces[4];
  const RankView* views[4];
  for (int64_t rank = 0; rank < 4; ++rank) {
    TestTrace& trace = traces[rank];
    trace.Op("all", Us(0, 400)).Launched("gemm", Us(1, 1), Us(2, 38), {1, 7, 0});
    const int64_t first = rank == 0 ? 10 : 70;
    const int64_t second = rank == 1 ? 10 : 50;
    trace.Launched("ncclDevKernel_AllReduce(x)", Us(3, 1), Us(200 - first, first), {2, 20, 0});
    trace.Launched("ncclDevKernel_AllReduce(x)", Us(5, 1), Us(400 - second, second), {3, 20, 0});
    views[rank] = &trace.View(rank);
  }
  const Tables tables = Analyse("summary", {views[0], views[1], views[2], views[3]});
  const std::string all = AllOf(tables);
  // Three ranks waited 60 us of 400 for rank 0, and 40 us for rank 1 in the second.
  EXPECT_NE(all.find("One rank makes the others wait | warning | rank 0"), std::string::npos)
      << all;
  EXPECT_NE(all.find("lost 15.0 % of their time"), std::string::npos) << all;
}

// Eight ranks that compute and then meet, round after round of 200 us; `late_us` by rank and round.
template <class LateOf>
Tables SummaryOfRounds(int64_t rounds, LateOf late_us) {
  TestTrace traces[8];
  const RankView* views[8];
  for (int64_t rank = 0; rank < 8; ++rank) {
    TestTrace& trace = traces[rank];
    trace.Op("all", Us(0, 200 * rounds));
    for (int64_t i = 0; i < rounds; ++i) {
      const int64_t at = 200 * i;
      const int64_t late = late_us(rank, i);
      CollectiveArgs args{"allreduce", 1000, 1000};
      args.group_size = 8;
      args.sequence = i;
      trace.Launched("gemm", Us(at + 1, 1), Us(at + 2, 100 + late), {2 * i + 1, 7, 0});
      trace.Runtime("cudaLaunchKernel", Us(at + 3, 1), 2 * i + 2);
      trace.Kernel("ncclDevKernel_AllReduce(x)", Us(at + 102 + late, 98 - late), {2 * i + 2, 20, 0},
                   args);
    }
    views[rank] = &trace.View(rank);
  }
  return Analyse("summary",
                 {views[0], views[1], views[2], views[3], views[4], views[5], views[6], views[7]});
}

// To bring one of them up to the others would gain nothing.
TEST(SummaryTest, RanksThatAreLateTogetherAreOneFinding) {
  const Tables tables =
      SummaryOfRounds(10, [](int64_t rank, int64_t) { return rank >= 5 ? 80 : 0; });
  EXPECT_FALSE(Holds(tables, "One rank makes the others wait"));
  EXPECT_EQ(
      Finding(tables, 0),
      "Several ranks make the others wait | warning | ranks 5, 6 and 7 are late about "
      "equally: the others waited 4.0 ms for them (100.0 % of all waiting); ranks that waited lost "
      "40.0 % of their time on average");
}

// Data that never leave the device gain nothing from another stream or page-locked memory.
TEST(SummaryTest, CopiesOnTheDeviceAreToBeAvoided) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000)).Launched("gemm", Us(1, 1), Us(2, 500), {1, 7, 0});
  trace.Runtime("cudaMemcpyAsync", Us(3, 1), 2);
  trace.Memcpy("Memcpy DtoD (Device -> Device)", Us(502, 498), {2, 7, 0});
  const std::string help =
      HelpOf(Analyse("summary", {&trace.View()}), "Copies are not hidden behind compute");
  EXPECT_NE(help.find("stay on the device"), std::string::npos) << help;
  EXPECT_EQ(help.find("another stream"), std::string::npos) << help;
}

// Of ranks that are late in turn none is to blame, and their waiting is no slow network.
TEST(SummaryTest, WaitingInTurnIsNoSlowCommunication) {
  const Tables tables =
      SummaryOfRounds(16, [](int64_t rank, int64_t i) { return i % 8 == rank ? 80 : 0; });
  EXPECT_TRUE(Finding(tables, 0).starts_with(
      "Ranks wait for each other in collectives | warning | 9.0 ms of 11.3 ms (79.5 %) inside of "
      "collectives is waiting for the rank that comes last, which is another one each time"))
      << Finding(tables, 0);
  EXPECT_FALSE(Holds(tables, "One rank makes the others wait"));
  EXPECT_NE(HelpOf(tables, "One kernel takes a large part of the kernel time"), "");
}

// Nobody waits: the network alone is slow.
TEST(SummaryTest, WhereNobodyWaitsItIsTheTransfer) {
  const Tables tables = SummaryOfRounds(10, [](int64_t, int64_t) { return -10; });
  EXPECT_TRUE(Finding(tables, 0).starts_with("Communication is not hidden behind compute"))
      << Finding(tables, 0);
  EXPECT_TRUE(HelpOf(tables, "One kernel takes a large part of the kernel time")
                  .starts_with("None of the time in collectives is waiting for other ranks"))
      << HelpOf(tables, "One kernel takes a large part of the kernel time");
}

// One rank, in whose recording calls of one size that communicate take 20 us, and some 90.
Tables SummaryOfUnevenCalls(const std::string& name, const std::string& kernel,
                            int64_t world_size) {
  TestTrace trace;
  trace.meta().world_size = world_size;
  trace.Op("all", Us(0, 2000));
  for (int64_t i = 0; i < 20; ++i) {
    CollectiveArgs args{name, 1000, 1000};
    args.group_size = 8;
    trace.Launched("gemm", Us(100 * i + 1, 1), Us(100 * i + 2, i % 2 == 0 ? 78 : 8),
                   {2 * i + 1, 7, 0});
    trace.Runtime("cudaLaunchKernel", Us(100 * i + 3, 1), 2 * i + 2);
    trace.Kernel(kernel, i % 2 == 0 ? Us(100 * i + 80, 20) : Us(100 * i + 10, 90),
                 {2 * i + 2, 20, 0}, args);
  }
  return Analyse("summary", {&trace.View(0)});
}

TEST(SummaryTest, CollectivesMayWaitForRanksThatAreNotHere) {
  const Tables tables = SummaryOfUnevenCalls("allreduce", "ncclDevKernel_AllReduce(x)", 8);
  EXPECT_EQ(Finding(tables, 0),
            "Collectives seem to wait for ranks that are not here | warning | of 1.1 ms in "
            "collectives 700 us is more than if each were as fast as the fastest of its size "
            "(20.0 us; the slowest 90.0 us); 1 of 8 ranks is here; about 1.1 ms of 2.0 ms (55.0 "
            "%) are exposed");
  EXPECT_FALSE(Holds(tables, "Communication is not hidden behind compute"));
  // With all ranks of the job here, nobody else can be late.
  EXPECT_TRUE(Holds(SummaryOfUnevenCalls("allreduce", "ncclDevKernel_AllReduce(x)", 1),
                    "Communication is not hidden behind compute"));
}

TEST(SummaryTest, ReceivesThatWaitAreNoSlowCommunication) {
  const Tables tables = SummaryOfUnevenCalls("recv", "ncclDevKernel_SendRecv(x)", 1);
  EXPECT_EQ(Finding(tables, 0),
            "Receives wait for the ranks that send | warning | sends and receives take 1.1 ms, and "
            "400 us if each is as fast as the fastest of its size (20.0 us; the slowest 90.0 us); "
            "about 1.1 ms of 2.0 ms (55.0 %) are exposed");
  EXPECT_FALSE(Holds(tables, "Communication is not hidden behind compute"));
  EXPECT_EQ(HelpOf(tables, "Receives wait for the ranks that send").find("Overlap"),
            std::string::npos);
}

// Two causes that cost enough have a finding each, with the time of that cause alone.
TEST(SummaryTest, EachCauseOfIdleTimeHasAFinding) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000)).Launched("gemm", Us(0, 1), Us(2, 498), {1, 7, 0});
  trace.Launched("gemm", Us(600, 1), Us(602, 98), {2, 7, 0});  // host: 100
  trace.Annotation("enumerate(DataLoader)#x.__next__", Us(620, 230));
  trace.Launched("gemm", Us(850, 1), Us(852, 148), {3, 7, 0});  // data: 150
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_TRUE(Finding(tables, 0).starts_with(
      "The device waits for data | warning | host loading data: 150 us of 1.0 ms (15.0 %); idle "
      "256 us of 1.0 ms (25.6 %); in one gap: 100 us"))
      << Finding(tables, 0);
  EXPECT_TRUE(Finding(tables, 1).starts_with(
      "The device idles in one long gap | warning | 100 us of 1.0 ms (10.0 %)"))
      << Finding(tables, 1);
  EXPECT_DOUBLE_EQ(Floats(tables[0], "value")[0], 0.15);
}

TEST(SummaryTest, ManySmallCausesAreNamedTogether) {
  TestTrace trace;
  trace.Op("all", Us(0, 1000)).Launched("gemm", Us(40, 1), Us(45, 500), {1, 7, 0});
  trace.Launched("gemm", Us(585, 1), Us(590, 370), {2, 7, 0});
  EXPECT_EQ(Finding(Analyse("summary", {&trace.View()}), 0),
            "The device idles for several reasons | warning | idle 130 us of 1.0 ms (13.0 %); "
            "next work not launched yet: 40.0 us, before the first launch: 40.0 us, after the last "
            "device work: 40.0 us");
}

// Work seems to begin 55 us after its launch, and to end 49 us after the wait for it.
TEST(SummaryTest, CausesAreDividedOnOneClock) {
  TestTrace trace;
  trace.Op("all", Us(0, 1200));
  for (int64_t i = 0; i < 3; ++i) {
    trace.Launched("gemm", Us(300 * i + 100, 1), Us(300 * i + 155, 250), {i + 1, 7, 0});
  }
  trace.Runtime("cudaDeviceSynchronize", Us(710, 246));
  EXPECT_EQ(Csv(Named(Analyse("summary", {&trace.View()}), "idle_causes"),
                {"sync_ns", "host_ns", "latency_ns"}),
            "sync_ns,host_ns,latency_ns\n0,88000,18000\n");
}

// Of three pairs each rank makes the other wait as long, and one rank makes its partner wait longer
// than that; nobody else could have waited for it.
TEST(SummaryTest, OtherGroupsDoNotHideAStraggler) {
  TestTrace traces[8];
  const RankView* views[8];
  for (int64_t rank = 0; rank < 8; ++rank) {
    const bool is_odd = rank % 2 != 0;
    CollectiveArgs args{"allreduce", 1, 1};
    args.members = std::to_string(rank / 2);
    const int64_t waited = rank == 1 ? 40 : rank == 0 ? 2 : 22;
    TestTrace& trace = traces[rank];
    trace.Op("all", Us(0, 200));
    trace.Kernel("ncclDevKernel_AllReduce(x)", Us(100, is_odd ? 10 + waited : 10), {}, args);
    trace.Kernel("ncclDevKernel_AllReduce(x)", Us(160, is_odd ? 10 : 10 + waited), {}, args);
    views[rank] = &trace.View(rank);
  }
  EXPECT_TRUE(Holds(Analyse("summary", {views[0], views[1], views[2], views[3], views[4], views[5],
                                        views[6], views[7]}),
                    "One rank makes the others wait"));
}

// A rank that recorded the host alone was not idle: there is nothing to compare.
TEST(SummaryTest, RanksWithoutDeviceWorkAreNotCompared) {
  TestTrace a;
  TestTrace b;
  a.Op("all", Us(0, 400)).Launched("gemm", Us(1, 1), Us(2, 390), {1, 7, 0});
  b.Op("all", Us(0, 400));
  const Tables tables = Analyse("summary", {&a.View(0), &b.View(1)});
  EXPECT_FALSE(Holds(tables, "Ranks compute for different times"));
  EXPECT_EQ(Csv(Named(tables, "breakdown"), {"rank", "idle_ns"}), "rank,idle_ns\n0,10000\n");
  EXPECT_EQ(Csv(Named(tables, "idle_causes"), {"rank", "idle_ns"}), "rank,idle_ns\n0,10000\n");
}

TEST(SummaryTest, ALittleWaitingIsNothingToSay) {
  EXPECT_FALSE(Holds(SummaryOfFour(1), "One rank makes the others wait"));
  EXPECT_FALSE(Holds(SummaryOfFour(0), "One rank makes the others wait"));
}

TEST(SummaryTest, OneRankHasNeitherSpreadNorStragglers) {
  TestTrace trace;
  trace.Kernel("ncclDevKernel_AllReduce(x)", Us(0, 10));
  for (const Table& table : Analyse("summary", {&trace.View()})) {
    EXPECT_NE(table.name, "breakdown_spread");
    EXPECT_NE(table.name, "stragglers");
  }
}

TEST(SummaryTest, NoDeviceWork) {
  TestTrace trace;
  trace.Op("f", Us(0, 10));
  EXPECT_EQ(Finding(Analyse("summary", {&trace.View()}), 0),
            "No device work was recorded | warning | 1 host event, 0 kernels, memcpys and memsets");
  for (const Table& table : Analyse("summary", {&trace.View()})) {
    EXPECT_FALSE(table.name == "breakdown" || table.name == "idle_causes" ||
                 table.name == "kernels")
        << table.name;
  }
}

// As in `gaps`: two gaps, each put down to the launch of what ends it.
// Of a recording of the host alone.
TEST(SummaryTest, TheHostIsDividedWhereNoDeviceWorked) {
  TestTrace trace;
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t at_us = step * 10'000;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(at_us, 9000));
    trace.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                     Us(at_us, 6000));
    trace.Op("aten::stack", Us(at_us + 100, 500));  // within it
    trace.Op("aten::mm", Us(at_us + 6000, 2000));
    trace.Op("aten::as_strided", Us(at_us + 6100, 100));
    trace.Op("aten::relu", Us(at_us + 8000, 500));
  }
  trace.Op("aten::noise", Us(100, 30'000), {}, 2);  // of another thread
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Csv(Named(tables, "host_use")),
            "rank,span_ns,data_ns,operators_ns,calls_ns,others_ns,nothing_ns\n"
            "0,39000000,24000000,10000000,0,2000000,3000000\n");
  EXPECT_TRUE(Finding(tables, 0).starts_with(
      "The host spends time on loading data | warning | main thread: loading data 24.0 ms of 39.0 "
      "ms (61.5 %); in operators 10.0 ms of 39.0 ms (25.6 %)"))
      << Finding(tables, 0);
  EXPECT_TRUE(Holds(tables, "No device work was recorded"));
}

TEST(SummaryTest, TheMedianOfAnEvenNumberOfStepsIsBetweenTwo) {
  TestTrace trace;
  int64_t at_us = 0;
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t length_us = step < 2 ? 100 : 150;
    trace.Annotation("ProfilerStep#" + std::to_string(step), Us(at_us, length_us));
    trace.Launched("gemm", Us(at_us + 1, 5), Us(at_us + 10, length_us - 12),
                   {.correlation = step + 1});
    at_us += length_us;
  }
  const Tables tables = Analyse("summary", {&trace.View()});
  EXPECT_EQ(Csv(Named(tables, "step_spread"), {"steps", "min_ns", "median_ns", "above_median_ns"}),
            "steps,min_ns,median_ns,above_median_ns\n4,100000,125000,50000\n");
}

// Half of the steps, on all ranks: neither a slow step nor a slow rank.
TEST(SummaryTest, KernelsThatBecomeSlowerAreNamed) {
  const auto program = [](int64_t slow_step) {
    auto trace = std::make_unique<TestTrace>();
    int64_t at_us = 0;
    int64_t correlation = 0;
    for (int64_t step = 0; step < 8; ++step) {
      const int64_t begin_us = at_us;
      for (int64_t i = 0; i < 12; ++i) {
        // The blocks of the grid do not show that every third has more to do.
        const int64_t usual_us = i % 3 == 2 ? 400 : 100;
        const int64_t us = step >= slow_step ? usual_us * 3 / 2 : usual_us;
        trace->Op("aten::mm", Us(at_us, 8));
        trace->Runtime("cudaLaunchKernel", Us(at_us, 5), ++correlation);
        trace->KernelOfSize(i % 2 == 0 ? "gemm" : "relu", Us(at_us + 10, us), 132, 256,
                            {.correlation = correlation});
        at_us += us + 12;
      }
      trace->Annotation("ProfilerStep#" + std::to_string(step), Us(begin_us, at_us - begin_us));
    }
    return trace;
  };
  constexpr std::string_view kTitle = "The same kernels become slower";
  const auto slower = program(3);
  const auto also = program(3);
  const Tables tables = Analyse("summary", {&slower->View(0), &also->View(1)});
  ASSERT_TRUE(Holds(tables, kTitle)) << AllOf(tables);
  EXPECT_EQ(RowOf(tables, kTitle), 0U) << AllOf(tables);
  // Three steps of 12 kernels with 2,400 us, and 12 us for each launch.
  const std::string evidence = Texts(tables[0], "evidence")[0];
  EXPECT_TRUE(
      evidence.starts_with("from +7.642ms on they take 1.50 times as long on rank 0, GPU "
                           "0, and become slower on 2 of 2 devices"))
      << evidence;
  EXPECT_FALSE(Holds(tables, "Steps differ in length")) << AllOf(tables);
  const auto even = program(8);
  EXPECT_FALSE(Holds(Analyse("summary", {&even->View()}), kTitle));
}

// Ranks that each leave a kernel on the first device are not uneven.
TEST(SummaryTest, AStrayKernelIsNoUnevenRank) {
  const auto program = [](int64_t gpu) {
    auto trace = std::make_unique<TestTrace>();
    for (int64_t i = 0; i < 20; ++i) {
      trace->Op("aten::mm", Us(i * 500, 8));
      trace->Launched("gemm", Us(i * 500, 5), Us(i * 500 + 10, 480),
                      {.correlation = i + 1, .gpu = gpu});
    }
    if (gpu > 0) trace->Launched("fill", Us(9900, 5), Us(9910, 6), {.correlation = 99});
    return trace;
  };
  const auto first = program(0);
  const auto second = program(1);
  const Tables tables = Analyse("summary", {&first->View(0), &second->View(1)});
  EXPECT_FALSE(Holds(tables, "Ranks compute for different times")) << AllOf(tables);
  EXPECT_TRUE(Holds(tables, "The device is well used")) << AllOf(tables);
  EXPECT_TRUE(Holds(tables, "A device is hardly used")) << AllOf(tables);
}

TEST(SummaryTest, WorkWithoutLengthEndsAGap) {
  TestTrace trace;
  trace.Launched("gemm", Us(0, 1), Us(10, 10), {1, 7, 0});
  trace.Launched("add", Us(30, 1), Us(40, 0), {2, 7, 0});    // host: 10, latency: 10
  trace.Launched("gemm", Us(35, 1), Us(70, 10), {3, 7, 0});  // latency: 30
  EXPECT_EQ(Csv(Named(Analyse("summary", {&trace.View()}), "idle_causes"),
                {"idle_ns", "gaps", "head_ns", "host_ns", "latency_ns"}),
            "idle_ns,gaps,head_ns,host_ns,latency_ns\n60000,2,0,10000,50000\n");
}

TEST(SummaryTest, TheOverviewIsOfTheSelection) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#0", Us(0, 100)).Annotation("ProfilerStep#1", Us(100, 100));
  trace.Launched("gemm", Us(10, 5), Us(20, 20), {1, 7, 0});
  trace.Launched("gemm", Us(110, 5), Us(120, 20), {2, 7, 0});
  trace.Runtime("cudaMemcpyAsync", Us(130, 5), 3);
  trace.Memcpy("Memcpy HtoD (Pageable -> Device)", Us(150, 10), {3, 9, 0});
  trace.Annotation("ProfilerStep#2", Us(200, 50));
  const RankView& view = trace.View();
  const auto overview = [&](const Params& params) {
    return Csv(Named(Analyse("summary", {&view}, params), "overview"),
               {"steps", "span_ns", "host_events", "device_events", "kernels"});
  };
  const std::string head = "steps,span_ns,host_events,device_events,kernels\n";
  Params params;
  EXPECT_EQ(overview(params), head + "3,250000,6,3,2\n");
  params.selection.steps = NumberRanges::Parse("1").value();
  EXPECT_EQ(overview(params), head + "1,100000,3,2,1\n");
  EXPECT_TRUE(Analyse("summary", {&view}, params)
                  .back()
                  .title.starts_with("Failed checks of the whole recording"));
  params.selection.steps = NumberRanges::Parse("2").value();
  EXPECT_EQ(Finding(Analyse("summary", {&view}, params), 0),
            "No device work in the selected part | warning | 1 host event, 0 kernels, memcpys and "
            "memsets");
}

}  // namespace
}  // namespace borescope::internal
