#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/stacks/stack_tree.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/intervals.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kHead =
    "depth,name,kind,calls,self_host_ns,total_host_ns,self_device_ns,total_device_ns,share\n";

std::string Tree(const Tables& tables) {
  return Csv(tables[0], {"depth", "name", "kind", "calls", "self_host_ns", "total_host_ns",
                         "self_device_ns", "total_device_ns", "share"});
}

std::string Frames(const Tables& tables) {
  return Csv(tables[1], {"name", "calls", "self_host_ns", "total_host_ns", "self_device_ns",
                         "total_device_ns"});
}

Params With(const ParamSpec& option, std::string_view text) {
  Params params;
  params.values.push_back(ParseParam(option, text).value());
  return params;
}

int64_t Sum(const Table& table, std::string_view column) {
  int64_t sum = 0;
  for (const int64_t value : Ints(table, column)) {
    sum += value;
  }
  return sum;
}

int64_t SumOfRoots(const Table& table, std::string_view column) {
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    sum += Ints(table, "depth")[row] == 0 ? Ints(table, column)[row] : 0;
  }
  return sum;
}

// Two calls of one path, launches below operators and below nothing, work without a launch.
TestTrace& Sample(TestTrace& trace) {
  trace.Annotation("step", {0, 100}).Python("train", {0, 90}).Op("mm", {10, 30});
  trace.Launched("gemm", {20, 5}, {200, 50}, {1, 7, 0});
  trace.Op("mm", {50, 20}).Launched("gemm", {55, 5}, {260, 30}, {2, 7, 0});
  trace.Launched("copy", {150, 10}, {300, 15}, {3, 7, 0}).Kernel("lost", {320, 5});
  return trace;
}

TEST(StacksTest, FramesWithOnePathAreOneNode) {
  TestTrace trace;
  EXPECT_EQ(Tree(Analyse("stacks", {&Sample(trace).View()})),
            std::string(kHead) +
                "0,step,annotation,1,10,100,0,80,0.8\n"
                "1,train,python,1,40,90,0,80,0.8\n"
                "2,mm,op,2,40,50,0,80,0.8\n"
                "3,cudaLaunchKernel,runtime,2,10,10,80,80,0.8\n"
                "0,cudaLaunchKernel,runtime,1,10,10,15,15,0.15\n"
                "0,(no launch),-,0,0,0,5,5,0.05\n");
}

TEST(StacksTest, FramesByNameWhereverTheyStand) {
  TestTrace trace;
  EXPECT_EQ(Frames(Analyse("stacks", {&Sample(trace).View()})),
            "name,calls,self_host_ns,total_host_ns,self_device_ns,total_device_ns\n"
            "cudaLaunchKernel,3,20,20,95,95\n"
            "(no launch),0,0,0,5,5\n"
            "mm,2,40,50,0,80\n"
            "step,1,10,100,0,80\n"
            "train,1,40,90,0,80\n");
}

TEST(StacksTest, RecursionIsANodeForEachLevelAndOneFrame) {
  TestTrace trace;
  trace.Op("f", {0, 100}).Op("f", {10, 50}).Op("g", {20, 20}).Op("f", {25, 10});
  trace.Launched("k", {27, 2}, {200, 40}, {1, 7, 0});
  const Tables tables = Analyse("stacks", {&trace.View()});
  EXPECT_EQ(Csv(tables[0], {"depth", "name", "self_host_ns", "total_host_ns", "total_device_ns"}),
            "depth,name,self_host_ns,total_host_ns,total_device_ns\n0,f,50,100,40\n1,f,30,50,40\n"
            "2,g,10,20,40\n3,f,8,10,40\n4,cudaLaunchKernel,2,2,40\n");
  EXPECT_EQ(Frames(tables),
            "name,calls,self_host_ns,total_host_ns,self_device_ns,total_device_ns\n"
            "cudaLaunchKernel,1,2,2,40,40\nf,3,88,100,0,40\ng,1,10,20,0,40\n");
}

