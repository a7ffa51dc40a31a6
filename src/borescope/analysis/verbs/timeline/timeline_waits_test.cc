// Rows of waiting and aligned clocks, over ranks whose clocks and lateness are planted.
#include "borescope/analysis/verbs/timeline/timeline_waits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kRoundNs = 600 * kUs;
constexpr int64_t kLateNs = 200 * kUs;
constexpr int64_t kTransferNs = 30 * kUs;
constexpr int kRounds = 40;
constexpr int64_t kSize = 3'000'000;

bool IsLate(int round) { return round % 10 == 5; }

// A rank on a clock that is ahead by `shift_ns`: each round has a collective that all enter at
// once, but for every tenth, which rank 1 enters late.
std::unique_ptr<TestTrace> PlantedRank(int64_t rank, int64_t shift_ns, int ranks) {
  auto trace = std::make_unique<TestTrace>();
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin_ns = shift_ns + round * kRoundNs;
    const int64_t late_ns = IsLate(round) ? kLateNs : 0;
    const int64_t enter_ns = begin_ns + 50 * kUs + (rank == 1 ? late_ns : 0);
    const int64_t leave_ns = begin_ns + 50 * kUs + late_ns + kTransferNs;
    CollectiveArgs args{"allreduce", 1000, 1000};
    args.sequence = round;
    args.group_size = ranks;
    args.members = "[0, 1, 2]";
    trace->Runtime("cudaLaunchKernel", {begin_ns, 5 * kUs}, round + 1);
    trace->Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", {enter_ns, leave_ns - enter_ns},
                  {round + 1, 20, 0}, args);
  }
  return trace;
}

// The timelines of a run of such ranks, in line and with rows of waiting.
std::vector<Timeline> DrawWithWaits(const std::vector<int64_t>& shifts, int64_t size = kSize) {
  const AnalysisSpec& waits = *FindAnalysis("waits");
  const AnalysisSpec& timeline = *FindAnalysis("timeline");
  std::vector<std::unique_ptr<TestTrace>> traces;
  std::vector<Tables> waiting;
  std::vector<Tables> drawn;
  for (size_t rank = 0; rank < shifts.size(); ++rank) {
    const auto number = static_cast<int64_t>(rank);
    traces.push_back(PlantedRank(number, shifts[rank], static_cast<int>(shifts.size())));
    waiting.push_back(waits.answer.map(traces.back()->View(number), {}).value());
    drawn.push_back(timeline.answer.map(traces.back()->View(number), {}).value());
  }
  Params params;
  params.sharing = shifts.size();
  params.values.push_back({kTimelineSizeParam.name, size, ""});
  Tables tables =
      timeline.answer.finish(timeline.answer.reduce(drawn, params).value(), params).value();
  AddWaits(waits.answer.reduce(waiting, {}).value(), -1, size, tables);
  EXPECT_TRUE(CheckTimelineTables(tables, {}).ok());
  return TimelinesOf(tables);
}

std::vector<const DrawnBox*> BoxesOf(const Timeline& timeline, TrackRole role, int64_t level) {
  std::vector<const DrawnBox*> boxes;
  for (const DrawnBox& box : timeline.boxes) {
    if (timeline.tracks[static_cast<size_t>(box.track)].role == role && box.level == level) {
      boxes.push_back(&box);
    }
  }
  return boxes;
}

TEST(TimelineWaitsTest, RanksOnOtherClocksAreInLine) {
  const std::vector<Timeline> timelines = DrawWithWaits({7'000'000, 900'000'000, 400 * kUs});
  ASSERT_EQ(timelines.size(), 3U);
  const auto first = BoxesOf(timelines[0], TrackRole::kStream, 0);
  ASSERT_EQ(first.size(), static_cast<size_t>(kRounds));
  for (const Timeline& timeline : timelines) {
    const auto boxes = BoxesOf(timeline, TrackRole::kStream, 0);
    ASSERT_EQ(boxes.size(), first.size());
    for (size_t i = 0; i < boxes.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(boxes[i]->begin_ns + boxes[i]->duration_ns),
                  static_cast<double>(first[i]->begin_ns + first[i]->duration_ns), 1000);
    }
  }
}

TEST(TimelineWaitsTest, WhoWaitsAndWhoIsWaitedFor) {
  const std::vector<Timeline> timelines = DrawWithWaits({0, 50'000'000, 3 * kUs});
  std::map<std::string, int> names;
  for (const Timeline& timeline : timelines) {
    const auto boxes = BoxesOf(timeline, TrackRole::kWait, timeline.levels.back().level);
    EXPECT_EQ(boxes.size(), 4U) << timeline.rank;  // of 40 collectives
    for (const DrawnBox* box : boxes) {
      EXPECT_NEAR(static_cast<double>(box->duration_ns), static_cast<double>(kLateNs), 1000);
      EXPECT_EQ(box->tone, timeline.rank == 1 ? Tone::kTail : Tone::kSync);
      ++names[std::to_string(timeline.rank) + ": " + std::string(timeline.texts.Get(box->name))];
    }
    EXPECT_EQ(timeline.tracks.back().events, 4);
    EXPECT_NEAR(static_cast<double>(timeline.tracks.back().busy_ns),
                timeline.rank == 1 ? 0.0 : 4.0 * kLateNs, 4000);
  }
  EXPECT_EQ(names, (std::map<std::string, int>{{"0: waits for rank 1: all_reduce", 4},
                                               {"1: 2 ranks wait for it: all_reduce", 4},
                                               {"2: waits for rank 1: all_reduce", 4}}));
}

// The row is where the kernel is in which the rank waits.
TEST(TimelineWaitsTest, WaitingBeginsWithItsKernel) {
  for (const Timeline& timeline : DrawWithWaits({0, 50'000'000, 3 * kUs})) {
    const auto kernels = BoxesOf(timeline, TrackRole::kStream, 0);
    for (const DrawnBox* box : BoxesOf(timeline, TrackRole::kWait, timeline.levels.back().level)) {
      const int64_t at_ns =
          box->begin_ns + (timeline.rank == 1 ? box->duration_ns : 0);  // it ends waiting of others
      int found = 0;
      for (const DrawnBox* kernel : kernels) {
        found += std::abs(kernel->begin_ns - at_ns) <= 1000 ? 1 : 0;
      }
      EXPECT_EQ(found, 1) << timeline.rank << " " << at_ns;
    }
  }
}

// The longest waits that there is room for, within what a page may take.
TEST(TimelineWaitsTest, RowsOfWaitingKeepTheSize) {
  for (const int64_t size : {1600, 3'000, 20'000, 300'000}) {
    int64_t bytes = 0;
    for (const Timeline& timeline : DrawWithWaits({0, 50'000'000, 3 * kUs}, size)) {
      for (const DrawnLevel& level : timeline.levels) {
        bytes += level.bytes;
      }
      const size_t waits = BoxesOf(timeline, TrackRole::kWait, timeline.levels.back().level).size();
      EXPECT_EQ(waits, size == 300'000 || size == 20'000 ? 4U : size == 3'000 ? 3U : 2U) << size;
    }
    EXPECT_TRUE(size < 20'000 || bytes <= size) << bytes << " of " << size;
  }
}

// One rank waits for nobody, and has the clock it has.
TEST(TimelineWaitsTest, OneRankStaysAsItIs) {
  const std::vector<Timeline> timelines = DrawWithWaits({5'000'000});
  ASSERT_EQ(timelines.size(), 1U);
  for (const DrawnTrack& track : timelines[0].tracks) {
    EXPECT_NE(track.role, TrackRole::kWait);
  }
}

}  // namespace
}  // namespace borescope::internal
