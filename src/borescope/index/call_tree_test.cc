#include "borescope/index/call_tree.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {

namespace {

using testkit::Span;
using testkit::TraceMaker;

using Parents = std::vector<int>;

constexpr int kRoot = -1;

// Events named 0, 1, 2 ... of one thread and one kind; the parent of each by that number.
Parents ParentsOf(const std::vector<Span>& spans) {
  TraceMaker maker;
  for (size_t i = 0; i < spans.size(); ++i) {
    maker.Host(HostKind::kOther, std::to_string(i), 1, spans[i]);
  }
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  const CallTree tree = BuildCallTree(trace, 1, diagnostics);
  Parents parents(spans.size(), kRoot);
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    const int id = std::stoi(std::string(trace.Name(HostId{row})));
    if (tree.parent[row].valid()) {
      parents[static_cast<size_t>(id)] = std::stoi(std::string(trace.Name(tree.parent[row])));
    }
  }
  return parents;
}

TEST(CallTreeTest, NestedCalls) {
  EXPECT_EQ(
      ParentsOf({{0, 10}, {1, 5}, {3, 2}, {3, 1}, {7, 3}, {8, 1}, {10, 11}, {12, 6}, {16, 3}}),
      (Parents{kRoot, 0, 1, 2, 0, 4, kRoot, 6, 6}));
}

TEST(CallTreeTest, EqualStartsNestByLength) {
  EXPECT_EQ(ParentsOf({{0, 10}, {0, 5}, {5, 1}, {5, 5}}), (Parents{kRoot, 0, 3, 0}));
}

// Microsecond clocks give short calls zero length; at either end of a call they are inside it.
TEST(CallTreeTest, CallsWithoutLength) {
  EXPECT_EQ(ParentsOf({{0, 0}, {0, 5}, {4, 0}, {5, 0}}), (Parents{1, kRoot, 1, 1}));
  EXPECT_EQ(
      ParentsOf({{55, 0}, {61, 15}, {62, 0}, {85, 1}, {86, 0}, {86, 0}, {90, 225181}, {91, 0}}),
      (Parents{kRoot, kRoot, 1, kRoot, 3, 4, kRoot, 6}));
}

TEST(CallTreeTest, CallsThatTouchDoNotNest) {
  EXPECT_EQ(ParentsOf({{0, 5}, {5, 5}, {10, 1}}), (Parents{kRoot, kRoot, kRoot}));
}

// Of equal spans the outer kind is the parent, and something that starts when an inner kind ends
// cannot be inside it, however short.
TEST(CallTreeTest, KindsDecideWhereTimesDoNot) {
  TraceMaker maker;
  maker.Host(HostKind::kRuntime, "call", 1, {0, 10});
  maker.Host(HostKind::kOp, "op", 1, {0, 10});
  maker.Host(HostKind::kPython, "frame", 1, {0, 10});
  maker.Host(HostKind::kPython, "next frame", 1, {10, 0});
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  const CallTree tree = BuildCallTree(trace, 1, diagnostics);
  const auto parent_of = [&](std::string_view name) {
    return testkit::NameOrNone(trace, tree.parent[testkit::FindHost(trace, name).value]);
  };
  EXPECT_EQ(parent_of("frame"), "");
  EXPECT_EQ(parent_of("op"), "frame");
  EXPECT_EQ(parent_of("call"), "op");
  EXPECT_EQ(parent_of("next frame"), "frame");
}

