#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

Params Ask(std::string text, int64_t min_length) {
  Params params;
  params.values.push_back({kOperatorParam.name, 0, std::move(text)});
  params.values.push_back({kMinLengthParam.name, min_length, ""});
  return params;
}

std::string Patterns(TestTrace& trace, const Params& params) {
  return Csv(Analyse("sequences", {&trace.View()}, params)[0],
             {"operator", "pattern", "kernels", "count", "device_ns", "host_ns"});
}

std::string Coverage(const RankView& view, const Params& params) {
  return Csv(Analyse("sequences", {&view}, params)[1]);
}

constexpr std::string_view kHeader = "operator,pattern,kernels,count,device_ns,host_ns\n";

std::string Expected(std::string_view rows) { return std::string(kHeader).append(rows); }

// Two calls of f with the same work, one of g, and a launch outside of operators.
TestTrace Calls() {
  TestTrace trace;
  trace.Annotation("step", {0, 400});
  trace.Op("f", {0, 100}).Op("aten::mm", {10, 50}).Op("f", {20, 10});
  trace.Launched("gemm", {21, 2}, {200, 10}, {1, 7, 0});
  trace.Launched("relu", {70, 2}, {220, 5}, {2, 7, 0});
  trace.Op("f", {100, 50});
  trace.Launched("gemm", {110, 2}, {300, 20}, {3, 7, 0});
  trace.Launched("relu", {120, 2}, {320, 5}, {4, 7, 0});
  trace.Op("g", {200, 40}).Launched("relu", {210, 2}, {400, 7}, {5, 7, 0});
  trace.Launched("alone", {300, 2}, {500, 3}, {6, 7, 0});
  trace.Kernel("orphan", {600, 1}, {99, 7, 0});
  return trace;
}

TEST(SequencesTest, OutermostOperatorsWithTheWorkOfTheirSubtree) {
  TestTrace trace = Calls();
  EXPECT_EQ(Patterns(trace, Ask("", 1)), Expected("f,gemm|relu,2,2,40,150\ng,relu,1,1,7,40\n"));
}

TEST(SequencesTest, EveryPieceOfWorkHasAPlace) {
  TestTrace trace = Calls();
  EXPECT_EQ(Coverage(trace.View(), Ask("", 2)),
            "place,count,device_ns,longest,share\n"
            "in these patterns,4,40,2,0.784314\nin shorter patterns,1,7,1,0.137255\n"
            "under no such operator,1,3,-,0.0588235\nnot linked to the host,1,1,-,0.0196078\n");
}

TEST(SequencesTest, AnOperatorOrAnnotationByPartOfItsName) {
  TestTrace trace = Calls();
  const RankView& view = trace.View();
  const auto patterns = [&](const Params& params) {
    return Csv(Analyse("sequences", {&view}, params)[0], {"operator", "pattern", "count"});
  };
  EXPECT_EQ(patterns(Ask("mm", 1)), "operator,pattern,count\naten::mm,gemm,1\n");
  EXPECT_EQ(patterns(Ask("ste", 1)),
            "operator,pattern,count\nstep,gemm|relu|gemm|relu|relu|alone,1\n");
}

TEST(SequencesTest, NothingFoundIsAnErrorThatSaysWhy) {
  TestTrace trace = Calls();
  const AnalysisSpec* spec = FindAnalysis("sequences");
  const auto absent = spec->answer.map(trace.View(), Ask("absent", 1));
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().Sentence(), "test.json: no operator or annotation contains \"absent\"");
  const Params params = Ask("", 3);
  const auto finished = spec->answer.finish(spec->answer.map(trace.View(), params).value(), params);
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().code, ErrorCode::kMissingData);
  EXPECT_EQ(finished.error().Sentence(),
            "no operator has 3 or more kernels and copies; the most are 2: lower `min_length`");
}

TEST(SequencesTest, WorkIsOrderedByStartAcrossStreams) {
  TestTrace trace;
  trace.Op("f", {0, 100});
  trace.Launched("late", {10, 1}, {90, 5}, {1, 7, 0});
  trace.Launched("early", {20, 1}, {30, 5}, {2, 20, 0});
  trace.Launched("early", {30, 1}, {30, 5}, {3, 20, 1});
  EXPECT_EQ(Patterns(trace, Ask("", 3)), Expected("f,early|early|late,3,1,15,100\n"));
}

TEST(SequencesTest, AGraphBringsAllItsWork) {
  TestTrace trace;
  trace.Op("f", {0, 100}).Runtime("cudaGraphLaunch", {10, 5}, 1);
  trace.Kernel("a", {20, 5}, {1, 7, 0}).Kernel("b", {30, 5}, {1, 7, 0});
  trace.Memset({40, 5}, {1, 8, 0}).Sync("Stream Sync", {50, 9}, {1, 7, 0});
  EXPECT_EQ(Patterns(trace, Ask("", 3)), Expected("f,a|b|Memset (Device),3,1,15,100\n"));
}

TEST(SequencesTest, ZeroLengthsAndOverlapsDoNoHarm) {
  TestTrace trace;
  trace.Op("f", {0, 0}).Op("f", {0, 10}).Op("g", {5, 20});
  trace.Launched("k", {12, 0}, {12, 0}, {1, 7, 0});
  EXPECT_EQ(Analyse("sequences", {&trace.View()}, Ask("", 1))[1].rows(), 4u);
}

