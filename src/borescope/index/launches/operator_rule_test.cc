#include "borescope/index/launches/operator_rule.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/index/trace_index.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// "kernel: operator" of all device work, in the order of its streams.
std::string OperatorsOf(TestTrace& trace) {
  const RankView& view = trace.View();
  std::string text;
  for (uint32_t row = 0; row < view.trace.device().size(); ++row) {
    const HostId op = view.index.correlation.op_of[row];
    text += std::string(view.trace.Name(DeviceId{row})) + ": " +
            (op.valid() ? std::string(view.trace.Name(op)) : "-") + "\n";
  }
  return text;
}

TestTrace WithRanges(TraceFormat format) {
  TestTrace trace;
  trace.meta().format = format;
  trace.Annotation("ProfilerStep#1", {0, 1000}).Annotation("solve", {100, 500});
  trace.Annotation("MPI:halo", {200, 100}).AsyncAnnotation("upload", {700, 100});
  trace.Launched("in halo", {210, 5}, {220, 10}, {1, 7, 0});
  trace.Launched("in solve", {400, 5}, {410, 10}, {2, 7, 0});
  trace.Launched("in the step alone", {650, 5}, {660, 10}, {3, 7, 0});
  trace.Launched("across an end", {590, 20}, {680, 10}, {4, 7, 0});
  trace.Launched("in overlapping ranges alone", {710, 5}, {720, 10}, {5, 7, 0});
  return trace;
}

TEST(OperatorRuleTest, RangesStandForOperatorsThatNobodyRecorded) {
  TestTrace trace = WithRanges(TraceFormat::kNsys);
  EXPECT_EQ(OperatorsOf(trace),
            "in halo: MPI:halo\nin solve: solve\nin the step alone: -\nacross an end: -\n"
            "in overlapping ranges alone: -\n");
  EXPECT_TRUE(trace.View().index.operators.takes_ranges());
}

TEST(OperatorRuleTest, RangesOfPyTorchsProfilerAreNoOperators) {
  TestTrace trace = WithRanges(TraceFormat::kKineto);
  EXPECT_EQ(OperatorsOf(trace),
            "in halo: -\nin solve: -\nin the step alone: -\nacross an end: -\n"
            "in overlapping ranges alone: -\n");
}

TEST(OperatorRuleTest, WhereOperatorsWereRecordedRangesAreNone) {
  TestTrace trace = WithRanges(TraceFormat::kNsys);
  trace.Op("aten::mm", {640, 50});
  EXPECT_EQ(OperatorsOf(trace),
            "in halo: -\nin solve: -\nin the step alone: aten::mm\nacross an end: -\n"
            "in overlapping ranges alone: -\n");
}

TEST(OperatorRuleTest, WithoutEitherNoWorkLacksAnOperator) {
  TestTrace trace;
  trace.meta().format = TraceFormat::kNsys;
  trace.Launched("k", {10, 5}, {20, 10}, {1, 7, 0});
  const RankView& view = trace.View();
  EXPECT_TRUE(view.index.operators.has_none());
  EXPECT_EQ(view.index.diagnostics.count(Diag::kUnlinkedOp), 0U);
}

}  // namespace
}  // namespace borescope::internal