// The outermost frame keeps only its own time: rocpd's call_stacks gives it all of it.
TEST(StacksTest, TheOutermostFrameIsChargedOnce) {
  TestTrace trace;
  trace.Op("main", {0, 100}).Op("part", {10, 80});
  EXPECT_EQ(Frames(Analyse("stacks", {&trace.View()})),
            "name,calls,self_host_ns,total_host_ns,self_device_ns,total_device_ns\n"
            "part,1,80,80,0,0\nmain,1,20,100,0,0\n");
}

TEST(StacksTest, StacksOfAllThreadIdsAreOneTreeUnlessAskedFor) {
  TestTrace trace;
  trace.Op("f", {0, 10}, {}, 1).Op("f", {5, 30}, {}, 2);
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()})[0], {"name", "calls", "total_host_ns"}),
            "name,calls,total_host_ns\nf,2,40\n");
  Params params;
  params.by = {"thread"};
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()}, params)[0], {"thread", "name", "total_host_ns"}),
            "thread,name,total_host_ns\n1,f,10\n2,f,30\n");
}

TEST(StacksTest, FramesThatBeginTogetherNestByLengthAndKind) {
  TestTrace trace;
  trace.Op("inner", {0, 10}).Python("frame", {0, 10}).Annotation("outer", {0, 20});
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()})[0], {"depth", "name", "self_host_ns"}),
            "depth,name,self_host_ns\n0,outer,10\n1,frame,0\n2,inner,10\n");
}

// From 20 to 60 the frame begun last is open; it ends after the others and is inside neither.
TEST(StacksTest, AFrameThatOutlivesOthersIsBesideThemAndKeepsItsTime) {
  TestTrace trace;
  trace.Op("p", {0, 50}).Op("a", {10, 20}).Op("b", {20, 40});
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()})[0],
                {"depth", "name", "self_host_ns", "total_host_ns"}),
            "depth,name,self_host_ns,total_host_ns\n0,b,40,40\n0,p,10,20\n1,a,10,10\n");
}

// step() of torch.profiler ends a step and begins the next one.
TEST(StacksTest, StepsThatOverlapACallFollowEachOther) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#15", {0, 100}).Python("step", {90, 20});
  trace.Annotation("ProfilerStep#16", {105, 95}).Op("aten::mm", {120, 10});
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()})[0],
                {"depth", "name", "calls", "self_host_ns", "total_host_ns"}),
            "depth,name,calls,self_host_ns,total_host_ns\n0,ProfilerStep#*,2,175,185\n"
            "1,aten::mm,1,10,10\n0,step,1,15,15\n");
}

TEST(StacksTest, OneCallMayLaunchMuchAndAnotherNothing) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", {0, 10}, 1).Kernel("a", {20, 5}, {1, 7, 0});
  trace.Kernel("b", {20, 7}, {1, 8, 0}).Memset({30, 2}, {1, 7, 0});
  trace.Runtime("cudaLaunchKernel", {12, 3}, 2);
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()})[0], {"name", "calls", "self_device_ns"}),
            "name,calls,self_device_ns\ncudaGraphLaunch,1,14\ncudaLaunchKernel,1,0\n");
}

TEST(StacksTest, HostOnlySharesAreOfTheHost) {
  TestTrace trace;
  trace.Op("a", {0, 30}).Op("b", {40, 10});
  const Tables tables = Analyse("stacks", {&trace.View()});
  EXPECT_EQ(Csv(tables[0], {"name", "share"}), "name,share\na,0.75\nb,0.25\n");
  EXPECT_EQ(Csv(tables[1], {"name", "share"}), "name,share\na,0.75\nb,0.25\n");
}

TEST(StacksTest, NothingRecordedIsNoRow) {
  TestTrace trace;
  EXPECT_EQ(Tree(Analyse("stacks", {&trace.View()})), kHead);
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()}, With(kFoldedParam, ""))[0]),
            "stack,device_ns,host_ns\n");
}

