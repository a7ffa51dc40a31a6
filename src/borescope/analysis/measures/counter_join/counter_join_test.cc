#include "borescope/analysis/measures/counter_join/counter_join.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kTime = "gpu__time_duration.sum";
constexpr std::string_view kTensor = "sm__ops_path_tensor_src_bf16_dst_fp32.sum";

// A kernel of 4 blocks of 128 threads.
struct Counted {
  std::string name;
  double tensor_flops = 0;
  std::vector<std::string> ranges = {};
  int64_t pid = 77;
  int64_t device = 0;
};

std::shared_ptr<CounterReport> ReportOf(const std::vector<Counted>& kernels) {
  auto report = std::make_shared<CounterReport>();
  report->file = "counters.ncu-rep";
  report->metrics = {{std::string(kTime), "ns"}, {std::string(kTensor), ""}};
  for (const Counted& counted : kernels) {
    CountedKernel& kernel = report->kernels.emplace_back();
    kernel.name = counted.name;
    kernel.grid = {4, 1, 1};
    kernel.block = {128, 1, 1};
    kernel.ranges = counted.ranges;
    kernel.pid = counted.pid;
    kernel.device = counted.device;
    kernel.stream = 7;
    kernel.values = {{.metric = 0, .value = 120}, {.metric = 1, .value = counted.tensor_flops}};
  }
  return report;
}

// Launches of kernels that take 100 ns, one after the other, below operators of the same names.
class Launches {
 public:
  Launches& Add(std::string_view kernel, std::string_view op = "aten::mm",
                const std::string& dims = "[[8, 8], [8, 8]]", int64_t gpu = 0) {
    const int64_t ts = 1000 * ++count_;
    trace_.Op(op, {ts, 100}, {.dims = dims, .types = R"(["c10::BFloat16", "c10::BFloat16"])"});
    trace_.Runtime("cudaLaunchKernel", {ts + 10, 5}, count_);
    trace_.KernelOfSize(kernel, {ts + 200, 100}, 4, 128, {.correlation = count_, .gpu = gpu});
    return *this;
  }
  TestTrace& trace() { return trace_; }
  const RankView& View(int64_t rank = 0) { return trace_.View(rank); }

 private:
  TestTrace trace_;
  int64_t count_ = 0;
};

GivenReports Given(std::vector<std::shared_ptr<const CounterReport>> reports) {
  GivenReports given;
  given.reports = std::move(reports);
  return given;
}

// "source tensor_flops" of each kernel.
std::string Joined(const RankView& view, const GivenReports& given) {
  const Result<RankCounters> joined = JoinCounters(view, given);
  if (!joined.ok()) return joined.error().Sentence();
  std::string text;
  for (const DeviceId id : joined->kernels) {
    text += (text.empty() ? "" : ", ") + std::string(JoinSourceName(joined->SourceOf(id)));
    if (const MeasuredKernel* const measured = joined->MeasuredOf(id)) {
      text += " " + std::to_string(static_cast<int64_t>(measured->tensor_flops.value_or(-1)));
    }
  }
  return text;
}

TEST(CounterJoin, KernelsAreMatchedInTheirOrder) {
  Launches launches;
  launches.Add("a").Add("b").Add("c");
  const auto report = ReportOf({{"a", 1}, {"b", 2}, {"c", 3}});
  EXPECT_EQ(Joined(launches.View(), Given({report})), "order 1, order 2, order 3");
}

TEST(CounterJoin, RangesThatBothSidesNameTellKernelsApart) {
  Launches launches;
  launches.trace().Annotation("first", {900, 600}).Annotation("second", {1900, 600});
  launches.Add("a", "aten::mm", "[[8, 8]]").Add("a", "aten::mm", "[[9, 9]]");
  // Measured in the other order; what emit_nvtx appends is not part of a name.
  const auto report = ReportOf({{"a", 2, {"outer", "second, seq = 4"}}, {"a", 1, {"first"}}});
  EXPECT_EQ(Joined(launches.View(), Given({report})), "ambiguous, range 2");
}

