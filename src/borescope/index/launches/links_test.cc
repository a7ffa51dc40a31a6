#include "borescope/index/launches/links.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/index/call_tree.h"
#include "borescope/index/trace_index.h"
#include "borescope/testing/test_trace.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {

namespace {

using testkit::OpArgs;
using testkit::TraceMaker;

constexpr int64_t kMainThread = 1;
constexpr int64_t kAutogradThread = 2;

OpArgs Forward(int64_t sequence) { return {.sequence = sequence, .forward_thread = 0}; }
OpArgs Backward(int64_t sequence) { return {.sequence = sequence, .forward_thread = 1}; }

// "backward <- forward", one per link.
std::vector<std::string> LinksOf(TraceMaker& maker) {
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  std::vector<std::string> links;
  for (const ForwardBackwardLink& link :
       LinkForwardBackward(trace, BuildCallTree(trace, 1, diagnostics))) {
    links.push_back(std::string(trace.Name(link.backward)) + " <- " +
                    std::string(trace.Name(link.forward)));
  }
  return links;
}

using Links = std::vector<std::string>;

TEST(LinksTest, ABackwardOperatorBelongsToTheForwardOneOfItsNumber) {
  TraceMaker maker;
  maker.Op("mm", kMainThread, {0, 5}, Forward(1));
  maker.Op("relu", kMainThread, {10, 5}, Forward(2));
  maker.Op("ReluBackward0", kAutogradThread, {100, 5}, Backward(2));
  maker.Op("MmBackward0", kAutogradThread, {110, 5}, Backward(1));
  EXPECT_EQ(LinksOf(maker), (Links{"ReluBackward0 <- relu", "MmBackward0 <- mm"}));
}

// The engine's wrapper and the function itself have the same number.
TEST(LinksTest, OfNestedBackwardRowsTheOutermostIsLinked) {
  TraceMaker maker;
  maker.Op("mm", kMainThread, {0, 5}, Forward(1));
  maker.Op("evaluate_function: MmBackward0", kAutogradThread, {100, 20}, Backward(1));
  maker.Op("MmBackward0", kAutogradThread, {105, 10}, Backward(1));
  maker.Op("aten::mm", kAutogradThread, {106, 5});
  EXPECT_EQ(LinksOf(maker), (Links{"evaluate_function: MmBackward0 <- mm"}));
}

// Frames and annotations between wrapper and function do not separate them.
TEST(LinksTest, RowsOfOtherKindsInBetweenDoNotMatter) {
  TraceMaker maker;
  maker.Op("mm", kMainThread, {0, 5}, Forward(1));
  maker.Op("wrapper", kAutogradThread, {100, 20}, Backward(1));
  maker.Host(HostKind::kAnnotation, "note", kAutogradThread, {101, 18});
  maker.Op("function", kAutogradThread, {105, 10}, Backward(1));
  EXPECT_EQ(LinksOf(maker), (Links{"wrapper <- mm"}));
}

TEST(LinksTest, OfSeveralForwardRowsTheLastBeforeItCounts) {
  TraceMaker maker;
  maker.Op("outer", kMainThread, {0, 50}, Forward(1));
  maker.Op("inner", kMainThread, {10, 5}, Forward(1));
  maker.Op("of the next step", kMainThread, {500, 5}, Forward(1));
  maker.Op("backward", kAutogradThread, {100, 5}, Backward(1));
  maker.Op("backward of the next step", kAutogradThread, {600, 5}, Backward(1));
  EXPECT_EQ(LinksOf(maker),
            (Links{"backward <- inner", "backward of the next step <- of the next step"}));
}

TEST(LinksTest, ABackwardOperatorWithoutForwardIsNotLinked) {
  TraceMaker maker;
  maker.Op("other", kMainThread, {0, 5}, Forward(2));
  maker.Op("later", kMainThread, {200, 5}, Forward(1));
  maker.Op("backward", kAutogradThread, {100, 5}, Backward(1));
  EXPECT_EQ(LinksOf(maker), Links{});
}

// Double backward: a backward operator has a number of its own and is forward to another one.
TEST(LinksTest, ChainedNumbers) {
  TraceMaker maker;
  maker.Op("sin", kMainThread, {0, 5}, Forward(1));
  maker.Op("SinBackward0", kAutogradThread, {100, 50}, Backward(1));
  maker.Op("cos", kAutogradThread, {110, 5}, Forward(2));
  maker.Op("CosBackward0", kAutogradThread, {200, 5}, Backward(2));
  EXPECT_EQ(LinksOf(maker), (Links{"SinBackward0 <- sin", "CosBackward0 <- cos"}));
}

// Forward operators of files without "Fwd thread id" are forward, too.
TEST(LinksTest, AMissingForwardThreadMeansForward) {
  TraceMaker maker;
  maker.Op("mm", kMainThread, {0, 5}, {.sequence = 1});
  maker.Op("backward", kAutogradThread, {100, 5}, Backward(1));
  maker.Op("no number", kAutogradThread, {200, 5}, {.sequence = -1, .forward_thread = 1});
  EXPECT_EQ(LinksOf(maker), (Links{"backward <- mm"}));
}

// Looking upwards from each operator in turn would take minutes.
TEST(LinksTest, ManyOperatorsBelowManyFrames) {
  constexpr int64_t kRows = 100'000;
  TraceMaker maker;
  maker.Op("mm", kMainThread, {0, 5}, Forward(1));
  maker.Op("around", kAutogradThread, {10, 20 * kRows}, Backward(2));
  for (int64_t i = 0; i < kRows; ++i) {
    maker.Host(HostKind::kPython, "frame", kAutogradThread, {20 + i, 10 * kRows - 2 * i});
  }
  for (int64_t i = 0; i < kRows; ++i) {
    maker.Op("backward", kAutogradThread, {2 * kRows + 2 * i, 1}, Backward(1));
  }
  EXPECT_EQ(LinksOf(maker), Links(kRows, "backward <- mm"));
}

// The nearest operator decides, whatever surrounds or precedes it.
TEST(LinksTest, OnlyTheNearestOperatorMakesATwin) {
  TraceMaker maker;
  maker.Op("mm", kMainThread, {0, 5}, Forward(1));
  maker.Op("outer", kAutogradThread, {100, 50}, Backward(1));
  maker.Op("without number", kAutogradThread, {110, 30});
  maker.Op("inner", kAutogradThread, {115, 10}, Backward(1));
  maker.Op("next", kAutogradThread, {160, 10}, Backward(1));
  EXPECT_EQ(LinksOf(maker), (Links{"outer <- mm", "inner <- mm", "next <- mm"}));
}

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
