#include "borescope/analysis/measures/recorded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "borescope/analysis/measures/flops/counter_list.h"
#include "borescope/base/text/text.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

std::string_view RemedyOfAProfiler(MissingData lack) {
  return lack == MissingData::kShapes ? "record shapes" : "record work";
}

TEST(RemediesTest, AreThoseOfTheReader) {
  TestTrace pytorch;
  EXPECT_EQ(RemedyFor(MissingData::kShapes, pytorch.View().trace), "");
  TestTrace other;
  other.meta().remedy = RemedyOfAProfiler;
  EXPECT_EQ(RemedyFor(MissingData::kShapes, other.View().trace), "record shapes");
}

// That no option was missing: one too many was given.
TEST(RemediesTest, CountersInPlaceOfDeviceWork) {
  TestTrace trace;
  trace.Op("f", {0, 10}).Range("k", {0, 10}, {{"m", 1}});
  EXPECT_TRUE(RemedyFor(MissingData::kDeviceWork, trace.View().trace)
                  .ends_with("record once more without profiler_metrics for times"));
  for (const MissingData lack : {MissingData::kLaunches, MissingData::kCollectives,
                                 MissingData::kGraphs, MissingData::kCopies}) {
    EXPECT_EQ(RemedyFor(lack, trace.View().trace),
              RemedyFor(MissingData::kDeviceWork, trace.View().trace));
  }
  EXPECT_EQ(RemedyFor(MissingData::kMemory, trace.View().trace), "");
  EXPECT_TRUE(Contains(Csv(Analyse("doctor", {&trace.View()})[0], {"help"}),
                       "No kernel, memcpy or memset was recorded: hardware counters were measured "
                       "instead (`borescope counters`); record once more"));
}

TEST(RemediesTest, CountersBesideDeviceWorkAndOfOthers) {
  TestTrace beside;
  beside.Kernel("k", {0, 10}).Range("k", {0, 10}, {{"m", 1}});
  EXPECT_EQ(RemedyFor(MissingData::kDeviceWork, beside.View().trace), "");
  TestTrace other;
  other.meta().format = TraceFormat::kRocpd;
  other.meta().remedy = RemedyOfAProfiler;
  other.Range("k", {0, 10}, {{"m", 1}});
  EXPECT_EQ(RemedyFor(MissingData::kDeviceWork, other.View().trace), "record work");
}

// Programs of JAX get no advice about NVTX.
TEST(RemediesTest, ProfilersOfOneFrameworkHaveTheirOwnWords) {
  for (const TraceFormat format : {TraceFormat::kXla, TraceFormat::kOnnxRuntime}) {
    TestTrace trace;
    trace.meta().format = format;
    trace.meta().remedy = RemedyOfAProfiler;
    trace.Kernel("k", {0, 10});
    for (const MissingData lack : {MissingData::kAnnotations, MissingData::kSteps}) {
      EXPECT_EQ(RemedyFor(lack, trace.View().trace), RemedyOfAProfiler(lack));
    }
  }
}

// An option of PyTorch's profiler is no help to those who used something else.
TEST(RemediesTest, AFileOfAProgramThatIsNotKnownGetsNoOptions) {
  TestTrace trace;
  trace.meta().producer = "unknown: no event in it is of PyTorch's profiler";
  trace.LibraryCall("a", {0, 10});
  for (int lack = 1; lack < static_cast<int>(MissingData::kCount); ++lack) {
    EXPECT_TRUE(RemedyFor(static_cast<MissingData>(lack), trace.View().trace)
                    .ends_with("nothing in this file says which program wrote it"));
  }
  EXPECT_FALSE(IsOfPyTorchProgram(trace.View().trace));
  const std::string checks = Csv(Analyse("doctor", {&trace.View()})[0], {"check", "severity"});
  EXPECT_TRUE(Contains(checks, "no-stacks,n/a")) << checks;
  EXPECT_TRUE(Contains(checks, "no-execution-trace,n/a")) << checks;
}

// What there is to do depends on the vendor, and on the CUDA that the profiler was built for.
std::string_view RemedyOf(std::string_view producer, Vendor vendor) {
  TestTrace trace;
  trace.meta().producer = producer;
  trace.meta().vendor = vendor;
  return RemedyFor(MissingData::kCounters, trace.View().trace);
}

TEST(RemediesTest, CountersByVersionAndVendor) {
  constexpr std::string_view kNew = "this PyTorch records none";
  constexpr std::string_view kOld = "PyTorch's profiler delivers them up to CUDA 12.6";
  for (const std::string_view producer :
       {"PyTorch profiler (Kineto, CUDA 12.8)", "PyTorch profiler (Kineto, CUDA 13.0)",
        "PyTorch profiler (Kineto)", "PyTorch profiler (Kineto, CUDA )", "PyTorch profiler"}) {
    EXPECT_TRUE(RemedyOf(producer, Vendor::kNvidia).starts_with(kNew)) << producer;
  }
  for (const std::string_view producer :
       {"PyTorch profiler (Kineto, CUDA 12.6)", "PyTorch profiler (Kineto, CUDA 11.8)"}) {
    EXPECT_TRUE(RemedyOf(producer, Vendor::kNvidia).starts_with(kOld)) << producer;
    EXPECT_TRUE(Contains(RemedyOf(producer, Vendor::kNvidia), "stop DCGM")) << producer;
  }
  EXPECT_TRUE(Contains(RemedyOf("PyTorch profiler (Kineto)", Vendor::kAmd), "rocprofv3 --pmc"));
}

// The lines of help give, joined as a shell joins them, the list of all metrics.
TEST(RemediesTest, InstructionsHoldTheWholeListOnce) {
  std::string text = CounterInstructions();
  const std::string lines = text.substr(text.find("METRICS=") + std::string("METRICS=").size());
  std::string joined;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);
    begin = end + 1;
    EXPECT_LE(line.size(), 80U);
    const bool goes_on = line.ends_with('\\');
    joined += line.substr(0, line.size() - (goes_on ? 1 : 0));
  }
  EXPECT_EQ(joined, WantedMetricsAsList());
  EXPECT_EQ(WantedMetrics().size(), 24U);
}

}  // namespace

}  // namespace borescope::internal
