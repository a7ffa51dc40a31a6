// waits over small runs whose answer is known: who was late, why, and by how much.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kMs = 1000 * kUs;
constexpr std::string_view kKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)";
constexpr int kRanks = 4;
constexpr int kCollectives = 30;

// What makes rank 1 late in every tenth collective.
enum class Reason { kCompute, kCopy, kHost, kData, kLaunch };

CollectiveArgs Sequence(int64_t number, int64_t elems) {
  CollectiveArgs args{"allreduce", elems, elems};
  args.sequence = number;
  args.group_size = kRanks;
  args.members = "[0, 1, 2, 3]";
  return args;
}

// Rank 1 is late by `late_ns` in every tenth collective; all begin each round together, compute for
// 100 us and then communicate. `shift_ns` is added to all times.
void AddRounds(TestTrace& trace, int rank, Reason reason, int64_t late_ns, int64_t shift_ns) {
  int64_t at = shift_ns;
  int64_t correlation = 0;
  const auto work = [&](std::string_view name, int64_t begin, int64_t length, int64_t launched) {
    trace.Launched(name, {launched, 5 * kUs}, {begin, length}, {++correlation, 7, rank});
  };
  for (int i = 0; i < kCollectives; ++i) {
    const bool is_late = rank == 1 && i % 10 == 5;
    const int64_t extra = is_late ? late_ns : 0;
    int64_t begin = at + 10 * kUs;
    const int64_t compute = 100 * kUs + (reason == Reason::kCompute ? extra : 0);
    work("gemm_kernel", begin, compute, at);
    begin += compute;
    if (reason == Reason::kCopy && is_late) {
      trace.Memcpy("Memcpy HtoD (Pageable -> Device)", {begin, extra}, {++correlation, 7, rank});
      begin += extra;
    }
    const bool is_idle = is_late && (reason == Reason::kHost || reason == Reason::kData);
    if (is_idle && reason == Reason::kData) {
      trace.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                       {begin, extra});
    }
    const int64_t launched = is_idle ? begin + extra : begin;
    int64_t enter = launched + 10 * kUs;
    if (reason == Reason::kLaunch) enter += std::min<int64_t>(extra, 80 * kUs);
    const int64_t all_in =
        at + 120 * kUs +
        (i % 10 == 5 ? std::min(late_ns, reason == Reason::kLaunch ? 80 * kUs : late_ns) : 0);
    const int64_t leave = all_in + 30 * kUs + (rank == 2 && i == 7 ? 40 * kUs : 0);
    trace.Runtime("cudaLaunchKernel", {launched, 5 * kUs}, ++correlation);
    trace.Kernel(kKernel, {enter, leave - enter}, {correlation, 20, rank}, Sequence(i, 1000));
    at = all_in + 100 * kUs;
  }
}

struct Planted {
  std::vector<std::unique_ptr<TestTrace>> traces;
  Tables tables;
};

Tables Ask(const std::vector<std::unique_ptr<TestTrace>>& traces, const std::vector<int>& order,
           const Params& params = {}) {
  const AnalysisSpec& spec = *FindAnalysis("waits");
  std::vector<Tables> mapped;
  mapped.reserve(order.size());
  for (const int rank : order) {
    mapped.push_back(
        spec.answer.map(traces[static_cast<size_t>(rank)]->View(rank), params).value());
  }
  return spec.answer.finish(spec.answer.reduce(mapped, params).value(), params).value();
}

Tables AskPlanted(Reason reason, int64_t late_ns, const std::vector<int64_t>& shifts = {0, 0, 0, 0},
                  const std::vector<int>& order = {0, 1, 2, 3}) {
  std::vector<std::unique_ptr<TestTrace>> traces;
  for (int rank = 0; rank < kRanks; ++rank) {
    traces.push_back(std::make_unique<TestTrace>());
    AddRounds(*traces.back(), rank, reason, late_ns, shifts[static_cast<size_t>(rank)]);
  }
  return Ask(traces, order);
}

const Table& Named(const Tables& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  EXPECT_NE(found, tables.end()) << name;
  return *found;
}

// The cause to which most of the waiting for rank 1 goes.
std::string MainCause(Reason reason, int64_t late_ns) {
  const Tables tables = AskPlanted(reason, late_ns);
  const Table& ranks = Named(tables, "waits_by_rank");
  EXPECT_EQ(Ints(ranks, "rank")[0], 1);
  EXPECT_EQ(Ints(ranks, "last_times")[0], 3);
  EXPECT_EQ(Ints(ranks, "caused_ns")[0], 3 * 3 * late_ns);
  return Texts(ranks, "main_cause")[0];
}