TEST(SequencesTest, PrefixesAndEqualWorkUnderOtherOperatorsArePatternsOfTheirOwn) {
  TestTrace trace;
  trace.Op("f", {0, 10}).Launched("a", {1, 1}, {100, 1}, {1, 7, 0});
  trace.Op("f", {10, 10}).Launched("a", {11, 1}, {110, 1}, {2, 7, 0});
  trace.Launched("b", {13, 1}, {120, 1}, {3, 7, 0});
  trace.Op("g", {20, 10}).Launched("a", {21, 1}, {130, 1}, {4, 7, 0});
  EXPECT_EQ(Patterns(trace, Ask("", 1)), Expected("f,a|b,2,1,2,10\nf,a,1,1,1,10\ng,a,1,1,1,10\n"));
}

TEST(SequencesTest, RanksAreAddedUp) {
  TestTrace a = Calls();
  TestTrace b = Calls();
  EXPECT_EQ(Csv(Analyse("sequences", {&a.View(0), &b.View(1)}, Ask("f", 2))[0],
                {"operator", "count", "device_ns", "share"}),
            "operator,count,device_ns,share\nf,4,80,0.784314\n");
}

TEST(SequencesTest, ASelectedOperatorKeepsAllItsWork) {
  TestTrace trace = Calls();
  trace.Annotation("part", {90, 20});
  Params params = Ask("", 1);
  params.selection.annotation = "part";
  const RankView& view = trace.View();
  EXPECT_EQ(Csv(Analyse("sequences", {&view}, params)[0], {"operator", "count", "device_ns"}),
            "operator,count,device_ns\nf,1,25\n");
  EXPECT_EQ(Csv(Analyse("sequences", {&view}, params)[1], {"count", "device_ns"}),
            "count,device_ns\n2,25\n0,0\n0,0\n0,0\n");
}

// A call that began in another, but outlives it, does not tie what follows to the first.
TEST(SequencesTest, WhatBeginsAfterTheEndIsNotInside) {
  TestTrace trace;
  trace.Op("f", {0, 100}).Op("g", {90, 30}).Op("f", {100, 20});
  trace.Launched("a", {95, 2}, {200, 1}, {1, 7, 0}).Launched("b", {105, 2}, {210, 1}, {2, 7, 0});
  EXPECT_EQ(Patterns(trace, Ask("", 1)), Expected("f,a,1,1,1,100\nf,b,1,1,1,20\n"));
}

TEST(SequencesTest, TheOverlayMarksOperatorAndWork) {
  TestTrace trace = Calls();
  const Overlay overlay = FindAnalysis("sequences")->overlay(trace.View(), Ask("", 2)).value();
  ASSERT_EQ(overlay.tracks.size(), 2u);
  const OverlayTrack& host = overlay.tracks[0];
  EXPECT_EQ(host.pid, 1);
  EXPECT_EQ(host.name, "Pattern 1: f, 2 kernels");
  EXPECT_EQ(host.names, std::vector<std::string>{"f"});
  ASSERT_EQ(host.spans.size(), 2u);
  EXPECT_EQ(host.spans[1].ts_ns, 100);
  EXPECT_EQ(host.spans[1].dur_ns, 50);
  const OverlayTrack& device = overlay.tracks[1];
  EXPECT_EQ(device.pid, 0);
  ASSERT_EQ(device.spans.size(), 2u);
  EXPECT_EQ(device.spans[0].ts_ns, 200);
  EXPECT_EQ(device.spans[0].dur_ns, 25);
}

// Spans that overlap on one line would be drawn as if one contained the other.
TEST(SequencesTest, OverlappingOccurrencesHaveLinesOfTheirOwn) {
  TestTrace trace;
  for (int64_t i = 0; i < 3; ++i) {
    const On on{i + 1, 7, 0};
    trace.Op("f", {i * 10, 15}, {}, i);
    trace.Runtime("cudaLaunchKernel", {i * 10 + 1, 2}, on.correlation, i);
    trace.Kernel("k", {100 + i * 20, 5}, on);
  }
  const Overlay overlay = FindAnalysis("sequences")->overlay(trace.View(), Ask("", 1)).value();
  ASSERT_EQ(overlay.tracks.size(), 3u);
  EXPECT_EQ(overlay.tracks[0].spans.size(), 2u);
  EXPECT_EQ(overlay.tracks[1].name, "Pattern 1: f, 1 kernel (2)");
  EXPECT_EQ(overlay.tracks[1].spans[0].ts_ns, 10);
  EXPECT_EQ(overlay.tracks[2].spans.size(), 3u);
}

TEST(SequencesTest, TheOverlayDrawsFivePatterns) {
  TestTrace trace;
  for (int64_t i = 0; i < 7; ++i) {
    trace.Op("op" + std::to_string(i), {i * 10, 9});
    trace.Launched("k", {i * 10 + 1, 2}, {100 + i * 20, i}, {i + 1, 7, 0});
  }
  const Overlay overlay = FindAnalysis("sequences")->overlay(trace.View(), Ask("", 1)).value();
  ASSERT_EQ(overlay.tracks.size(), 10u);
  EXPECT_EQ(overlay.tracks[0].name, "Pattern 1: op6, 1 kernel");
  EXPECT_EQ(overlay.tracks[8].name, "Pattern 5: op2, 1 kernel");
}

}  // namespace
}  // namespace borescope::internal
