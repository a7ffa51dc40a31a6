#include "borescope/trace/cut_overruns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::TraceMaker;

constexpr int kSeeds = 50;

// Kernels of one stream with its usual lengths of each name.
struct Kernel {
  std::string name;
  int64_t begin = 0;
  int64_t dur = 0;
  int64_t stream = 0;
  int64_t correlation = 0;
  bool is_wrong = false;
};

class Recording {
 public:
  explicit Recording(uint64_t seed) : random_(seed) {}

  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  // Names with lengths from 5 to 500 us, each varying by a third, one after the other.
  void AddInOrder(int64_t count, int64_t stream) {
    int64_t now = Below(100'000);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t name = Below(8);
      const int64_t usual = 5'000 << name % 7;
      const int64_t dur = usual * 2 / 3 + Below(usual * 2 / 3);
      kernels.push_back(
          {"kernel_" + std::to_string(name), now, dur, stream, ++correlation_, false});
      now += dur + 500 + Below(Below(10) == 0 ? 300'000 : 5'000);
    }
  }

  // Makes some kernels run over at least `least` later ones of their stream.
  void Overrun(int count, size_t least) {
    for (int i = 0; i < count; ++i) {
      Kernel& culprit = kernels[static_cast<size_t>(Below(std::ssize(kernels) - 60))];
      const size_t covered = least + static_cast<size_t>(Below(40));
      const Kernel& last = *(&culprit + covered);
      if (last.stream == culprit.stream) {
        culprit.is_wrong = true;
        culprit.dur = last.begin + last.dur + Below(2000) - culprit.begin;
      }
    }
  }

  Trace Written() const {
    TraceMaker maker;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const Kernel& kernel = kernels[i];
      maker.Kernel(kernel.name, kernel.stream, {kernel.begin, kernel.dur},
                   {.correlation = kernel.correlation});
    }
    return maker.Finish();
  }

  std::vector<Kernel> kernels;

 private:
  std::mt19937_64 random_;
  int64_t correlation_ = 0;
};

struct Score {
  int found = 0;
  int missed = 0;
  int false_alarms = 0;

  // By begin and stream, which are those of one kernel each.
  void Add(const Recording& recording) {
    const Trace trace = recording.Written();
    std::set<std::tuple<int64_t, int64_t, int64_t>> times;  // stream, begin, length
    for (uint32_t row = 0; row < trace.device().size(); ++row) {
      times.emplace(trace.StreamOf({row}), trace.device().ts_ns[row], trace.device().dur_ns[row]);
    }
    for (const Kernel& kernel : recording.kernels) {
      const bool is_cut = !times.contains({kernel.stream, kernel.begin, kernel.dur});
      found += is_cut && kernel.is_wrong ? 1 : 0;
      missed += !is_cut && kernel.is_wrong ? 1 : 0;
      false_alarms += is_cut && !kernel.is_wrong ? 1 : 0;
    }
  }
};

uint64_t CutsOf(const Recording& recording) {
  return recording.Written().diagnostics().count(Diag::kImpossibleDuration);
}

TEST(CutOverrunsTest, CulpritsAreFoundAndTheirVictimsLeftAlone) {
  Score score;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(400, 0);
    recording.AddInOrder(300, 1);
    recording.Overrun(static_cast<int>(1 + recording.Below(6)), 8);
    score.Add(recording);
  }
  const double all = score.found + score.missed;
  RecordProperty("recall", std::to_string(score.found / all));
  EXPECT_EQ(score.false_alarms, 0);
  EXPECT_GE(score.found / all, 0.95) << score.found << " of " << all;
}

// A short kernel over a few others is as wrong, but may be a long one of its name.
TEST(CutOverrunsTest, ShortOverrunsAreCutOnlyFarBeyondTheirPeers) {
  Score score;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(400, 0);
    recording.Overrun(4, 2);
    score.Add(recording);
  }
  const double all = score.found + score.missed;
  RecordProperty("recall", std::to_string(score.found / all));
  EXPECT_EQ(score.false_alarms, 0);
  EXPECT_GE(score.found / all, 0.8) << score.found << " of " << all;
}