TEST(StacksTest, WhatIsCutIsOneRowBelowTheFrameAroundIt) {
  TestTrace trace;
  EXPECT_EQ(Tree(Analyse("stacks", {&Sample(trace).View()}, With(kDepthParam, "2"))),
            std::string(kHead) +
                "0,step,annotation,1,10,100,0,80,0.8\n"
                "1,train,python,1,40,90,0,80,0.8\n"
                "2,(other),-,4,50,50,80,80,0.8\n"
                "0,cudaLaunchKernel,runtime,1,10,10,15,15,0.15\n"
                "0,(no launch),-,0,0,0,5,5,0.05\n");
}

// Small on the device and on the host.
TEST(StacksTest, SmallSharesAreCut) {
  for (const char* share : {"20%", "0.2"}) {
    TestTrace trace;
    EXPECT_EQ(Csv(Analyse("stacks", {&Sample(trace).View()}, With(kMinShareParam, share))[0],
                  {"depth", "name", "calls", "total_host_ns", "total_device_ns"}),
              "depth,name,calls,total_host_ns,total_device_ns\n"
              "0,step,1,100,80\n1,train,1,90,80\n2,mm,2,50,80\n3,cudaLaunchKernel,2,10,80\n"
              "0,(other),1,10,20\n");
  }
}

TEST(StacksTest, RootKeepsTheRestAsOneRow) {
  TestTrace trace;
  EXPECT_EQ(Tree(Analyse("stacks", {&Sample(trace).View()}, With(kRootParam, "mm"))),
            std::string(kHead) +
                "0,mm,op,2,40,50,0,80,0.8\n"
                "1,cudaLaunchKernel,runtime,2,10,10,80,80,0.8\n"
                "0,(elsewhere),-,3,60,60,15,15,0.15\n"
                "0,(no launch),-,0,0,0,5,5,0.05\n");
}

TEST(StacksTest, RootsAreTheOutermostFramesOfTheName) {
  TestTrace trace;
  trace.Op("a", {0, 50}).Op("f1", {10, 30}).Op("b", {15, 20}).Op("f2", {20, 5});
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()}, With(kRootParam, "f"))[0],
                {"depth", "name", "total_host_ns"}),
            "depth,name,total_host_ns\n0,f1,30\n1,b,20\n2,f2,5\n0,(elsewhere),20\n");
}

TEST(StacksTest, WrongOptions) {
  for (const char* text : {"0", "-1", "x", "1x"}) {
    const Result<ParamValue> checked = ParseParam(kDepthParam, text);
    ASSERT_FALSE(checked.ok()) << text;
    EXPECT_EQ(checked.error().Sentence(),
              "`depth`: '" + std::string(text) + "' is no number from 1 on");
  }
  for (const char* text : {"-1", "101%", "nan", "1%%", "much"}) {
    const Result<ParamValue> checked = ParseParam(kMinShareParam, text);
    ASSERT_FALSE(checked.ok()) << text;
    EXPECT_EQ(checked.error().Sentence(),
              "`min_share`: '" + std::string(text) + "' is no share; write 1% or 0.01");
  }
  TestTrace trace;
  const Result<Tables> found =
      kStacksVerb.answer.map(Sample(trace).View(), With(kRootParam, "nowhere"));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kMissingData);
}

TEST(StacksTest, WindowsKeepWhatBeganInside) {
  TestTrace trace;
  trace.Op("long", {0, 100}).Annotation("w", {50, 40}).Op("inside", {60, 10});
  trace.Launched("k", {20, 2}, {200, 5}, {1, 7, 0}).Launched("k", {80, 2}, {210, 7}, {2, 7, 0});
  Params params;
  params.selection.annotation = "w";
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()}, params)[0],
                {"depth", "name", "calls", "self_host_ns", "total_host_ns", "total_device_ns"}),
            "depth,name,calls,self_host_ns,total_host_ns,total_device_ns\n"
            "0,long,0,0,40,7\n1,w,1,28,40,7\n2,cudaLaunchKernel,1,2,2,7\n2,inside,1,10,10,0\n");
}

