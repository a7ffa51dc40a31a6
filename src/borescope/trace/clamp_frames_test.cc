#include "borescope/trace/clamp_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

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

}  // namespace
}  // namespace borescope::internal