TEST(WaitsTest, StragglersOfEachCauseAreFound) {
  EXPECT_EQ(MainCause(Reason::kCompute, 500 * kUs), "compute");
  EXPECT_EQ(MainCause(Reason::kCopy, 500 * kUs), "copy");
  EXPECT_EQ(MainCause(Reason::kHost, 500 * kUs), "idle: host");
  EXPECT_EQ(MainCause(Reason::kData, 500 * kUs), "idle: data");
  EXPECT_EQ(MainCause(Reason::kLaunch, 80 * kUs), "idle: launch");
}

TEST(WaitsTest, TimeInsideIsDividedToTheNanosecond) {
  const Tables tables = AskPlanted(Reason::kCompute, 500 * kUs);
  const Table& time = Named(tables, "collective_time");
  EXPECT_EQ(Csv(time, {"part", "total_ns", "exposed_ns"}),
            "part,total_ns,exposed_ns\n"
            "waiting,4500000,4500000\n"
            "transfer,3600000,-\n"
            "transfer excess,0,-\n"
            "tail,40000,-\n");
}

// 30 us of transfer, two grains, and 22 ns of drift to the next meeting.
TEST(WaitsTest, ClocksOfOneMachineAreOne) {
  const Tables tables = AskPlanted(Reason::kCompute, 500 * kUs);
  EXPECT_EQ(Csv(Named(tables, "clocks"), {"rank", "clock", "offset_ns", "low_ns", "high_ns",
                                          "verdict", "collectives", "contradicted"}),
            "rank,clock,offset_ns,low_ns,high_ns,verdict,collectives,contradicted\n"
            "0,A,0,-,-,one clock,30,0\n"
            "1,A,0,-32022,32000,one clock,30,0\n"
            "2,A,0,-32022,32022,one clock,30,0\n"
            "3,A,0,-32022,32022,one clock,30,0\n");
}

// All text of all tables but `clocks`.
std::string AllBut(const Tables& tables, std::string_view left_out) {
  std::string text;
  for (const Table& table : tables) {
    if (table.name != left_out) text += table.name + "\n" + Csv(table);
  }
  return text;
}

TEST(WaitsTest, ShiftedFilesGiveTheSameAnswer) {
  const std::string expected = AllBut(AskPlanted(Reason::kHost, 500 * kUs), "clocks");
  for (const int64_t shift : {int64_t{1'234'567}, -987 * kMs, 1'700'000'000'000 * kMs}) {
    for (int rank = 0; rank < kRanks; ++rank) {
      std::vector<int64_t> shifts(kRanks, 0);
      shifts[static_cast<size_t>(rank)] = shift;
      const Tables tables = AskPlanted(Reason::kHost, 500 * kUs, shifts);
      EXPECT_EQ(AllBut(tables, "clocks"), expected);
      EXPECT_EQ(Ints(Named(tables, "clocks"), "offset_ns")[3],
                rank == 0 ? shift : (rank == 3 ? -shift : 0));
    }
  }
}

TEST(WaitsTest, TheOrderOfFilesDoesNotShow) {
  const std::string expected = AllBut(AskPlanted(Reason::kHost, 500 * kUs), "");
  EXPECT_EQ(AllBut(AskPlanted(Reason::kHost, 500 * kUs, {0, 0, 0, 0}, {3, 1, 0, 2}), ""), expected);
}

TEST(WaitsTest, WhatTheClocksCannotTellIsATie) {
  const Tables tables = AskPlanted(Reason::kCompute, 15 * kUs);
  EXPECT_EQ(Csv(Named(tables, "waits_by_rank"), {"rank", "caused_ns", "main_cause"}),
            "rank,caused_ns,main_cause\n-,135000,tie\n0,0,-\n1,0,-\n2,0,-\n3,0,-\n");
}

