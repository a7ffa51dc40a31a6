#include <gtest/gtest.h>

#include <array>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/diff/step_change.h"
#include "borescope/catalog/catalog.h"
#include "borescope/table/table_ops.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// The tables.
constexpr size_t kTime = 0;
constexpr size_t kClasses = 1;
constexpr size_t kOperators = 2;
constexpr size_t kDiff = 3;
constexpr size_t kPhases = 4;
constexpr size_t kAnnotations = 5;
constexpr size_t kModules = 6;
constexpr size_t kSummary = 7;
constexpr size_t kRuns = 8;

Tables Compare(TestTrace& base, TestTrace& test, const Params& params = {}) {
  const AnalysisSpec* spec = FindAnalysis("diff");
  return spec->answer
      .compare(Analyse("diff", {&base.View()}, params), Analyse("diff", {&test.View()}, params),
               params)
      .value();
}

TestTrace Base() {
  TestTrace trace;
  trace.Op("aten::mm", {0, 10}).Op("aten::mm", {20, 10}).Op("aten::gone", {40, 5});
  trace.Launched("gemm<int>(float)", {50, 5}, {100, 30}, {1, 7, 0});
  trace.DeviceAnnotation("ProfilerStep#1", {0, 500}).Sync("Stream Sync", {0, 5}, {});
  return trace;
}

TestTrace Changed() {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100}).Op("aten::new", {200, 5});
  trace.Launched("gemm<int>(float)", {210, 5}, {300, 20}, {1, 7, 0});
  trace.Launched("gemm<char>(float)", {220, 5}, {350, 20}, {2, 7, 0});
  return trace;
}

TEST(DiffTest, CountsAndTimesByNameAndSide) {
  TestTrace base = Base();
  TestTrace test = Changed();
  const Tables tables = Compare(base, test);
  EXPECT_EQ(Csv(tables[kDiff]),
            "side,name,renamed_to,base_count,test_count,base_ns,test_ns,delta_ns,change,ratio,"
            "status,call_time_status,count_status\n"
            "host,aten::mm,-,2,1,20,100,80,4,5,unchanged,same,fewer\n"
            "device,gemm<char>(float),-,0,1,0,20,20,-,-,added,-,-\n"
            "device,gemm<int>(float),-,1,1,30,20,-10,-0.333333,0.666667,unchanged,same,same\n"
            "host,aten::gone,-,1,0,5,0,-5,-1,-,deleted,-,-\n"
            "host,aten::new,-,0,1,0,5,5,-,-,added,-,-\n"
            "host,cudaLaunchKernel,-,1,2,5,10,5,1,2,unchanged,same,more\n");
  EXPECT_EQ(Csv(tables[kSummary]),
            "side,status,count_status,names,renamed,delta_count,base_ns,test_ns,delta_ns,change,"
            "ratio\n"
            "host,added,-,1,0,1,0,5,5,-,-\nhost,deleted,-,1,0,-1,5,0,-5,-1,-\n"
            "host,unchanged,more,1,0,1,5,10,5,1,2\n"
            "host,unchanged,fewer,1,0,-1,20,100,80,4,5\n"
            "device,added,-,1,0,1,0,20,20,-,-\n"
            "device,unchanged,same,1,0,0,30,20,-10,-0.333333,0.666667\n");
}

