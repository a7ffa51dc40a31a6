// flame: planted cases, the ends of stacks, and a slow twin that looks at each work alone.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

Params With(const ParamSpec& option, std::string_view text) {
  Params params;
  params.values.push_back(ParseParam(option, text).value());
  return params;
}

// A module with an operator, kernels and a copy; launches outside of frames; work without a launch.
TestTrace& Sample(TestTrace& trace) {
  trace.Annotation("ProfilerStep#3", {0, 100}).Python("nn.Module: Linear_0", {0, 90});
  trace.Op("aten::mm", {10, 30}).Launched("gemm", {20, 5}, {200, 50}, {1, 7, 0});
  trace.Op("aten::mm", {50, 20}).Launched("gemm", {55, 5}, {260, 20}, {2, 7, 0});
  trace.Op("idle", {75, 5});
  trace.Runtime("cudaMemcpyAsync", {82, 2}, 3).Memcpy("Memcpy HtoD", {290, 5}, {3, 7, 0});
  trace.Launched("late", {150, 10}, {300, 15}, {4, 7, 0}).Kernel("lost", {320, 10});
  return trace;
}

TEST(FlameTest, FromModuleToOperatorToKernel) {
  TestTrace trace;
  EXPECT_EQ(Csv(Analyse("flame", {&Sample(trace).View()})[0],
                {"depth", "name", "kind", "works", "device_ns", "share"}),
            "depth,name,kind,works,device_ns,share\n"
            "0,ProfilerStep#*,annotation,3,75,0.75\n"
            "1,nn.Module: Linear_0,python,3,75,0.75\n"
            "2,aten::mm,op,2,70,0.7\n"
            "3,gemm,kernel,2,70,0.7\n"
            "2,Memcpy HtoD,memcpy,1,5,0.05\n"
            "0,(no operator),-,2,25,0.25\n"
            "1,late,kernel,1,15,0.15\n"
            "1,lost,kernel,1,10,0.1\n");
}

TEST(FlameTest, AKernelIsNoFrameOfItsName) {
  TestTrace trace;
  trace.Op("k", {0, 30}).Op("k", {5, 20}).Launched("k", {10, 5}, {200, 50}, {1, 7, 0});
  EXPECT_EQ(Csv(Analyse("flame", {&trace.View()})[0], {"depth", "name", "kind"}),
            "depth,name,kind\n0,k,op\n1,k,op\n2,k,kernel\n");
}

TEST(FlameTest, TheSumStaysWhateverIsCut) {
  for (const Params& params :
       {With(kDepthParam, "1"), With(kDepthParam, "2"), With(kMinShareParam, "20%"),
        With(kRootParam, "Linear"), With(kRootParam, "aten")}) {
    TestTrace trace;
    const Table table = Analyse("flame", {&Sample(trace).View()}, params)[0];
    int64_t roots_ns = 0;
    for (size_t row = 0; row < table.rows(); ++row) {
      roots_ns += Ints(table, "depth")[row] == 0 ? Ints(table, "device_ns")[row] : 0;
    }
    EXPECT_EQ(roots_ns, 100) << Csv(table);
  }
}

TEST(FlameTest, BelowARootAndElsewhere) {
  TestTrace trace;
  EXPECT_EQ(Csv(Analyse("flame", {&Sample(trace).View()}, With(kRootParam, "aten"))[0],
                {"depth", "name", "works", "device_ns"}),
            "depth,name,works,device_ns\n0,aten::mm,2,70\n1,gemm,2,70\n0,(elsewhere),2,20\n"
            "0,(no operator),1,10\n1,lost,1,10\n");
}

TEST(FlameTest, FoldedStacksEndWithTheWork) {
  TestTrace trace;
  EXPECT_EQ(Csv(Analyse("flame", {&Sample(trace).View()}, With(kFoldedParam, ""))[0]),
            "stack,device_ns\n"
            "ProfilerStep#*;nn.Module: Linear_0;aten::mm;gemm,70\n"
            "ProfilerStep#*;nn.Module: Linear_0;Memcpy HtoD,5\n"
            "(no operator);late,15\n"
            "(no operator);lost,10\n");
}

TEST(FlameTest, RanksAreOneTreeUnlessAskedFor) {
  TestTrace a;
  TestTrace b;
  a.Op("f", {0, 30}).Launched("k", {10, 5}, {200, 50}, {1, 7, 0});
  b.Op("f", {0, 30}).Launched("k", {10, 5}, {200, 30}, {1, 7, 0});
  EXPECT_EQ(Csv(Analyse("flame", {&a.View(0), &b.View(1)})[0], {"depth", "name", "device_ns"}),
            "depth,name,device_ns\n0,f,80\n1,k,80\n");
  Params params;
  params.by = {"rank", "stream"};
  EXPECT_EQ(Csv(Analyse("flame", {&a.View(0), &b.View(1)}, params)[0],
                {"rank", "stream", "depth", "name", "kind", "works", "device_ns", "share"}),
            "rank,stream,depth,name,kind,works,device_ns,share\n0,7,0,f,op,1,50,0.625\n"
            "0,7,1,k,kernel,1,50,0.625\n1,7,0,f,op,1,30,0.375\n1,7,1,k,kernel,1,30,0.375\n");
}

// ---- The same, work by work ----

struct Frame {
  std::string name;
  int64_t begin, end;
};

// Frames that nest, some with a launch inside.
void Nest(std::mt19937& random, int64_t begin, int64_t end, int depth, std::vector<Frame>& frames) {
  for (int64_t at = begin + 2; depth < 5 && end - at > 12; at += 4) {
    const auto length = static_cast<int64_t>(8 + random() % static_cast<uint64_t>(end - at - 8));
    frames.push_back({std::string(1, static_cast<char>('a' + random() % 3)), at, at + length});
    Nest(random, at, at + length, depth + 1, frames);
    at += length;
  }
}

std::string PathAt(const std::vector<Frame>& frames, int64_t at) {
  std::string path;
  for (const Frame& frame : frames) {  // outer ones come first
    path += frame.begin <= at && at < frame.end ? frame.name + ";" : "";
  }
  return path.empty() ? "(no operator);" : path;
}

TEST(FlameTest, AsEachWorkSays) {
  for (unsigned seed = 0; seed < 80; ++seed) {
    std::mt19937 random(seed);
    std::vector<Frame> frames;
    Nest(random, 0, 200, 0, frames);
    TestTrace trace;
    for (const Frame& frame : frames) {
      trace.Op(frame.name, {frame.begin, frame.end - frame.begin});
    }
    std::map<std::string, int64_t> slow;
    for (int64_t i = 1; i <= 40; ++i) {
      const int64_t at = i * 5;
      const std::string kernel(1, static_cast<char>('k' + random() % 2));
      const auto length = static_cast<int64_t>(1 + random() % 9);
      trace.Launched(kernel, {at, 1}, {1000 + i * 10, length}, {i, 7, 0});
      slow[PathAt(frames, at) + kernel] += length;
    }
    const Table folded = Analyse("flame", {&trace.View()}, With(kFoldedParam, ""))[0];
    std::map<std::string, int64_t> fast;
    for (size_t row = 0; row < folded.rows(); ++row) {
      fast[Texts(folded, "stack")[row]] = Ints(folded, "device_ns")[row];
    }
    ASSERT_EQ(fast, slow) << seed;
  }
}

}  // namespace
}  // namespace borescope::internal
