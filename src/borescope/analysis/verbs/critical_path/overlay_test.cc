// What --overlay draws of the critical path, against the graph itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/critical_path/tables.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// Work behind a launch, work behind work, and a call that waits: an arrow of every kind.
const RankView& Plant(TestTrace& trace) {
  trace.Annotation("train", {0, 200});
  trace.Op("aten::a", {0, 10}).Launched("first", {2, 3}, {8, 40}, {.correlation = 1});
  trace.Launched("second", {12, 3}, {50, 30}, {.correlation = 2});
  trace.Launched("aside", {20, 3}, {25, 5}, {.correlation = 3, .stream = 9});
  trace.Runtime("cudaDeviceSynchronize", {30, 55});
  trace.Op("aten::last", {90, 20});
  return trace.View();
}

Params With(std::vector<std::string_view> flags) {
  Params params;
  for (const std::string_view flag : flags) {
    params.values.push_back({flag, 1, ""});
  }
  return params;
}

using Counts = std::map<std::string, size_t>;

Counts ArrowsOf(const Overlay& overlay) {
  Counts counts;
  for (const OverlayArrow& arrow : overlay.arrows.arrows) {
    ++counts[overlay.arrows.types[arrow.type]];
  }
  return counts;
}

// The edges that are no events, by what their arrows are called.
Counts EdgesOf(const RecordingGraph& recording, const std::vector<EdgeId>& edges) {
  const std::map<EdgeKind, std::string> names = {{EdgeKind::kLaunch, "launch_delay"},
                                                 {EdgeKind::kStream, "kernel_kernel_delay"},
                                                 {EdgeKind::kSync, "sync"},
                                                 {EdgeKind::kInferredSync, "sync"},
                                                 {EdgeKind::kInferredWork, "kernel_kernel_delay"},
                                                 {EdgeKind::kHandover, "dependency"}};
  Counts counts;
  for (const EdgeId edge : edges) {
    if (const auto name = names.find(recording.graph.kind[edge]); name != names.end()) {
      ++counts[name->second];
    }
  }
  return counts;
}

TEST(CriticalPathOverlayTest, AnArrowForEveryEdgeOfThePath) {
  TestTrace trace;
  const RankView& view = Plant(trace);
  const Overlay overlay = *OverlayCriticalPath(view, {});
  const RecordingGraph recording = BuildGraph(view, "");
  const LongestPaths paths = FindLongestPaths(recording.graph, OrderNodes(recording.graph));
  EXPECT_EQ(ArrowsOf(overlay), EdgesOf(recording, PathEdges(paths)));
  EXPECT_EQ(ArrowsOf(overlay),
            (Counts{{"launch_delay", 1}, {"kernel_kernel_delay", 1}, {"sync", 1}}));
  EXPECT_TRUE(std::all_of(overlay.arrows.arrows.begin(), overlay.arrows.arrows.end(),
                          [](const OverlayArrow& arrow) { return arrow.critical; }));
}

// Arrows begin in the work, on its stream, a moment before its end, and end where what waits does.
TEST(CriticalPathOverlayTest, ArrowsEndInsideOfEvents) {
  TestTrace trace;
  const Overlay overlay = *OverlayCriticalPath(Plant(trace), {});
  const auto sync = std::find_if(
      overlay.arrows.arrows.begin(), overlay.arrows.arrows.end(),
      [&](const OverlayArrow& arrow) { return overlay.arrows.types[arrow.type] == "sync"; });
  ASSERT_NE(sync, overlay.arrows.arrows.end());
  EXPECT_EQ(sync->from.tid, 7);
  EXPECT_EQ(sync->from.ts_ns, 79);
  EXPECT_EQ(sync->to.tid, 1);
  EXPECT_EQ(sync->to.ts_ns, 84);
  EXPECT_EQ(sync->weight_us, 0.005);
}

TEST(CriticalPathOverlayTest, AllEdgesAreDrawnOnDemand) {
  TestTrace trace;
  const RankView& view = Plant(trace);
  const Overlay overlay =
      *OverlayCriticalPath(view, With({"overlay-all-events", "overlay-all-edges"}));
  const RecordingGraph recording = BuildGraph(view, "");
  std::vector<EdgeId> all(recording.graph.edges());
  for (EdgeId edge = 0; edge < all.size(); ++edge) {
    all[edge] = edge;
  }
  EXPECT_EQ(ArrowsOf(overlay), EdgesOf(recording, all));
  const auto critical = std::count_if(overlay.arrows.arrows.begin(), overlay.arrows.arrows.end(),
                                      [](const OverlayArrow& arrow) { return arrow.critical; });
  EXPECT_EQ(static_cast<size_t>(critical), OverlayCriticalPath(view, {})->arrows.arrows.size());
}

TEST(CriticalPathOverlayTest, AllEdgesNeedAllEvents) {
  TestTrace trace;
  const Result<Overlay> overlay = OverlayCriticalPath(Plant(trace), With({"overlay-all-edges"}));
  ASSERT_FALSE(overlay.ok());
  EXPECT_EQ(overlay.error().code, ErrorCode::kInvalidArgument);
}

TEST(CriticalPathOverlayTest, OnlyCriticalEventsUnlessAllAreAskedFor) {
  TestTrace trace;
  const RankView& view = Plant(trace);
  const OverlayMarks some = OverlayCriticalPath(view, {})->marks;
  EXPECT_TRUE(some.only_critical);
  EXPECT_EQ(some.kept_categories, (std::vector<std::string>{"user_annotation", "python_function"}));
  const OverlayMarks all = OverlayCriticalPath(view, With({"overlay-all-events"}))->marks;
  EXPECT_FALSE(all.only_critical);
  EXPECT_EQ(all.critical, some.critical);
}

// An arrow belongs to the window in which it ends.
TEST(CriticalPathOverlayTest, DrawsTheWindowAlone) {
  TestTrace trace;
  const RankView& view = Plant(trace);
  Params params;
  params.selection.range = *TimeRange::Parse("60ns", "200ns");
  EXPECT_EQ(ArrowsOf(*OverlayCriticalPath(view, params)), (Counts{{"sync", 1}}));
}

}  // namespace
}  // namespace borescope::internal
