#include "borescope/trace/repaired_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {

namespace {

int64_t RoundingOfTimes(const std::vector<int64_t>& ts_ns) {
  HostEvents host;
  host.kind.resize(ts_ns.size());
  host.ts_ns.assign(ts_ns.begin(), ts_ns.end());
  return RoundingOf(host);
}

TEST(RoundingTest, GoesByTheFractionsOfMicroseconds) {
  EXPECT_EQ(RoundingOfTimes({1'000, 5'000, -3'000}), 1000);
  EXPECT_EQ(RoundingOfTimes({1'000, 5'200, 6'500, 7'800}), 350);
  EXPECT_EQ(RoundingOfTimes({1'250, 5'500, 6'750}), 350);
  EXPECT_EQ(RoundingOfTimes({1'000, 5'201}), 0);
}

using testkit::TraceMaker;

constexpr int kSeeds = 50;
constexpr size_t kNoFrame = ~size_t{0};

// A frame as it really was, and as it is written.
struct Frame {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t written_end = 0;
  int64_t thread = 1;
  size_t caller = kNoFrame;
  bool is_planted = false;
};

// Calls of functions on one thread, in the order of their begins.
class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {}

  std::vector<Frame> Run(int64_t thread) {
    thread_ = thread;
    now_ = 1'000'003 + Below(1000);
    Call(kNoFrame, 0);
    // The outermost frame is open when the profiler stops, with all frames that end last.
    return std::move(frames_);
  }

 private:
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  void Call(size_t caller, int depth) {
    const size_t frame = frames_.size();
    frames_.push_back({now_, 0, 0, thread_, caller, false});
    now_ += 1 + Below(5003);
    const int64_t calls = depth == 0 ? 12 : depth < 5 ? Below(4) : 0;
    for (int64_t call = 0; call < calls && frames_.size() < 300; ++call) {
      Call(frame, depth + 1);
      now_ += 1 + Below(3001);
    }
    frames_[frame].end = now_;
    frames_[frame].written_end = now_;
    now_ += 1 + Below(17);
  }

  std::mt19937_64 random_;
  std::vector<Frame> frames_;
  int64_t thread_ = 1;
  int64_t now_ = 0;
};

Trace Written(const std::vector<Frame>& frames, bool with_numbers) {
  TraceMaker maker;
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    uint32_t detail = kNoDetail;
    if (with_numbers) {
      FrameNumbers& numbers = maker.part().frames;
      detail = static_cast<uint32_t>(numbers.rows.size());
      numbers.rows.push_back({static_cast<int32_t>(i), frame.caller == kNoFrame
                                                           ? FrameNumbers::kNone
                                                           : static_cast<int32_t>(frame.caller)});
    }
    maker.Host(HostKind::kPython, "f" + std::to_string(i), frame.thread,
               {frame.begin, frame.written_end - frame.begin}, detail);
  }
  return maker.Finish();
}

// By frame, where it ends in the trace.
std::vector<int64_t> EndsOf(const Trace& trace, size_t frames) {
  std::vector<int64_t> ends(frames);
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    EXPECT_EQ(trace.host().detail[row], kNoDetail);
    ends[std::stoul(std::string(trace.Name(HostId{row}).substr(1)))] =
        trace.host().end_ns(HostId{row});
  }
  return ends;
}

uint64_t CutsOf(const Trace& trace) { return trace.diagnostics().count(Diag::kClampedFrame); }

// Returns that the profiler missed: these frames end when it stops.
int Plant(std::vector<Frame>& frames, uint64_t seed) {
  std::mt19937_64 random(seed);
  int planted = 0;
  for (int i = 0; i < 8; ++i) {
    Frame& frame = frames[1 + random() % (frames.size() - 1)];
    planted += frame.is_planted ? 0 : 1;
    frame.is_planted = true;
    frame.written_end = frames.front().end;
  }
  return planted;
}

// The rules, frame by frame, with all frames that began before it. REQUIRES: one thread.
std::vector<int64_t> SlowEnds(const std::vector<Frame>& frames) {
  std::vector<int64_t> ends;
  std::vector<bool> is_cut(frames.size());
  int64_t last = 0;
  for (const Frame& frame : frames) {
    ends.push_back(frame.written_end);
    last = std::max(last, frame.written_end);
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    const auto open = [&] {
      std::vector<size_t> rows;
      for (size_t j = 0; j < i; ++j) {
        if (ends[j] > frames[i].begin) {
          rows.push_back(j);
        }
      }
      return rows;
    };
    const std::vector<size_t> before = open();
    const auto caller = std::find(before.begin(), before.end(), frames[i].caller);
    if (caller != before.end()) {
      const bool is_wrong = std::any_of(caller + 1, before.end(), [&](size_t j) {
        return is_cut[j] || ends[j] >= last || ends[j] < ends[i];
      });
      for (auto j = before.end(); is_wrong && j-- != caller + 1;) {
        int64_t inside = kMissing;
        for (size_t k = *j + 1; k < i; ++k) {
          inside = ends[k] <= frames[i].begin ? std::max(inside, ends[k]) : inside;
        }
        ends[*j] = inside == kMissing ? frames[i].begin : inside;
      }
    }
    const std::vector<size_t> now = open();
    if (!now.empty() && ends[now.back()] < ends[i]) {
      ends[i] = ends[now.back()];
      is_cut[i] = true;
    }
  }
  return ends;
}

TEST(ClampFramesTest, FramesThatNestStayAsTheyAre) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<Frame> frames = Program(seed).Run(1);
    for (const bool with_numbers : {false, true}) {
      const Trace trace = Written(frames, with_numbers);
      const std::vector<int64_t> ends = EndsOf(trace, frames.size());
      for (size_t i = 0; i < frames.size(); ++i) {
        ASSERT_EQ(ends[i], frames[i].end) << seed << " f" << i;
      }
      EXPECT_EQ(CutsOf(trace), 0U);
    }
  }
}

// With the numbers of callers no frame is in another that did not call it, and sound ones keep
// their times.
TEST(ClampFramesTest, FramesWithoutAReturnEndWhereTheirCallerGoesOn) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<Frame> frames = Program(seed).Run(1);
    const int planted = Plant(frames, seed);
    const Trace trace = Written(frames, true);
    const std::vector<int64_t> ends = EndsOf(trace, frames.size());
    EXPECT_EQ(ends, SlowEnds(frames)) << seed;
    EXPECT_LE(CutsOf(trace), static_cast<uint64_t>(planted));
    for (size_t i = 0; i < frames.size(); ++i) {
      const Frame& frame = frames[i];
      ASSERT_TRUE(frame.is_planted || ends[i] == frame.end) << seed << " f" << i;
      for (size_t j = 0; j < i; ++j) {
        bool is_caller = false;
        for (size_t up = frame.caller; up != kNoFrame; up = frames[up].caller) {
          is_caller = is_caller || up == j;
        }
        ASSERT_TRUE(is_caller || ends[j] <= frame.begin) << seed << " f" << i << " in f" << j;
        ASSERT_TRUE(!is_caller || ends[j] >= ends[i]) << seed << " f" << i << " after f" << j;
      }
    }
  }
}