TEST(CounterJoin, OneReportIsOfAllRanksAndSeveralProcessesAreRanksInOrder) {
  Launches launches;
  launches.Add("a").Add("b").Add("c");
  EXPECT_EQ(Joined(launches.View(5), Given({ReportOf({{"a", 1}, {"b", 2}, {"c", 3}})})),
            "order 1, order 2, order 3");
  const auto two = ReportOf({{"a", 1, {}, 90},
                             {"a", 4, {}, 12},
                             {"b", 2, {}, 90},
                             {"b", 5, {}, 12},
                             {"c", 3, {}, 90},
                             {"c", 6, {}, 12}});
  Launches first;
  first.Add("a").Add("b").Add("c");
  EXPECT_EQ(Joined(first.View(0), Given({two})), "order 1, order 2, order 3");
  Launches second;
  second.Add("a").Add("b").Add("c");
  EXPECT_EQ(Joined(second.View(1), Given({two})), "order 4, order 5, order 6");
  Launches third;
  third.Add("a").Add("b").Add("c");
  EXPECT_EQ(Joined(third.View(2), Given({two})), "none, none, none");
}

TEST(CounterJoin, OfSeveralDevicesEachHasItsOwn) {
  Launches launches;
  launches.Add("a").Add("a", "aten::mm", "[[8, 8], [8, 8]]", 1);
  const auto report = ReportOf({{"a", 1, {}, 77, 0}, {"a", 2, {}, 77, 1}});
  EXPECT_EQ(Joined(launches.View(), Given({report})), "order 1, order 2");
}

TEST(CounterJoin, TheFirstReportWithCountersForAKernelWins) {
  Launches launches;
  launches.Add("a").Add("b").Add("c");
  const auto first = ReportOf({{"a", 1}});
  const auto second = ReportOf({{"a", 100}, {"b", 200}, {"c", 300}});
  const GivenReports given = Given({first, second});
  EXPECT_EQ(Joined(launches.View(), given), "order 1, order 200, order 300");
  const Result<RankCounters> joined = JoinCounters(launches.View(), given);
  ASSERT_TRUE(joined.ok());
  ASSERT_EQ(joined->joins.size(), 2U);
  EXPECT_EQ(joined->joins[1].disagreeing, 1);
}

TEST(CounterJoin, ShortNamesAreMatchedByFunction) {
  Launches launches;
  launches.Add("void at::native::fill<int>(int*)").Add("void at::b<2>(int)").Add("c(float*)");
  auto report = ReportOf({{"fill<int>(int *)", 1}, {"b<2>(int)", 2}, {"c(float *)", 3}});
  report->whole_names = false;
  report->kernels[0].function = "fill";
  EXPECT_EQ(Joined(launches.View(), Given({report})), "order 1, order 2, order 3");
}

TEST(CounterJoin, ReportsOfOtherDevicesAndOtherProgramsAreErrors) {
  Launches launches;
  launches.trace().meta().devices = {{.id = 0, .name = "NVIDIA H100 80GB HBM3"}};
  launches.trace().meta().file = "trace.json";
  launches.Add("a").Add("b").Add("c");
  auto report = ReportOf({{"a", 1}, {"b", 2}, {"c", 3}});
  report->device = "NVIDIA A100-SXM4-80GB";
  EXPECT_EQ(Joined(launches.View(), Given({report})),
            "counters.ncu-rep: its counters are of NVIDIA A100-SXM4-80GB, and trace.json was "
            "recorded on NVIDIA H100 80GB HBM3; measure on the same device, or take its counts "
            "alone with `counters_anyway`");
  GivenReports anyway = Given({report});
  anyway.of_any_device = true;
  EXPECT_EQ(Joined(launches.View(), anyway), "order 1, order 2, order 3");
  report->device = "NVIDIA A100-SXM4-80GB, NVIDIA H100 80GB HBM3";
  EXPECT_EQ(Joined(launches.View(), Given({report})), "order 1, order 2, order 3");
  EXPECT_EQ(Joined(launches.View(), Given({ReportOf({{"other", 1}})})),
            "trace.json: no kernel of counters.ncu-rep has the name and size of one of trace.json: "
            "the first is other (grid 4, 1, 1; block 128, 1, 1), and a (grid 4, 1, 1; block 128, "
            "1, 1); give a report of the program that was traced");
}