// 5 % and 1 us are needed: of the total time, and of that of as many calls. More calls that are
// shorter are slower if they take longer together.
TEST(DiffTest, StatusGoesByTheTotalAndCallsAreJudgedByThemselves) {
  TestTrace base;
  TestTrace test;
  const auto put = [&](std::string_view name, int64_t base_ns, int64_t test_ns) {
    base.Kernel(name, {0, base_ns});
    test.Kernel(name, {0, test_ns});
  };
  put("slow", 100'000, 105'000);
  put("fast", 100'000, 95'000);
  put("near", 100'000, 104'999);
  put("small", 500, 1'499);
  put("more", 100'000, 100'000);
  test.Kernel("more", {200'000, 100'000});
  put("more and slow", 100'000, 100'000);
  test.Kernel("more and slow", {200'000, 120'000});
  put("many and short", 100'000, 80'000);
  test.Kernel("many and short", {200'000, 80'000});
  put("fewer and long", 100'000, 150'000);
  base.Kernel("fewer and long", {200'000, 100'000});
  put("from nothing", 0, 1'000);
  const Tables tables = Compare(base, test);
  EXPECT_EQ(Csv(tables[kDiff], {"name", "status", "call_time_status", "count_status"}),
            "name,status,call_time_status,count_status\n"
            "more and slow,slower,longer,more\nmore,slower,same,more\n"
            "many and short,slower,shorter,more\nfewer and long,faster,longer,fewer\n"
            "fast,faster,shorter,same\nslow,slower,longer,same\nnear,unchanged,same,same\n"
            "from nothing,slower,longer,same\nsmall,unchanged,same,same\n");
  EXPECT_EQ(Csv(tables[kSummary], {"status", "count_status", "names", "delta_ns"}),
            "status,count_status,names,delta_ns\n"
            "slower,more,3,280000\nslower,same,2,6000\n"
            "faster,fewer,1,-50000\nfaster,same,1,-5000\n"
            "unchanged,same,2,5998\n");
}

TEST(DiffTest, AllStepsHaveOneName) {
  TestTrace base;
  base.Annotation("ProfilerStep#102", {0, 50}).Annotation("ProfilerStep#x", {0, 10});
  TestTrace test;
  test.Annotation("ProfilerStep#103", {0, 70}).Annotation("ProfilerStep#x", {0, 10});
  EXPECT_EQ(Csv(Compare(base, test)[kDiff], {"name", "base_count", "test_count", "delta_ns"}),
            "name,base_count,test_count,delta_ns\n"
            "ProfilerStep#*,1,1,20\nProfilerStep#x,1,1,0\n");
}

// How much work from before a recording is in it says nothing of the program.
TEST(DiffTest, InheritedWorkIsNotCompared) {
  TestTrace base;
  TestTrace test;
  for (TestTrace* trace : {&base, &test}) {
    trace->Op("aten::mm", {100, 10}).Launched("gemm", {101, 5}, {200, 30}, {50, 7, 0});
  }
  test.Kernel("gemm", {0, 40}, {7, 7, 0}).Kernel("gemm", {40, 40}, {8, 7, 0});
  const Tables tables = Compare(base, test);
  EXPECT_EQ(Csv(tables[kRuns], {"run", "device_events", "inherited_events", "inherited_ns"}),
            "run,device_events,inherited_events,inherited_ns\nbase,1,0,0\ntest,1,2,80\n");
  for (size_t i = kTime; i < kRuns; ++i) {
    for (const int64_t delta_ns : i == kTime ? IntValues() : Ints(tables[i], "delta_ns")) {
      EXPECT_EQ(delta_ns, 0) << tables[i].name;
    }
  }
  EXPECT_EQ(Csv(tables[kClasses], {"class", "base_count", "test_count", "status"}),
            "class,base_count,test_count,status\ngemm,1,1,unchanged\n");
}

TEST(DiffTest, RunsOfDifferentSizeAreToldApart) {
  TestTrace base = Base();
  TestTrace test = Changed();
  test.Annotation("ProfilerStep#1", {0, 300});
  const Tables tables = Compare(base, test);
  EXPECT_EQ(Csv(tables[kRuns]),
            "run,ranks,steps,units,host_events,device_events,outside_events,outside_ns,"
            "inherited_events,inherited_ns,span_ns\n"
            "base,1,0,1,4,1,0,0,0,0,500\ntest,1,1,1,5,2,0,0,0,0,370\n");
  EXPECT_EQ(tables[kRuns].title, "The runs, compared as a whole: not both have steps");
  EXPECT_EQ(Compare(test, test)[kRuns].title,
            "The runs, compared by the mean step: of 1 in the base and 1 in the test");
}

TEST(DiffTest, OfARunWithItselfNothingChanges) {
  TestTrace a = Base();
  TestTrace b = Base();
  const Tables tables = Compare(a, b);
  EXPECT_EQ(Csv(tables[kSummary], {"side", "status", "delta_count", "delta_ns"}),
            "side,status,delta_count,delta_ns\nhost,unchanged,0,0\ndevice,unchanged,0,0\n");
}

TEST(DiffTest, ShortNamesFallTogether) {
  TestTrace base = Base();
  TestTrace test = Changed();
  Params params;
  params.values.push_back({"short-names", 1, ""});
  EXPECT_EQ(Csv(Compare(base, test, params)[kDiff],
                {"side", "name", "base_count", "test_count", "delta_ns"}),
            "side,name,base_count,test_count,delta_ns\nhost,aten::mm,2,1,80\n"
            "device,gemm,1,2,10\nhost,aten::gone,1,0,-5\nhost,aten::new,0,1,5\n"
            "host,cudaLaunchKernel,1,2,5\n");
}

TEST(DiffTest, AnEmptyRunHasNothing) {
  TestTrace base = Base();
  TestTrace none;
  const Tables tables = Compare(base, none);
  for (size_t row = 0; row < tables[kDiff].rows(); ++row) {
    EXPECT_EQ(Texts(tables[kDiff], "status")[row], "deleted");
  }
  TestTrace a;
  TestTrace b;
  EXPECT_EQ(Compare(a, b)[kDiff].rows(), 0U);
}

TEST(DiffTest, RanksAreAddedUp) {
  TestTrace a = Base();
  TestTrace b = Base();
  const Tables sums = Analyse("diff", {&a.View(0), &b.View(1)});
  EXPECT_EQ(Csv(sums[0]),
            "in_steps,side,name,count,total_ns\nno,device,gemm<int>(float),2,60\n"
            "no,host,aten::gone,2,10\nno,host,aten::mm,4,40\nno,host,cudaLaunchKernel,2,10\n");
}

TEST(DiffTest, SelectionGoesByTheLaunch) {
  TestTrace base = Base();
  base.Annotation("window", {45, 20});
  TestTrace test = Changed();
  test.Annotation("window", {205, 10});
  Params params;
  params.selection.annotation = "window";
  EXPECT_EQ(Csv(Compare(base, test, params)[kDiff], {"side", "name", "base_count", "test_count"}),
            "side,name,base_count,test_count\ndevice,gemm<int>(float),1,1\n"
            "host,window,1,1\nhost,cudaLaunchKernel,1,1\n");
}

// One step of a model: an mm of two shapes, in a module, and its backward pass.
struct Kernels {
  std::string_view small;
  std::string_view large;
  std::string_view backward;
};

TestTrace Model(const Kernels& kernels, int64_t factor) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#3", {0, 1000}).Annotation("loss", {400, 100});
  trace.Python("model.py(12): forward", {5, 300}).Python("nn.Module: Linear_3", {10, 200});
  trace.Op("aten::mm", {20, 50}, {1, kMissing, kMissing, "[[2, 2]]"});
  trace.Launched(kernels.small, {30, 5}, {1000, 10 * factor}, {1, 7, 0});
  trace.Op("aten::mm", {80, 50}, {2, kMissing, kMissing, "[[64, 64]]"});
  trace.Launched(kernels.large, {90, 5}, {2000, 100 * factor}, {2, 7, 0});
  trace.Launched("reduce_kernel", {410, 5}, {3000, 7}, {3, 7, 0});
  trace.Op("autograd::engine::evaluate_function: MmBackward0", {510, 90}, {}, 2);
  trace.Runtime("cudaLaunchKernel", {520, 5}, 4, 2);
  trace.Kernel(kernels.backward, {4000, 30 * factor}, {4, 7, 0});
  trace.Kernel("lost", {5000, 2}, {99, 9, 0});
  return trace;
}

constexpr Kernels kOld = {"ampere_sgemm_32", "ampere_sgemm_128", "ampere_sgemm_64"};
constexpr Kernels kNew = {"sm90_gemm_small", "sm90_gemm_large", "sm90_gemm_back"};

TEST(DiffTest, WorkIsComparedByWhatItBelongsTo) {
  TestTrace base = Model(kOld, 1);
  TestTrace test = Model(kNew, 2);
  const Tables tables = Compare(base, test);
  const auto rows = [&](size_t table, std::string_view key) {
    return Csv(tables[table], {key, "base_count", "test_count", "base_ns", "test_ns", "status"});
  };
  EXPECT_EQ(rows(kClasses, "class"),
            "class,base_count,test_count,base_ns,test_ns,status\n"
            "gemm,3,3,140,280,unchanged\nreduction,1,1,7,7,unchanged\n");
  EXPECT_EQ(rows(kPhases, "phase"),
            "phase,base_count,test_count,base_ns,test_ns,status\n"
            "forward,3,3,117,227,unchanged\nbackward,1,1,30,60,unchanged\n");
  // The thread of the backward pass has no annotation: its work belongs to the step.
  EXPECT_EQ(rows(kAnnotations, "annotation"),
            "annotation,base_count,test_count,base_ns,test_ns,status\n"
            "ProfilerStep#*,3,3,140,280,unchanged\nloss,1,1,7,7,unchanged\n");
  EXPECT_EQ(rows(kModules, "module"),
            "module,base_count,test_count,base_ns,test_ns,status\n"
            "Linear,2,2,110,220,unchanged\n(no module),2,2,37,67,unchanged\n");
  EXPECT_EQ(rows(kOperators, "operator"),
            "operator,base_count,test_count,base_ns,test_ns,status\n"
            "aten::mm,2,2,110,220,unchanged\n"
            "autograd::engine::evaluate_function: MmBackward0,1,1,30,60,unchanged\n"
            "(no operator),1,1,7,7,unchanged\n");
  EXPECT_EQ(Csv(tables[kRuns], {"run", "device_events", "outside_events", "outside_ns"}),
            "run,device_events,outside_events,outside_ns\nbase,4,1,2\ntest,4,1,2\n");
}

TEST(DiffTest, RenamedKernelsArePairedByOperatorAndShape) {
  TestTrace base = Model(kOld, 1);
  TestTrace test = Model(kNew, 2);
  EXPECT_EQ(Csv(Compare(base, test)[kDiff],
                {"side", "name", "renamed_to", "base_ns", "test_ns", "status"}),
            "side,name,renamed_to,base_ns,test_ns,status\n"
            "device,ampere_sgemm_128,sm90_gemm_large,100,200,unchanged\n"
            "device,ampere_sgemm_64,sm90_gemm_back,30,60,unchanged\n"
            "device,ampere_sgemm_32,sm90_gemm_small,10,20,unchanged\n"
            "host,ProfilerStep#*,-,600,600,unchanged\nhost,aten::mm,-,90,90,unchanged\n"
            "host,autograd::engine::evaluate_function: MmBackward0,-,85,85,unchanged\n"
            "host,cudaLaunchKernel,-,20,20,unchanged\nhost,loss,-,95,95,unchanged\n"
            "host,model.py: forward,-,100,100,unchanged\n"
            "host,nn.Module: Linear_3,-,100,100,unchanged\n"
            "device,reduce_kernel,-,7,7,unchanged\n");
  EXPECT_EQ(Csv(Compare(base, test)[kSummary], {"side", "status", "names", "renamed"}),
            "side,status,names,renamed\nhost,unchanged,7,0\ndevice,unchanged,4,3\n");
}

// One kernel for both shapes: it is paired with the one that takes longer, the other is gone.
TEST(DiffTest, AKernelIsInOnePairAtMost) {
  TestTrace base = Model(kOld, 1);
  TestTrace test = Model({"sm90_gemm", "sm90_gemm", "softmax_kernel"}, 1);
  EXPECT_EQ(Csv(Head(Compare(base, test)[kDiff], 4),
                {"side", "name", "renamed_to", "base_count", "test_count", "status"}),
            "side,name,renamed_to,base_count,test_count,status\n"
            "device,ampere_sgemm_64,-,1,0,deleted\n"
            "device,softmax_kernel,-,0,1,added\n"
            "device,ampere_sgemm_128,sm90_gemm,1,2,unchanged\n"
            "device,ampere_sgemm_32,-,1,0,deleted\n");
}

// Of kernels without shapes only single ones are known to be the same.
TEST(DiffTest, WithoutShapesSeveralKernelsAreNotPaired) {
  const auto run = [](std::string_view first, std::string_view second) {
    TestTrace trace;
    trace.Op("aten::mm", {0, 10}).Launched(first, {2, 1}, {100, 10}, {1, 7, 0});
    trace.Op("aten::mm", {20, 10}).Launched(second, {22, 1}, {200, 20}, {2, 7, 0});
    return trace;
  };
  TestTrace base = run("gemm_a", "gemm_b");
  TestTrace test = run("gemm_c", "gemm_d");
  const Tables tables = Compare(base, test);
  for (size_t row = 0; row < tables[kDiff].rows(); ++row) {
    EXPECT_TRUE(tables[kDiff].Find("renamed_to")->IsMissing(row));
  }
}

// Every table has all device work of either run, whatever the kernels are called.
TEST(DiffTest, TablesOfDeviceWorkAddUpAlike) {
  TestTrace base = Model(kOld, 3);
  TestTrace test = Model({"sm90_gemm", "sm90_gemm", "ampere_sgemm_32"}, 5);
  const Tables tables = Compare(base, test);
  for (const std::string_view column : {"base_ns", "test_ns"}) {
    int64_t all = 0;
    for (size_t row = 0; row < tables[kDiff].rows(); ++row) {
      all += Texts(tables[kDiff], "side")[row] == "device" ? Ints(tables[kDiff], column)[row] : 0;
    }
    for (const size_t table : {kClasses, kPhases, kAnnotations, kModules, kOperators}) {
      EXPECT_EQ(SumOf(tables[table], column), all) << tables[table].name << ' ' << column;
    }
  }
}

// Rows within rows do not count twice: the times of one thread are no longer than a step.
TEST(DiffTest, HostTimesAddUpToTheStep) {
  TestTrace base = Model(kOld, 1);
  const Tables tables = Compare(base, base);
  int64_t host_ns = 0;
  for (size_t row = 0; row < tables[kDiff].rows(); ++row) {
    const std::string name = Texts(tables[kDiff], "name")[row];
    const bool is_first_thread =
        Texts(tables[kDiff], "side")[row] == "host" && !name.starts_with("autograd");
    host_ns += is_first_thread ? Ints(tables[kDiff], "base_ns")[row] : 0;
  }
  EXPECT_EQ(host_ns, 1000 + 5);  // with the launch on the other thread
}

TEST(DiffTest, LinesAndAddressesDoNotMakeNames) {
  TestTrace base;
  base.Python("profiler.py(821): step", {0, 10}).Python("<f at 0x7f0000001234>", {20, 5});
  base.Python("profiler.py(900): step", {40, 10});
  TestTrace test;
  test.Python("profiler.py(822): step", {0, 12}).Python("<f at 0x7fffff001234>", {20, 5});
  EXPECT_EQ(Csv(Compare(base, test)[kDiff], {"side", "name", "base_count", "test_count"}),
            "side,name,base_count,test_count\nhost,profiler.py: step,2,1\nhost,<f at 0x*>,1,1\n");
}

// Twice as many calls in twice as many steps are as many calls.
TEST(DiffTest, CountsAreComparedPerStep) {
  const auto run = [](int64_t steps) {
    TestTrace trace;
    for (int64_t i = 0; i < steps; ++i) {
      trace.Annotation("ProfilerStep#" + std::to_string(i), {i * 100, 90});
      trace.Op("every step", {i * 100 + 10, 10});
    }
    trace.Op("once", {20, 5});
    return trace;
  };
  TestTrace base = run(2);
  TestTrace test = run(4);
  EXPECT_EQ(Csv(Compare(base, test)[kDiff], {"name", "base_count", "test_count", "count_status"}),
            "name,base_count,test_count,count_status\nonce,0.5,0.25,fewer\n"
            "ProfilerStep#*,1,1,same\nevery step,1,1,same\n");
  EXPECT_EQ(Compare(base, test)[kDiff].title, "Changes by name per step");
}

// A step of 100 ns with a kernel of 60 ns against one of 80 ns with one of 30 ns; in the base three
// of them, and work between the steps.
TEST(DiffTest, TheAnswerIsTheStepAndItsParts) {
  const auto run = [](int64_t steps, int64_t length_ns, int64_t kernel_ns, int64_t copy_ns) {
    TestTrace trace;
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t begin_ns = i * 1000;
      trace.Annotation("ProfilerStep#" + std::to_string(i), {begin_ns, length_ns});
      trace.Launched("gemm", {begin_ns, 1}, {begin_ns + 10, kernel_ns}, {10 * i + 1, 7, 0});
      trace.Runtime("cudaMemcpyAsync", {begin_ns + 2, 1}, 10 * i + 2);
      trace.Memcpy("Memcpy HtoD", {begin_ns + 10 + kernel_ns, copy_ns}, {10 * i + 2, 7, 0});
    }
    trace.Launched("gemm", {500, 1}, {600, 300}, {900, 7, 0});
    return trace;
  };
  TestTrace base = run(3, 100, 60, 5);
  TestTrace test = run(1, 80, 30, 5);
  const Tables tables = Compare(base, test);
  EXPECT_EQ(tables[kTime].title,
            "80 ns against 100 ns a step, 1.25 times faster; of the 20 ns: 30 ns less compute, "
            "10 ns more idle");
  EXPECT_EQ(Csv(tables[kTime]),
            "part,base_ns,test_ns,delta_ns,change,ratio,base_stddev_ns,test_stddev_ns\n"
            "step,100,80,-20,-0.2,0.8,0,-\n"
            "compute,60,30,-30,-0.5,0.5,-,-\nexposed copies,5,5,0,0,1,-,-\n"
            "idle,35,45,10,0.285714,1.28571,-,-\n");
  EXPECT_EQ(Csv(tables[kClasses], {"class", "base_ns", "test_ns", "change"}),
            "class,base_ns,test_ns,change\ngemm,60,30,-0.5\ncopy,5,5,0\n");
}