// Without the numbers they end with the frame they are in.
TEST(ClampFramesTest, WithoutNumbersNoFrameOutlivesItsCaller) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<Frame> frames = Program(seed).Run(1);
    Plant(frames, seed);
    const std::vector<int64_t> ends = EndsOf(Written(frames, false), frames.size());
    for (size_t i = 1; i < frames.size(); ++i) {
      ASSERT_LE(ends[i], ends[frames[i].caller]) << seed << " f" << i;
      ASSERT_TRUE(frames[i].is_planted || ends[i] == frames[i].end) << seed << " f" << i;
    }
  }
}

// Calls that nobody made are next to each other, though each seems to be in the one before it.
// Where nothing is known of callers, a function of Python may call itself.
TEST(ClampFramesTest, OutermostFramesAreInNoOther) {
  using Case = std::pair<int32_t, std::string_view>;
  for (const auto& [caller, name] :
       {Case(FrameNumbers::kNone, "a.py(7): my_op"), Case(FrameNumbers::kNone, "my_op"),
        Case(FrameNumbers::kNobody, "a.py(7): my_op")}) {
    TraceMaker maker;
    for (int32_t i = 0; i < 10; ++i) {
      maker.part().frames.rows.push_back({i, caller});
      maker.Host(HostKind::kPython, name, 1, {1003 + 50 * i, 1000 - 50 * i},
                 static_cast<uint32_t>(i));
    }
    const Trace trace = maker.Finish();
    const bool is_known = caller == FrameNumbers::kNobody || name == "my_op";
    EXPECT_EQ(CutsOf(trace), is_known ? 9U : 0U);
    EXPECT_EQ(trace.host().dur_ns[3], is_known ? 50 : 850);
  }
}