TEST(StacksTest, StepsHaveTreesOfTheirOwn) {
  TestTrace trace;
  trace.Python("main", {0, 100}).Annotation("ProfilerStep#1", {10, 30}).Op("f", {15, 10});
  trace.Annotation("ProfilerStep#2", {50, 30}).Op("f", {55, 20});
  Params params;
  params.by = {"step"};
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()}, params)[0],
                {"step", "depth", "name", "calls", "total_host_ns"}),
            "step,depth,name,calls,total_host_ns\n"
            "1,0,main,0,30\n1,1,ProfilerStep#*,1,30\n1,2,f,1,10\n"
            "2,0,main,0,30\n2,1,ProfilerStep#*,1,30\n2,2,f,1,20\n"
            "-,0,main,1,40\n");
}

TEST(StacksTest, StepsAreOneFrame) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {10, 30}).Op("f", {15, 10});
  trace.Annotation("ProfilerStep#2", {50, 30}).Op("f", {55, 20});
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()})[0], {"depth", "name", "calls"}),
            "depth,name,calls\n0,ProfilerStep#*,2\n1,f,2\n");
}

TEST(StacksTest, RanksMergeByName) {
  TestTrace a;
  TestTrace b;
  a.Op("x", {0, 10}).Op("f", {20, 10}).Op("g", {22, 3});
  b.Op("g", {0, 5}).Op("f", {20, 10}).Op("h", {22, 3});
  EXPECT_EQ(Csv(Analyse("stacks", {&b.View(1), &a.View(0)})[0], {"depth", "name", "calls"}),
            "depth,name,calls\n0,f,2\n1,g,1\n1,h,1\n0,x,1\n0,g,1\n");
  Params params;
  params.by = {"rank"};
  EXPECT_EQ(Csv(Analyse("stacks", {&b.View(1), &a.View(0)}, params)[0], {"rank", "depth", "name"}),
            "rank,depth,name\n0,0,f\n0,1,g\n0,0,x\n1,0,f\n1,1,h\n1,0,g\n");
}

TEST(StacksTest, FoldedStacks) {
  TestTrace trace;
  trace.Op("a;b, \"c\"\n ", {0, 30}).Launched("k", {10, 5}, {200, 50}, {1, 7, 0});
  trace.Python("", {50, 1});
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View()}, With(kFoldedParam, ""))[0]),
            "stack,device_ns,host_ns\n"
            "a:b_ _c__,0,25\n"
            "a:b_ _c__;cudaLaunchKernel,50,5\n"
            "(unnamed),0,1\n");
  Params params = With(kFoldedParam, "");
  params.by = {"rank"};
  EXPECT_EQ(Csv(Analyse("stacks", {&trace.View(3)}, params)[0], {"stack"}),
            "stack\nrank 3;a:b_ _c__\nrank 3;a:b_ _c__;cudaLaunchKernel\nrank 3;(unnamed)\n");
}

TEST(StacksTest, ChainsOfAnyDepth) {
  constexpr int64_t kDeep = 20'000;
  TestTrace trace;
  for (int64_t i = 0; i < kDeep; ++i) {
    trace.Op("f", {i, 2 * kDeep - 2 * i});
  }
  const Tables tables = Analyse("stacks", {&trace.View()});
  EXPECT_EQ(tables[0].rows(), static_cast<size_t>(kDeep));
  EXPECT_EQ(Sum(tables[0], "self_host_ns"), 2 * kDeep);
  EXPECT_EQ(Csv(tables[1], {"name", "calls", "total_host_ns"}),
            "name,calls,total_host_ns\nf,20000,40000\n");
}

// ---- The same by plain recursion, over random traces ----

struct RandomEvent {
  std::string name;
  int64_t begin, end, thread;
};