int64_t DigitsAfter(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  std::string digits;
  for (const char c : text.substr(at + before.size())) {
    if (c == ' ') break;
    if (c != '.') digits += c;
  }
  return std::stoll(digits);
}

// What is written adds up, whatever is rounded.
TEST(DiffTest, PartsOfTheSentenceAddUpAsTheyAreWritten) {
  for (int64_t seed = 1; seed < 400; ++seed) {
    const int64_t a = seed * 7'919'333 % 50'000'017;
    const int64_t b = seed * 104'729'117 % 30'000'001;
    const int64_t c = seed * 1'299'709 % 9'999'991;
    const TimeChange changes[] = {{"step", a + b + c, b + c + a / 2 + 17},
                                  {"compute", a, b},
                                  {"copies", b, c},
                                  {"idle", c, a / 2 + 17}};
    const std::string text = SentenceOf(changes, "step");
    // Each is rounded by itself.
    const auto is_written = [&](int64_t ns, std::string_view before) {
      const size_t at = text.find(before) + before.size();
      const size_t point = text.find('.', at);
      const size_t blank = text.find(' ', at);
      const size_t decimals = point < blank ? blank - point - 1 : 0;
      int64_t quantum = 1'000'000;
      for (size_t i = 0; i < decimals; ++i) {
        quantum /= 10;
      }
      return text.substr(blank + 1, 2) != "ms" ||
             std::abs(DigitsAfter(text, before) * quantum - ns) * 2 <= quantum;
    };
    EXPECT_TRUE(is_written(a + b + c, "against ")) << text;
    EXPECT_TRUE(is_written(b + c + a / 2 + 17, "")) << text;
    int64_t sum = 0;
    const std::string parts = text.substr(text.find(": ") + 2);
    for (size_t at = 0; at < parts.size();) {
      const size_t end = std::min(parts.find(", ", at), parts.size());
      const std::string part = parts.substr(at, end - at);
      sum += (part.find(" less ") != std::string::npos ? -1 : 1) * DigitsAfter(part, "");
      at = end + 2;
    }
    const int64_t test = DigitsAfter(text, "");
    const int64_t base = DigitsAfter(text, "against ");
    EXPECT_EQ(sum, test - base) << text;
    if (test != base) {
      EXPECT_EQ(DigitsAfter(text, "of the "), std::abs(test - base)) << text;
    }
  }
}