// Ranges that may overlap are neither inside of a thread's events nor around them, nor around each
// other.
TEST(CallTreeTest, OverlappingRangesContainNothing) {
  TraceMaker maker;
  maker.Op("op", 1, {0, 10});
  maker.Op("inner", 1, {2, 3});
  for (const Span span : {Span{1, 20}, Span{2, 30}, Span{3, 4}}) {
    maker.Host(HostKind::kAnnotation, "range", 1, span);
    maker.part().data.host.track.back() = maker.part().AsyncTrack(100, 1);
  }
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  const CallTree tree = BuildCallTree(trace, 1, diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(testkit::NameOrNone(trace, tree.parent[1]), "op");
  for (uint32_t row = 2; row < 5; ++row) {
    EXPECT_FALSE(tree.parent[row].valid());
    EXPECT_EQ(tree.subtree_end[row], row + 1);
  }
}

// What outlives the event it begins in is not inside it, and neither is what begins later.
TEST(CallTreeTest, AnEventThatOutlivesAnotherIsBesideItAndIsCounted) {
  TraceMaker maker;
  maker.Op("first", 1, {0, 10});
  maker.Op("outlives", 1, {5, 15});
  maker.Op("inside both", 1, {6, 2});
  maker.Op("later", 1, {30, 1});
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  const CallTree tree = BuildCallTree(trace, 1, diagnostics);
  EXPECT_EQ(tree.parent, (std::vector<HostId>{HostId{}, HostId{}, HostId{1}, HostId{}}));
  EXPECT_EQ(tree.subtree_end, (std::vector<uint32_t>{1, 3, 3, 4}));
  EXPECT_EQ(trace.host().dur_ns[0], 10);
  EXPECT_EQ(trace.host().dur_ns[1], 15);
  EXPECT_EQ(diagnostics.count(Diag::kNotNested), 1U);
  EXPECT_EQ(diagnostics.Get(Diag::kNotNested).first, "outlives");
}

// A step that begins in a call inside the step before it, as torch.profiler's step() has it, is
// not inside that step: neither where the call outlives it nor where times are rounded.
TEST(CallTreeTest, StepsFollowEachOther) {
  EXPECT_EQ(ParentsOf({{0, 100}, {95, 10}, {101, 99}, {110, 5}}),
            (Parents{kRoot, kRoot, kRoot, 2}));
  EXPECT_EQ(ParentsOf({{0, 100}, {99, 101}, {199, 101}}), (Parents{kRoot, kRoot, kRoot}));
  EXPECT_EQ(ParentsOf({{0, 300}, {0, 100}, {99, 101}}), (Parents{kRoot, 0, 0}));
}

// The nearest event outward that covers another is its parent.
TEST(CallTreeTest, SeveralAreOutlivedAtOnce) {
  EXPECT_EQ(ParentsOf({{0, 100}, {10, 50}, {20, 30}, {30, 10}, {35, 60}, {96, 3}}),
            (Parents{kRoot, 0, 1, 2, 0, 0}));
}

// Whole microseconds, and quarters as double precision has them in Unix times.
TEST(CallTreeTest, WhatOutlivesByRoundingIsInside) {
  EXPECT_EQ(ParentsOf({{0, 10'000}, {2'000, 9'000}}), (Parents{kRoot, 0}));
  EXPECT_EQ(ParentsOf({{0, 10'000}, {2'200, 8'100}, {2'500, 100}}), (Parents{kRoot, 0, 1}));
  EXPECT_EQ(ParentsOf({{0, 10'000}, {2'200, 8'151}}), (Parents{kRoot, kRoot}));
  EXPECT_EQ(ParentsOf({{0, 10'000}, {2'001, 8'000}}), (Parents{kRoot, kRoot}));
}

// The larger part of a call that is rounded into the call before it is outside.
TEST(CallTreeTest, WhatBeginsInAnotherByRoundingFollowsIt) {
  EXPECT_EQ(ParentsOf({{0, 10'000}, {9'000, 2'000}}), (Parents{kRoot, kRoot}));
  EXPECT_EQ(ParentsOf({{0, 10'000}, {9'000, 10'000}, {18'000, 2'000}}),
            (Parents{kRoot, kRoot, kRoot}));
  EXPECT_EQ(ParentsOf({{0, 30'000}, {0, 10'000}, {9'750, 200}, {9'800, 20'000}}),
            (Parents{kRoot, 0, 1, 0}));
}

// The other rule keeps the event open at the start as the parent; it counts the same.
TEST(CallTreeTest, OpenAtStart) {
  TraceMaker maker;
  maker.Op("first", 1, {0, 10});
  maker.Op("outlives", 1, {5, 15});
  maker.Op("inside", 1, {12, 2});
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  const CallTree tree = BuildCallTree(trace, 1, diagnostics, Nesting::kOpenAtStart);
  EXPECT_EQ(tree.parent, (std::vector<HostId>{HostId{}, HostId{0}, HostId{1}}));
  EXPECT_EQ(tree.subtree_end, (std::vector<uint32_t>{3, 3, 3}));
  EXPECT_EQ(diagnostics.count(Diag::kNotNested), 1U);
}

TEST(CallTreeTest, DescendantsAreARangeOfRows) {
  TraceMaker maker;
  maker.Op("a", 1, {0, 10});
  maker.Op("b", 1, {1, 5});
  maker.Op("c", 1, {2, 1});
  maker.Op("d", 1, {7, 1});
  maker.Op("e", 1, {20, 1});
  maker.Op("other thread", 2, {0, 100});
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  const CallTree tree = BuildCallTree(trace, 1, diagnostics);
  EXPECT_EQ(tree.subtree_end, (std::vector<uint32_t>{4, 3, 3, 4, 5, 6}));
  EXPECT_TRUE(diagnostics.empty());
}

TEST(CallTreeTest, ThreadsDoNotMix) {
  TraceMaker maker;
  maker.Op("long", 1, {0, 100});
  maker.Op("inside in time", 2, {10, 10});
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  EXPECT_EQ(BuildCallTree(trace, 1, diagnostics).parent, (std::vector<HostId>(2)));
}

TEST(CallTreeTest, CoversIncludesBothEnds) {
  TraceMaker maker;
  maker.Op("outer", 1, {10, 10});
  maker.Op("same", 2, {10, 10});
  maker.Op("early", 3, {9, 5});
  maker.Op("late", 4, {15, 6});
  maker.Op("end", 5, {20, 0});
  const Trace trace = maker.Finish();
  const auto covers = [&](std::string_view inner) {
    return Covers(trace.host(), testkit::FindHost(trace, "outer"), testkit::FindHost(trace, inner));
  };
  EXPECT_TRUE(covers("same"));
  EXPECT_TRUE(covers("end"));
  EXPECT_FALSE(covers("early"));
  EXPECT_FALSE(covers("late"));
}

TEST(CallTreeThreadsTest, ThreadsChangeNothing) {
  TraceMaker maker;
  for (int i = 0; i < 2000; ++i) {
    maker.Op("op" + std::to_string(i), i % 17, {(i * 31) % 400, (i * 7) % 90});
  }
  const Trace trace = maker.Finish();
  Diagnostics one;
  Diagnostics many;
  const CallTree want = BuildCallTree(trace, 1, one);
  const CallTree got = BuildCallTree(trace, 5, many);
  EXPECT_EQ(got.parent, want.parent);
  EXPECT_EQ(got.subtree_end, want.subtree_end);
  EXPECT_EQ(many.count(Diag::kNotNested), one.count(Diag::kNotNested));
  EXPECT_EQ(many.Get(Diag::kNotNested).first, one.Get(Diag::kNotNested).first);
}

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

}  // namespace

}  // namespace borescope::internal