struct RandomTrace {
  std::vector<RandomEvent> events;
  std::vector<std::pair<size_t, int64_t>> launched;  // event and length of its work
  int64_t lost_ns = 0;
};

// Nests properly: parts of [begin, end) become events with events inside.
void Nest(std::mt19937& random, int64_t thread, int64_t begin, int64_t end, int depth,
          RandomTrace& trace) {
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % uint64_t(limit));
  };
  for (int64_t at = begin; depth < 6 && end - at > 4;) {
    const int64_t start = at + below(3);
    const int64_t stop = std::min(end, start + 1 + below(end - start));
    const std::string name(1, static_cast<char>('a' + below(3)));
    trace.events.push_back({name, start, stop, thread});
    if (below(3) == 0) {
      trace.launched.emplace_back(trace.events.size() - 1, below(50));
    }
    Nest(random, thread, start, stop, depth + 1, trace);
    at = stop + below(4);
  }
}

// Per path: self host, total host, self device, total device.
using Slow = std::map<std::string, std::array<int64_t, 4>>;

bool Holds(const RandomEvent& outer, size_t outer_at, const RandomEvent& inner, size_t inner_at) {
  const bool covers = outer.begin <= inner.begin && inner.end <= outer.end;
  const bool is_same = outer.begin == inner.begin && inner.end == outer.end;
  return outer.thread == inner.thread && covers && (!is_same || outer_at < inner_at);
}

Slow SlowStacks(const RandomTrace& trace) {
  Slow sums;
  const auto& events = trace.events;
  for (size_t i = 0; i < events.size(); ++i) {
    std::vector<std::string> prefixes;  // outer events come first
    std::string path;
    int64_t inside_ns = 0;  // of the events directly inside
    for (size_t j = 0; j < events.size(); ++j) {
      if (j == i || Holds(events[j], j, events[i], i)) {
        path += (path.empty() ? "" : ";") + events[j].name;
        prefixes.push_back(path);
      }
      bool is_direct = Holds(events[i], i, events[j], j);
      for (size_t k = 0; k < events.size() && is_direct; ++k) {
        is_direct = k == i || k == j || !Holds(events[i], i, events[k], k) ||
                    !Holds(events[k], k, events[j], j);
      }
      inside_ns += is_direct ? events[j].end - events[j].begin : 0;
    }
    const int64_t self_ns = events[i].end - events[i].begin - inside_ns;
    int64_t device_ns = 0;
    for (const auto& [event, length] : trace.launched) {
      device_ns += event == i ? length : 0;
    }
    sums[path][0] += self_ns;
    sums[path][2] += device_ns;
    for (const std::string& prefix : prefixes) {
      sums[prefix][1] += self_ns;
      sums[prefix][3] += device_ns;
    }
  }
  return sums;
}

Slow Fast(const Table& table) {
  Slow sums;
  std::vector<std::string> path;
  for (size_t row = 0; row < table.rows(); ++row) {
    path.resize(static_cast<size_t>(Ints(table, "depth")[row]));
    path.push_back((path.empty() ? "" : path.back() + ";") + Texts(table, "name")[row]);
    sums[path.back()] = {Ints(table, "self_host_ns")[row], Ints(table, "total_host_ns")[row],
                         Ints(table, "self_device_ns")[row], Ints(table, "total_device_ns")[row]};
  }
  return sums;
}

