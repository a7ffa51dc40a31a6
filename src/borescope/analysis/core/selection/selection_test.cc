#include "borescope/analysis/core/selection/selection.h"

#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

using Names = std::vector<std::string>;

NumberRanges Ranges(std::string_view text) { return NumberRanges::Parse(text).value(); }

TEST(SelectionMembersTest, OnlyNumbersWrittenSinglyAreMissed) {
  EXPECT_EQ(SinglesOf(Ranges("3,5..9,1")), (std::set<int64_t>{1, 3}));
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {0, 100}).Annotation("ProfilerStep#2", {100, 100});
  trace.Kernel("a", {0, 10}, {1, 7, 0}).DeviceAnnotation("b", {0, 10}, {2, 9, 0});
  Selection selection;
  selection.steps = Ranges("1,4..9,12");
  selection.gpus = Ranges("0,3");
  selection.streams = Ranges("7,9");  // nothing ran on stream 9
  EXPECT_EQ(NamesOf(FindUnknown(trace.View(), selection)), (Names{"step 12", "gpu 3", "stream 9"}));
  EXPECT_EQ(NamesOf(FindUnknown(trace.View(), {})), Names());
}

TEST(SelectionMembersTest, InstancesAreThoseOfTheAnnotation) {
  TestTrace trace;
  trace.Annotation("part", {0, 10}).Annotation("part", {20, 10}).Annotation("other", {40, 10});
  Selection selection;
  selection.annotation = "part";
  selection.instances = Ranges("0,1,2");
  EXPECT_EQ(NamesOf(FindUnknown(trace.View(), selection)), (Names{"instance 2"}));
}

TEST(SelectionMembersTest, WhatOneRankHasIsKnown) {
  TestTrace a;
  a.Annotation("ProfilerStep#1", {0, 100});
  TestTrace b;
  b.Annotation("ProfilerStep#2", {0, 100});
  Selection selection;
  selection.steps = Ranges("1,2,3");
  SelectionMembers unknown = FindUnknown(a.View(), selection);
  Intersect(unknown, FindUnknown(b.View(), selection));
  EXPECT_EQ(NamesOf(unknown), (Names{"step 3"}));
}

}  // namespace

}  // namespace borescope::internal