// 84.507, 89.400 and -4.893 are 85, 89 and -5, which do not add up: a digit more, and no other
// ones.
TEST(DiffTest, PartsOfTheSentenceAreRoundedAsInTheTable) {
  const TimeChange changes[] = {{"step", 100'400'000, 184'907'000},
                                {"compute", 90'000'000, 179'400'000},
                                {"idle", 10'400'000, 5'507'000}};
  EXPECT_EQ(SentenceOf(changes, "step"),
            "184.9 ms against 100.4 ms a step, 1.84 times slower; of the 84.5 ms: 89.4 ms more "
            "compute, 4.9 ms less idle");
}

// 1.96 for many; Student's t for few; nothing of one.
TEST(DiffTest, ChanceIsThatOfTwoMeans) {
  EXPECT_FALSE(ChanceOf({1, 5.0}, {9, 5.0}).has_value());
  EXPECT_NEAR(*ChanceOf({2, 1.0}, {2, 1.0}), 4.30, 0.01);             // df 2, deviation 1
  EXPECT_NEAR(*ChanceOf({5, 10.0}, {5, 10.0}), 2.31 * 6.3246, 0.05);  // df 8
  EXPECT_NEAR(*ChanceOf({5000, 10.0}, {5000, 10.0}), 1.96 * 0.2, 0.001);
  EXPECT_EQ(*ChanceOf({5, 0.0}, {5, 0.0}), 0.0);
}