TEST(StacksTest, AsPlainRecursionSays) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    RandomTrace made;
    Nest(random, 1, 0, 60, 0, made);
    Nest(random, 2, 5, 70, 0, made);
    TestTrace trace;
    for (size_t i = 0; i < made.events.size(); ++i) {
      const RandomEvent& event = made.events[i];
      trace.Runtime(event.name, {event.begin, event.end - event.begin}, static_cast<int64_t>(i) + 1,
                    event.thread);
    }
    int64_t device_ns = 0;
    for (const auto& [event, length] : made.launched) {
      trace.Kernel("k", {1000 + device_ns, length}, {static_cast<int64_t>(event) + 1, 7, 0});
      device_ns += length;
    }
    const Tables tables = Analyse("stacks", {&trace.View()});
    ASSERT_EQ(Fast(tables[0]), SlowStacks(made)) << seed;
    ASSERT_EQ(SumOfRoots(tables[0], "total_device_ns"), device_ns) << seed;
    ASSERT_EQ(Sum(tables[0], "self_device_ns"), device_ns) << seed;
    ASSERT_EQ(Sum(tables[1], "self_device_ns"), device_ns) << seed;
    ASSERT_EQ(Sum(tables[1], "self_host_ns"), SumOfRoots(tables[0], "total_host_ns")) << seed;
  }
}

// Whatever is cut, and however frames overlap, the sums stay: all device work, and the time in
// which a thread had a frame open.
TEST(StacksTest, TotalsAddUp) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    TestTrace trace;
    std::vector<Interval> open;
    int64_t device_ns = 0;
    for (int64_t i = 1; i < 60; ++i) {
      const auto begin = static_cast<int64_t>(random() % 400);
      const auto length = static_cast<int64_t>(random() % 90);
      const auto work = static_cast<int64_t>(random() % 30);
      trace.Runtime(std::string(1, static_cast<char>('a' + random() % 4)), {begin, length}, i);
      trace.Kernel("k", {1000 + i * 40, work}, {random() % 5 == 0 ? 1000 + i : i, 7, 0});
      open.push_back({begin, begin + length});
      device_ns += work;
    }
    const int64_t host_ns = Coverage(Union(std::move(open)));
    for (const Params& params :
         {Params{}, With(kDepthParam, "2"), With(kMinShareParam, "5%"), With(kRootParam, "b")}) {
      const Tables tables = Analyse("stacks", {&trace.View()}, params);
      ASSERT_EQ(SumOfRoots(tables[0], "total_device_ns"), device_ns) << seed;
      ASSERT_EQ(Sum(tables[0], "self_device_ns"), device_ns) << seed;
      ASSERT_EQ(SumOfRoots(tables[0], "total_host_ns"), host_ns) << seed;
      ASSERT_EQ(Sum(tables[0], "self_host_ns"), host_ns) << seed;
      ASSERT_EQ(Sum(tables[0], "calls"), 59) << seed;
      ASSERT_EQ(*std::ranges::min_element(Ints(tables[0], "self_host_ns")) < 0, false) << seed;
    }
  }
}

// Calls below the functions that made them, with the work that they launched; each instant in calls
// once.
TEST(StacksTest, CallsBelowTheirStacks) {
  TestTrace trace;
  trace.Runtime("cudaMalloc", {0, 100}).CalledFrom({"main", "grow"});
  trace.LibraryCall("ioctl", {20, 30});
  trace.Launched("gemm", {200, 10}, {300, 50}, {1, 7, 0}).CalledFrom({"main"});
  trace.Launched("copy", {400, 10}, {500, 5}, {2, 7, 0}).Kernel("lost", {600, 7});
  const RankView& view = trace.View();
  EXPECT_EQ(Tree(Analyse("stacks", {&view}, With(kCallsParam, ""))),
            std::string(kHead) +
                "0,main,function,0,0,110,0,50,0.806452\n"
                "1,cudaLaunchKernel,runtime,1,10,10,50,50,0.806452\n"
                "1,grow,function,0,0,100,0,0,0\n"
                "2,cudaMalloc,runtime,1,70,100,0,0,0\n"
                "3,ioctl,other,1,30,30,0,0,0\n"
                "0,(no launch),-,0,0,0,7,7,0.112903\n"
                "0,(no stack),-,1,10,10,5,5,0.0806452\n");
  Params params = With(kCallsParam, "");
  params.values.push_back(ParseParam(kRootParam, "grow").value());
  EXPECT_EQ(Sum(Analyse("stacks", {&view}, params)[0], "self_host_ns"), 120);
}

}  // namespace
}  // namespace borescope::internal