// What does not fit is named once for each device; where everything fits there is no remedy.
TEST(CounterJoin, WhatDoesNotFitHasARemedy) {
  const auto remedies = [](Launches& launches, const GivenReports& given) {
    const RankView& view = launches.View();
    const Result<RankCounters> joined = JoinCounters(view, given);
    std::vector<std::string> all;
    for (const DeviceJoin& join : joined.value().joins) {
      for (std::string& one : RemediesOf(*joined, join, view.trace)) {
        all.push_back(std::move(one));
      }
    }
    return all;
  };
  using Words = std::vector<std::string>;
  Launches whole;
  whole.Add("a").Add("b").Add("c");
  const auto all = ReportOf({{"a", 1}, {"b", 2}, {"c", 3}});
  EXPECT_EQ(remedies(whole, Given({all})), Words{});
  Launches some;
  some.Add("a").Add("b").Add("c").Add("d");
  EXPECT_EQ(remedies(some, Given({all})),
            (Words{"Counters for 75.0 % of the kernel time of GPU 0: profile one whole step "
                   "(cudaProfilerStart/Stop), not the first kernels; the first without is d"}));
  // A second report has what the first lacks.
  EXPECT_EQ(remedies(some, Given({all, ReportOf({{"d", 4}})})), Words{});
  Launches other;
  other.Add("a").Add("b").Add("c").Add("theirs");
  EXPECT_EQ(remedies(other, Given({ReportOf({{"a", 1}, {"b", 2}, {"c", 3}, {"ours", 4}})})),
            (Words{"Counters for 75.0 % of the kernel time of GPU 0: profile one whole step "
                   "(cudaProfilerStart/Stop), not the first kernels; the first without is theirs",
                   "The two runs chose different kernels (autotuning?): the largest of the trace "
                   "alone is theirs, of the report alone ours"}));
  Launches several;
  several.Add("a", "aten::mm", "[[8, 8]]").Add("b").Add("c").Add("a", "aten::mm", "[[9, 9]]");
  const Words ambiguous = remedies(several, Given({all}));
  ASSERT_EQ(ambiguous.size(), 2U);
  EXPECT_TRUE(ambiguous[1].starts_with("50.0 % of the kernel time ran kernels that do several"))
      << ambiguous[1];
  auto empty = ReportOf({{"a", 1}});
  empty->kernels[0].values.clear();
  EXPECT_EQ(remedies(whole, Given({empty})),
            (Words{"counters.ncu-rep has no number of any kernel: with ERR_NVGPUCTRPERM run ncu as "
                   "root, or set NVreg_RestrictProfilingToAdminUsers=0"}));
}

// Of types whose operations were not counted.
TEST(CounterJoin, TypesThatWereNotCountedAreNamed) {
  Launches launches;
  launches.Add("cutlass_75_tensorop_s1688gemm_f16_256x128_nn_align1").Add("b").Add("c");
  const auto report =
      ReportOf({{"cutlass_75_tensorop_s1688gemm_f16_256x128_nn_align1", 0}, {"b", 2}, {"c", 3}});
  const RankView& view = launches.View();
  const Result<RankCounters> joined = JoinCounters(view, Given({report}));
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(RemediesOf(*joined, joined->joins.at(0), view.trace),
            (std::vector<std::string>{"Matrix units worked on fp16, which was not counted: add "
                                      "sm__ops_path_tensor_src_TYPE_dst_TYPE.sum of it"}));
}