TEST(ClampFramesTest, WhatRoundingExplainsIsNotCut) {
  for (const int64_t offset_ns : {int64_t{0}, int64_t{7}}) {
    TraceMaker maker;
    maker.Host(HostKind::kPython, "f0", 1, {1000 + offset_ns, 5000});
    maker.Host(HostKind::kPython, "f1", 1, {2000 + offset_ns, 5000});
    const Trace trace = maker.Finish();
    EXPECT_EQ(CutsOf(trace), offset_ns == 0 ? 0U : 1U);
    EXPECT_EQ(trace.host().dur_ns[1], offset_ns == 0 ? 5000 : 4000);
  }
}

// Frames that are called from one thread and run on another, and annotations that end in a frame.
TEST(ClampFramesTest, OnlyFramesOfOneThreadLimitEachOther) {
  TraceMaker maker;
  maker.Host(HostKind::kPython, "caller", 1, {10, 20});
  maker.Host(HostKind::kPython, "elsewhere", 2, {15, 90});
  maker.Host(HostKind::kAnnotation, "note", 1, {20, 50});
  maker.Host(HostKind::kPython, "next", 1, {40, 100});
  const Trace trace = maker.Finish();
  EXPECT_EQ(CutsOf(trace), 0U);
}

using testkit::TraceMaker;

// Kernels of one stream with its usual lengths of each name; or copies.
struct Kernel {
  std::string name;
  int64_t begin = 0;
  int64_t dur = 0;
  int64_t stream = 0;
  int64_t correlation = 0;
  bool is_wrong = false;
  int64_t copied_bytes = 0;  // 0: a kernel
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
      if (kernel.copied_bytes > 0) {
        Copies& copies = maker.part().data.copies;
        const uint32_t row = AddMissingRow(copies);
        copies.bytes[row] = kernel.copied_bytes;
        maker.Device(DeviceKind::kMemcpy, "Memcpy HtoD (Pinned -> Device)", 0, kernel.stream,
                     {kernel.begin, kernel.dur},
                     {.correlation = kernel.correlation, .detail = row});
      } else {
        maker.Kernel(kernel.name, kernel.stream, {kernel.begin, kernel.dur},
                     {.correlation = kernel.correlation});
      }
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

// Two of three works are kernels, the others copies of one size.
void AddCopies(Recording& recording) {
  for (size_t i = 0; i < recording.kernels.size(); i += 3) {
    recording.kernels[i].copied_bytes = 4096;
    recording.kernels[i].dur = std::min<int64_t>(recording.kernels[i].dur, 20'000);
  }
}

TEST(CutOverrunsTest, CopiesOverrunToo) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(600, 0);
    AddCopies(recording);
    EXPECT_EQ(CutsOf(recording), 0U);
    Kernel& culprit = recording.kernels[3 * static_cast<size_t>(recording.Below(190))];
    culprit.dur = 40'000'000;
    culprit.is_wrong = true;
    Score score;
    score.Add(recording);
    EXPECT_EQ(score.found, 1) << seed;
    EXPECT_EQ(score.false_alarms, 0) << seed;
  }
}

// Some producers give the copies of all streams one number: they run beside its kernels.
TEST(CutOverrunsTest, CopiesBesideKernelsAreNotCut) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(400, 0);
    const int64_t end = recording.kernels.back().begin;
    for (int64_t i = 0; i < 60; ++i) {
      const int64_t dur = i % 20 == 0 ? 2'000'000 : 30'000;
      recording.kernels.push_back({"copy", recording.Below(end), dur, 0, 100'000 + i, false, 4096});
    }
    EXPECT_EQ(CutsOf(recording), 0U) << seed;
  }
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

// Their ends are in order all the same: what covers many others is wrong.
TEST(CutOverrunsTest, CulpritsAmongEarlyLaunchesAreOutOfAllProportion) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Recording recording(seed);
    recording.AddInOrder(600, 0);
    for (size_t i = 1; i < recording.kernels.size(); ++i) {
      const Kernel& before = recording.kernels[i - 1];
      recording.kernels[i].begin = before.begin + before.dur - 500;
    }
    Kernel& culprit = recording.kernels[static_cast<size_t>(recording.Below(500))];
    culprit.dur = 3'400'000'000;
    culprit.is_wrong = true;
    Score score;
    score.Add(recording);
    EXPECT_EQ(score.found, 1) << seed;
    EXPECT_EQ(score.false_alarms, 0) << seed;
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