TEST(CutOverrunsTest, ACulpritEndsWhereTheNextBegins) {
  Recording recording(3);
  recording.AddInOrder(100, 0);
  recording.kernels[20].dur = 30'000'000;
  const Trace trace = recording.Written();
  EXPECT_EQ(trace.device().dur_ns[20], recording.kernels[21].begin - recording.kernels[20].begin);
  EXPECT_EQ(trace.diagnostics().count(Diag::kImpossibleDuration), 1U);
}

// Very far beyond its peers one kernel in its time is enough.
TEST(CutOverrunsTest, TheLastButOneMayOverrunTheLast) {
  for (const int64_t times : {20, 1000}) {
    Recording recording(3);
    recording.AddInOrder(300, 0);
    recording.kernels[298].dur *= times;
    EXPECT_EQ(CutsOf(recording), times == 20 ? 0U : 1U);
  }
}

// The only one of its name is judged by its stream.
TEST(CutOverrunsTest, TheOnlyKernelOfItsNameIsCutInAStreamInOrder) {
  Recording recording(4);
  recording.AddInOrder(500, 0);
  recording.kernels[200].name = "once";
  recording.kernels[200].dur = 60'000'000;
  EXPECT_EQ(CutsOf(recording), 1U);
}

// --- streams that overlap for good reasons ---

// Several streams or queues under one number: long kernels of one run beside short ones of another.
TEST(CutOverrunsTest, MergedStreamsAreNotCut) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    for (int64_t queue = 0; queue <= 1 + recording.Below(3); ++queue) {
      recording.AddInOrder(100 + recording.Below(300), 0);
    }
    EXPECT_EQ(CutsOf(recording), 0U) << seed;
  }
}

// A second queue that is used now and then, by long kernels.
TEST(CutOverrunsTest, ASecondQueueNowAndThenIsNotCut) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(400, 0);
    const int64_t end = recording.kernels.back().begin;
    for (int64_t i = 0; i < 3 + recording.Below(6); ++i) {
      recording.kernels.push_back({"optimizer", recording.Below(end),
                                   2'000'000 + recording.Below(2'000'000), 0, 100'000 + i, false});
    }
    EXPECT_EQ(CutsOf(recording), 0U) << seed;
  }
}

// Branches of a graph: all kernels have the launch of the graph.
TEST(CutOverrunsTest, BranchesOfGraphsAreNotCut) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(400, 0);
    for (int64_t graph = 0; graph < 4; ++graph) {
      const auto first = static_cast<size_t>(90 * graph + recording.Below(50));
      for (size_t i = first; i < first + 30; ++i) {
        recording.kernels[i].correlation = 100'000 + graph;
      }
      Kernel& branch = recording.kernels[first];
      branch.dur = recording.kernels[first + 25].begin - branch.begin;
    }
    EXPECT_EQ(CutsOf(recording), 0U) << seed;
  }
}

// Programmatic dependent launch: a kernel begins while the one before it ends.
TEST(CutOverrunsTest, EarlyLaunchesAreNotCut) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(400, 0);
    for (size_t i = 1; i < recording.kernels.size(); ++i) {
      const Kernel& before = recording.kernels[i - 1];
      recording.kernels[i].begin =
          std::max(before.begin + 1, before.begin + before.dur - recording.Below(4000));
    }
    EXPECT_EQ(CutsOf(recording), 0U) << seed;
  }
}

// A collective waits for other ranks: one may take a thousand times as long as the others.
TEST(CutOverrunsTest, LateCollectivesAreNotCut) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(400, 0);
    for (size_t i = 0; i < 60; ++i) {
      recording.kernels[5 * i].name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
    }
    recording.kernels[5 * static_cast<size_t>(recording.Below(40))].dur = 30'000'000;
    EXPECT_EQ(CutsOf(recording), 0U) << seed;
  }
}

}  // namespace
}  // namespace borescope::internal