TEST(CounterJoin, CountersOfTheTraceWin) {
  Launches launches;
  launches.Add("a");
  launches.trace().Range("a", {5000, 100}, {{kTensor, 9}});
  const Result<RankCounters> joined = JoinCounters(launches.View(), Given({ReportOf({{"a", 1}})}));
  ASSERT_TRUE(joined.ok());
  EXPECT_TRUE(joined->empty());
}

TEST(CounterJoin, SizesOfAmdAreProducts) {
  Launches launches;
  launches.Add("a").Add("b").Add("c");
  auto report = ReportOf({{"a", 1}, {"b", 2}, {"c", 3}});
  report->amd = true;
  for (CountedKernel& kernel : report->kernels) {
    kernel.grid = {4, 1, 1};
    kernel.block = {128, 1, 1};
  }
  EXPECT_EQ(Joined(launches.View(), Given({report})), "order 1, order 2, order 3");
}

// The matrix units that counters prove are believed, and not what a name says.
TEST(CounterJoin, CountersProveMatrixUnits) {
  Launches launches;
  launches.Add("some_gemm_kernel").Add("b").Add("c");
  const RankView& view = launches.View();
  SharedMeasures shared;
  GiveReports(shared, Given({ReportOf({{"some_gemm_kernel", 1024}, {"b", 0}, {"c", 0}})}));
  RankView with = view;
  with.shared = &shared;
  EXPECT_TRUE(HasReports(with));
  EXPECT_FALSE(HasReports(view));
  const Result<ModelledWork> work = ModelWork(with, {});
  ASSERT_TRUE(work.ok());
  ASSERT_EQ(work->calls.size(), 3U);
  EXPECT_EQ(work->calls[0].matrix_use, MatrixUse::kYes);
  EXPECT_EQ(work->calls[1].matrix_use, MatrixUse::kUnknown);
}

// A report that is read alone, and a recording of borescope record.
TEST(OwnCountersTest, AreThoseOfTheKernelWithTheSameNumber) {
  constexpr std::string_view kCompute = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
  constexpr std::string_view kMemory =
      "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  Launches launches;
  launches.Add("a").Add("b").Add("c");
  launches.trace()
      .Range("b", {2200, 100}, {{kMemory, 40}, {kCompute, 75}}, 0, 2)
      .Range("a", {1200, 100}, {{kCompute, 30}, {kMemory, 90}, {kTensor, 7}}, 0, 1);
  const RankView& view = launches.View();
  const RankCounters own = OwnCounters(view);
  ASSERT_EQ(own.kernels.size(), 3U);
  EXPECT_EQ(own.SpeedOfLightOf(own.kernels[0]), 0.9);
  EXPECT_EQ(own.SpeedOfLightOf(own.kernels[1]), 0.75);
  EXPECT_EQ(own.SpeedOfLightOf(own.kernels[2]), std::nullopt);
  EXPECT_EQ(own.SourceOf(own.kernels[0]), JoinSource::kRecorded);
  EXPECT_EQ(own.SourceOf(own.kernels[2]), JoinSource::kNone);
  EXPECT_EQ(own.MeasuredOf(own.kernels[0])->tensor_flops, 7);
  EXPECT_EQ(own.MeasuredOf(own.kernels[1])->tensor_flops, std::nullopt);
  EXPECT_EQ(NearestPart(own, *own.GroupOf(own.kernels[0]), true), "");
  // They are no join, whose other tables stay empty; what is about kernels takes them.
  EXPECT_TRUE((*SharedRankCounters(view))->empty());
  EXPECT_EQ((*SharedKernelCounters(view))->kernels.size(), 3U);
}

TEST(OwnCountersTest, AreNotGuessedByOrder) {
  Launches launches;
  launches.Add("a").Add("b");
  launches.trace().Range("a", {1200, 100}, {{kTensor, 7}}).Range("b", {2200, 100}, {{kTensor, 8}});
  EXPECT_TRUE(OwnCounters(launches.View()).empty());
  Launches without;
  without.Add("a");
  EXPECT_TRUE(OwnCounters(without.View()).empty());
}

}  // namespace
}  // namespace borescope::internal