// Three ranks of which one, as number `late`, computes 300 us longer and is idle 100 us longer
// before every collective from the second on; one of the others, `busy`, computes for 200 us while
// it waits.
std::vector<std::unique_ptr<TestTrace>> OverlappedRun(int late, int busy) {
  std::vector<std::unique_ptr<TestTrace>> traces;
  for (int rank = 0; rank < 3; ++rank) {
    TestTrace& trace = *traces.emplace_back(std::make_unique<TestTrace>());
    int64_t correlation = 0;
    for (int i = 0; i < kCollectives; ++i) {
      const int64_t at = int64_t{i} * kMs;
      const bool is_late = rank == late && i > 0;
      const int64_t compute = 100 * kUs + (is_late ? 300 * kUs : 0);
      trace.Launched("gemm_kernel", {at, 5 * kUs}, {at + 10 * kUs, compute},
                     {++correlation, 7, rank});
      const int64_t enter = at + 10 * kUs + compute + (is_late ? 110 * kUs : 10 * kUs);
      if (rank == busy) {
        trace.Launched("gemm_kernel", {at + 20 * kUs, 5 * kUs}, {enter + 20 * kUs, 200 * kUs},
                       {++correlation, 7, rank});
      }
      trace.Runtime("cudaLaunchKernel", {enter - 10 * kUs, 5 * kUs}, ++correlation);
      CollectiveArgs args = Sequence(i, 1000);
      args.group_size = 3;
      trace.Kernel(kKernel, {enter, at + 600 * kUs - enter}, {correlation, 20, rank}, args);
    }
  }
  return traces;
}

// What others computed beside their waiting does not change why the last rank was late, and neither
// do the numbers of the ranks.
TEST(WaitsTest, CausesDoNotDependOnOverlapNorOnNumbers) {
  for (int late = 0; late < 3; ++late) {
    for (int busy = 0; busy < 3; ++busy) {
      if (busy == late) continue;
      const Tables tables = Ask(OverlappedRun(late, busy), {0, 1, 2});
      EXPECT_EQ(Csv(Named(tables, "lateness"), {"rank", "cause", "share"}),
                "rank,cause,share\n" + std::to_string(late) + ",compute,0.75\n" +
                    std::to_string(late) + ",idle: host,0.25\n")
          << "late " << late << ", busy " << busy;
    }
  }
}

// The lines of a table whose first column is this.
std::string LinesOf(const std::string& csv, const std::string& first) {
  std::istringstream lines(csv);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(first + ",")) found += line + "\n";
  }
  return found;
}

// The first collective of a step is late for what was done since the last one of the step before.
TEST(WaitsTest, ASelectionShowsPartsOfTheSameAnswer) {
  const auto traces = OverlappedRun(1, 2);
  for (const auto& trace : traces) {
    for (int step = 0; step < kCollectives / 10; ++step) {
      trace->Annotation("ProfilerStep#" + std::to_string(step), {step * 10 * kMs, 10 * kMs - kUs});
    }
  }
  Params params;
  params.selection.steps = NumberRanges::Parse("2").value();
  const Tables all = Ask(traces, {0, 1, 2});
  const Tables some = Ask(traces, {0, 1, 2}, params);
  const auto rows = [](const Tables& tables) {
    return Csv(Named(tables, "waits"), {"step", "position", "last_rank", "skew_ns",
                                        "exposed_skew_ns", "cause", "cause_ns"});
  };
  EXPECT_EQ(Named(some, "waits").rows(), 10U);
  EXPECT_EQ(LinesOf(rows(some), "2"), LinesOf(rows(all), "2"));
  EXPECT_EQ(Csv(Named(some, "clocks")), Csv(Named(all, "clocks")));
  EXPECT_EQ(Csv(Named(some, "lateness"), {"rank", "cause", "share"}),
            "rank,cause,share\n1,compute,0.75\n1,idle: host,0.25\n");
  EXPECT_EQ(Ints(Named(some, "collective_time"), "total_ns")[0], 10 * 2 * 400 * kUs);
}

TEST(WaitsTest, ClocksThatCannotBeComparedAreSaid) {
  std::vector<std::unique_ptr<TestTrace>> traces;
  for (int rank = 0; rank < 2; ++rank) {
    TestTrace& trace = *traces.emplace_back(std::make_unique<TestTrace>());
    for (int64_t i = 0; i < 3; ++i) {
      trace.Kernel(kKernel, {i * kMs + rank * i * 50 * kMs, 50 * kUs}, {i + 1, 20, rank},
                   Sequence(i, 10));
    }
  }
  const Tables tables = Ask(traces, {0, 1});
  const Table& ranks = Named(tables, "waits_by_rank");
  EXPECT_EQ(Texts(Named(tables, "clocks"), "verdict")[0], "not comparable");
  EXPECT_EQ(LinesOf(Csv(ranks, {"rank", "evidence"}), "0"),
            "0,no clocks make its collectives possible: who waited for whom is not known\n");
}