TEST(DiffTest, WhatTheSpreadOfTheStepsExplainsIsSaid) {
  const auto run = [](int64_t shift_us, std::initializer_list<int64_t> kernels_us) {
    TestTrace trace;
    int64_t step = 0;
    for (const int64_t kernel_us : kernels_us) {
      const int64_t begin_ns = step * 1'000'000;
      trace.Annotation("ProfilerStep#" + std::to_string(step), {begin_ns, 20'000});
      trace.Launched("gemm", {begin_ns, 1000}, {begin_ns, 1000 * (kernel_us + shift_us)},
                     {step + 1, 7, 0});
      ++step;
    }
    return trace;
  };
  TestTrace base = run(0, {80, 120, 100, 90, 110});
  TestTrace near = run(5, {90, 110, 100, 80, 120});
  TestTrace far = run(60, {90, 110, 100, 80, 120});
  EXPECT_EQ(Compare(base, near)[kTime].title,
            "105.0 us against 100.0 us a step, 1.05 times slower; within the spread of "
            "the steps (5 against 5: 23.1 us either way); of the 5.0 us: 5.0 us more compute");
  EXPECT_EQ(Compare(base, far)[kTime].title,
            "160 us against 100 us a step, 1.60 times slower; of the 60 us: 60 us more compute");
  EXPECT_EQ(Csv(Head(Compare(base, near)[kTime], 1), {"base_stddev_ns", "test_stddev_ns"}),
            "base_stddev_ns,test_stddev_ns\n15811.4,15811.4\n");
}

TEST(DiffTest, OfNoChangeThereIsNoPart) {
  const TimeChange same[] = {{"step", 67'100'000, 67'100'000}, {"compute", 67'100'000, 67'100'000}};
  EXPECT_EQ(SentenceOf(same, "step"), "67.1 ms against 67.1 ms a step, no change");
  const TimeChange slower[] = {{"run", 1'000'000'000, 3'000'000'000},
                               {"compute", 0, 0},
                               {"idle", 1'000'000'000, 3'000'000'000}};
  EXPECT_EQ(SentenceOf(slower, "run"),
            "3.00 s against 1.00 s, 3.00 times slower; of the 2.00 s: 2.00 s more idle");
}

// The first four are HolisticTraceAnalysis' own tests.
TEST(ShortNameTest, ArgumentsAndReturnTypesGo) {
  EXPECT_EQ(ShortName("a(1)"), "a");
  EXPECT_EQ(ShortName("a<int>(b)"), "a");
  EXPECT_EQ(ShortName("void at::native::vectorized_elementwise_kernel<4, at::native::"
                      "CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, "
                      "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)"),
            "at::native::vectorized_elementwise_kernel");
  EXPECT_EQ(ShortName("Memcpy HtoD (Pageable -> Device)"), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(ShortName("void at::native::(anonymous namespace)::f<int>(float*)"),
            "at::native::(anonymous namespace)::f");
  EXPECT_EQ(ShortName("ns::f(a<b>(c)) const"), "ns::f");
  EXPECT_EQ(ShortName("bool ns::operator<(a, b)"), "ns::operator<");
  EXPECT_EQ(ShortName("std::ostream& ns::operator<<(a)"), "ns::operator<<");
  EXPECT_EQ(ShortName("void ns::f<int>::operator()(int) const"), "ns::f::operator()");
  EXPECT_EQ(ShortName("std::enable_if<(a->b), int>::type f<3>(int)"), "f");
}

TEST(ShortNameTest, OtherNamesStay) {
  for (const char* name :
       {"aten::mm", "ProfilerStep#5", "train.py(12): main", "my step (1)", "loss (train) 5", "",
        "a > b", "a<b", "f(", ")", "autograd::engine::evaluate_function: MmBackward0", "<built-in>",
        "Memset (Device)", "operator< (x)"}) {
    EXPECT_EQ(ShortName(name), name);
  }
}

// --- waiting for each other ---

constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";

// A run of three ranks of which each makes two collectives, the second one in no step. In the first
// one the ranks are for `lengths`.
Tables RunOfRanks(const std::array<int64_t, 3>& lengths, bool has_steps) {
  std::array<TestTrace, 3> traces;
  for (size_t rank = 0; rank < traces.size(); ++rank) {
    TestTrace& trace = traces[rank];
    if (has_steps) {
      trace.Annotation("ProfilerStep#1", {0, 10'000});
      trace.Annotation("ProfilerStep#2", {10'000, 10'000});
    }
    trace.Kernel(kAllReduce, {9'000 - lengths[rank], lengths[rank]});
    trace.Kernel(kAllReduce, {30'000, rank == 0 ? 500 : 600});
  }
  return Analyse("diff", {&traces[0].View(0), &traces[1].View(1), &traces[2].View(2)});
}

Tables CompareRuns(const Tables& base, const Tables& test) {
  return FindAnalysis("diff")->answer.compare(base, test, {}).value();
}

// Of the runs without steps, which are compared by rank, the second collective is counted as well:
// ranks 1 and 2 wait 200 ns for rank 0 in both.
TEST(DiffTest, WaitingIsComparedByTheRankThatCameLast) {
  const Tables base = RunOfRanks({1'000, 1'000, 1'000}, false);
  const Tables tables = CompareRuns(base, RunOfRanks({4'000, 4'000, 1'000}, false));
  EXPECT_EQ(tables[1].name, "diff_waiting");
  EXPECT_EQ(tables[1].title, "Waiting in collectives by the last rank per rank");
  EXPECT_EQ(Csv(tables[1]), "rank,base_ns,test_ns,delta_ns,change\n2,0,2000,2000,-\n0,67,67,0,0\n");
  EXPECT_TRUE(tables[kTime].title.ends_with(
      "; ranks wait 2.0 us more for each other in collectives, 100.0 % of it for rank 2"))
      << tables[kTime].title;
}

TEST(DiffTest, WaitingOutsideOfStepsIsNotComparedWhereStepsAre) {
  const Tables base = RunOfRanks({4'000, 4'000, 1'000}, true);
  const Tables tables = CompareRuns(base, RunOfRanks({1'000, 3'000, 1'000}, true));
  EXPECT_EQ(Csv(tables[1]),
            "rank,base_ns,test_ns,delta_ns,change\n2,1000,167,-833,-0.833\n0,0,167,167,-\n");
  EXPECT_TRUE(tables[kTime].title.ends_with("ranks wait 666 ns less for each other in collectives"))
      << tables[kTime].title;
}

TEST(DiffTest, WithoutMatchedCollectivesOfBothRunsThereIsNoWaiting) {
  const Tables base = RunOfRanks({4'000, 4'000, 1'000}, true);
  EXPECT_EQ(CompareRuns(base, base)[1].name, "diff_waiting");
  TestTrace one;
  one.Annotation("ProfilerStep#1", {0, 10'000}).Kernel(kAllReduce, {5'000, 4'000});
  const Tables alone = Analyse("diff", {&one.View()});
  for (const Tables& tables : {CompareRuns(base, alone), CompareRuns(alone, base)}) {
    EXPECT_EQ(tables[1].name, "diff_classes");
    EXPECT_EQ(tables[kTime].title.find("ranks wait"), std::string::npos);
  }
}

}  // namespace
}  // namespace borescope::internal