Error ErrorOf(const std::vector<const RankView*>& views) {
  const AnalysisSpec& spec = *FindAnalysis("waits");
  std::vector<Tables> mapped;
  mapped.reserve(views.size());
  for (const RankView* view : views) mapped.push_back(spec.answer.map(*view, {}).value());
  return spec.answer.finish(spec.answer.reduce(mapped, {}).value(), {}).error();
}

TEST(WaitsTest, OneRankIsMissingData) {
  TestTrace trace;
  trace.Kernel(kKernel, {0, 10});
  const Error error = ErrorOf({&trace.View()});
  EXPECT_EQ(error.code, ErrorCode::kMissingData);
  EXPECT_NE(error.Sentence().find("give the whole run"), std::string::npos);
}

TEST(WaitsTest, NothingMatchedIsMissingData) {
  TestTrace a;
  TestTrace b;
  a.Kernel(kKernel, {0, 10}, {1, 20, 0}, Sequence(1, 10));
  b.Kernel(kKernel, {0, 10}, {1, 20, 0}, Sequence(900, 10));
  const Error error = ErrorOf({&a.View(0), &b.View(1)});
  EXPECT_EQ(error.code, ErrorCode::kMissingData);
  EXPECT_NE(error.Sentence().find("on another one"), std::string::npos) << error.Sentence();
}

// No allowance at all: only chance is left, and the grain of the clock.
TEST(WaitsTest, AnExitSkewOfNothingIsNothing) {
  std::vector<std::unique_ptr<TestTrace>> traces;
  for (int rank = 0; rank < kRanks; ++rank) {
    AddRounds(*traces.emplace_back(std::make_unique<TestTrace>()), rank, Reason::kHost, 500 * kUs,
              0);
  }
  Params params;
  params.values = {ParseParam(*FindAnalysis("waits")->params[0], "0").value()};
  EXPECT_EQ(Ints(Named(Ask(traces, {0, 1, 2, 3}, params), "clocks"), "error_ns")[1], kUs);
  EXPECT_EQ(Ints(Named(Ask(traces, {0, 1, 2, 3}), "clocks"), "error_ns")[1], 10 * kUs);
}

TEST(WaitsTest, RanksOfDifferentJobsAreMissingData) {
  TestTrace a;
  TestTrace b;
  a.meta().world_size = 8;
  b.meta().world_size = 4;
  a.Kernel(kKernel, {0, 10}, {1, 20, 0}, Sequence(1, 10));
  b.Kernel(kKernel, {0, 10}, {1, 20, 0}, Sequence(900, 10));
  const Error error = ErrorOf({&a.View(0), &b.View(1)});
  EXPECT_EQ(error.code, ErrorCode::kMissingData);
  EXPECT_NE(error.Sentence().find("different sizes"), std::string::npos) << error.Sentence();
}

TEST(WaitsTest, ARankWithoutCollectivesIsNamed) {
  TestTrace a;
  TestTrace b;
  TestTrace c;
  a.Kernel(kKernel, {0, 50}, {1, 20, 0}, Sequence(1, 10));
  b.Kernel(kKernel, {20, 30}, {1, 20, 0}, Sequence(1, 10));
  c.Kernel("gemm_kernel", {0, 10});
  const Tables tables = Analyse("waits", {&a.View(0), &b.View(1), &c.View(2)});
  EXPECT_EQ(Texts(Named(tables, "clocks"), "verdict")[2], "no collectives");
}

// Times at both ends of the range: no overflow, and the other collectives are as they were.
TEST(WaitsTest, AbsurdTimesDoNotDisturbTheOthers) {
  TestTrace a;
  TestTrace b;
  for (int64_t i = 0; i < 5; ++i) {
    a.Kernel(kKernel, {1000 * i, 50}, {i + 1, 20, 0}, Sequence(i, 10));
    b.Kernel(kKernel, {1000 * i + 20, 30}, {i + 1, 20, 0}, Sequence(i, 10));
  }
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 2;
  a.Kernel(kKernel, {kFar, 50}, {90, 20, 0}, Sequence(90, 10));
  b.Kernel(kKernel, {-kFar, 50}, {90, 20, 0}, Sequence(90, 10));
  const Tables tables = Analyse("waits", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Named(tables, "waits").rows(), 5U);
  EXPECT_EQ(Ints(Named(tables, "collective_time"), "total_ns")[0], 100);
}

}  // namespace
}  // namespace borescope::internal
