#include "borescope/postmortem/memory/live.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "borescope/postmortem/memory/areas.h"
#include "borescope/postmortem/memory/growth.h"
#include "borescope/postmortem/memory/held.h"

namespace borescope::internal::postmortem {
namespace {

// Runs allocations through the model and writes down what a snapshot of them would hold; the
// category of each is known.
class Program {
 public:
  Program() : allocator_(snapshot_.settings, snapshot_.lanes) {
    snapshot_.devices.emplace_back();
    forward_ =
        Stack({{"/app/train.py", "main", 10},
               {"/env/lib/python3.12/site-packages/torch/nn/modules/module.py",
                "_wrapped_call_impl", 1779},
               {"/env/lib/python3.12/site-packages/torch/nn/modules/linear.py", "forward", 134}});
    parameter_ =
        Stack({{"/app/train.py", "build", 3},
               {"/env/lib/python3.12/site-packages/torch/nn/modules/module.py", "_apply", 900}});
    backward_ = Stack({{"??", "torch::autograd::Engine::evaluate_function(int)", 0},
                       {"", "torch::autograd::generated::AddmmBackward0::apply(int)", 0},
                       {"", "at::detail::empty_cuda(int)", 0}});
    optimizer_ = Stack({{"/app/train.py", "main", 14},
                        {"/env/lib/python3.12/site-packages/torch/optim/adamw.py", "step", 60}});
    data_ = Stack({{"/app/train.py", "main", 9}});
    workspace_ = Stack({{"/app/train.py", "main", 10}, {"", "at::cuda::getNewWorkspace()", 0}});
    nested_ = Stack({{"/app/train.py", "main", 10}, {"/app/model.py", "forward", 40}});
    recompute_ =
        Stack({{"??", "torch::autograd::python::PythonEngine::thread_init(int)", 0},
               {"/env/lib/python3.12/site-packages/torch/utils/checkpoint.py", "backward", 20},
               {"/env/lib/python3.12/site-packages/torch/nn/modules/linear.py", "forward", 134}});
  }

  uint32_t Alloc(uint64_t size, uint32_t stack, MemoryCategory truth) {
    const auto owner = static_cast<uint32_t>(blocks_.size());
    const uint64_t before = allocator_.counters().reserved;
    const uint32_t block = allocator_.Allocate(size, 0, owner);
    blocks_.push_back({block, size, stack});
    const uint64_t address = allocator_.BlockAddress(block);
    if (const uint64_t more = allocator_.counters().reserved - before; more > 0) {
      Push(MemoryAction::kSegmentAlloc, address, more, stack);
    }
    truth_.emplace(static_cast<uint32_t>(Events().size()), truth);
    Push(MemoryAction::kAlloc, address, size, stack);
    return owner;
  }
  void Free(uint32_t owner) {
    const Block& block = blocks_[owner];
    Push(MemoryAction::kFreeRequested, allocator_.BlockAddress(block.id), block.size, block.stack);
    Push(MemoryAction::kFreeCompleted, allocator_.BlockAddress(block.id), block.size, block.stack);
    allocator_.RequestFree(block.id, owner);
    allocator_.CompleteFree(block.id, owner);
  }
  // As where free_requested and free_completed are among the actions that are not recorded.
  void FreeUnrecorded(uint32_t owner) {
    allocator_.RequestFree(blocks_[owner].id, owner);
    allocator_.CompleteFree(blocks_[owner].id, owner);
  }
  void Fail(uint64_t size) { Push(MemoryAction::kOom, 0, size, data_); }
  void Wait(int64_t us) { time_us_ += us; }
  void Mark(bool is_start) {
    snapshot_.devices[0].annotations.push_back(
        {time_us_++, snapshot_.stacks.Intern("Optimizer.step#AdamW.step"), is_start});
  }

  MemorySnapshot Finish() {
    DeviceMemory& device = snapshot_.devices[0];
    for (const LayoutBlock& block : allocator_.Layout()) {
      if (device.segments.empty() || device.segments.back().address != block.segment) {
        MemorySegment segment;
        segment.address = block.segment;
        segment.first_block = static_cast<uint32_t>(device.blocks.size());
        segment.is_small = block.is_small;
        device.segments.push_back(segment);
      }
      device.segments.back().size += block.size;
      ++device.segments.back().blocks;
      const bool is_used = block.state == BlockState::kAllocated;
      device.blocks.push_back({block.address, block.size, block.requested,
                               is_used ? blocks_[block.owner].stack : 0,
                               is_used ? MemoryBlockState::kAllocated : MemoryBlockState::kFree});
    }
    postmortem::Finish(snapshot_);
    return std::move(snapshot_);
  }

  const std::map<uint32_t, MemoryCategory>& truth() const { return truth_; }
  uint32_t forward() const { return forward_; }
  uint32_t parameter() const { return parameter_; }
  uint32_t backward() const { return backward_; }
  uint32_t optimizer() const { return optimizer_; }
  uint32_t data() const { return data_; }
  uint32_t workspace() const { return workspace_; }
  uint32_t recompute() const { return recompute_; }
  uint32_t nested() const { return nested_; }

 private:
  struct Frame {
    std::string file;
    std::string name;
    int64_t line;
  };
  struct Block {
    uint32_t id;
    uint64_t size;
    uint32_t stack;
  };

  // `frames` are outermost first, as a traceback has them.
  uint32_t Stack(std::vector<Frame> frames) {
    std::reverse(frames.begin(), frames.end());
    std::vector<uint32_t> ids;
    ids.reserve(frames.size());
    for (const Frame& frame : frames) {
      ids.push_back(snapshot_.stacks.AddFrame(frame.file, frame.name, frame.line));
    }
    return snapshot_.stacks.AddStack(ids);
  }
  ColumnData<MemoryEvent>& Events() { return snapshot_.devices[0].events; }
  void Push(MemoryAction action, uint64_t address, uint64_t size, uint32_t stack) {
    MemoryEvent event;
    event.action = action;
    event.address = address;
    event.size = size;
    event.stack = stack;
    event.time_us = time_us_++;
    Events().push_back(event);
  }

  MemorySnapshot snapshot_;
  Allocator allocator_;
  std::vector<Block> blocks_;
  std::map<uint32_t, MemoryCategory> truth_;  // by event
  int64_t time_us_ = 1'700'000'000'000'000;
  uint32_t forward_, parameter_, backward_, optimizer_, data_, workspace_, recompute_, nested_;
};

struct Loop {
  bool has_state = true;       // Adam, else SGD
  bool recomputes = false;     // checkpointing
  int micro_batches = 1;       // accumulation
  uint64_t kept_per_step = 0;  // a leak
  bool has_marks = true;
};

void Train(const Loop& loop, Program& program) {
  constexpr int kLayers = 6;
  constexpr uint64_t kWeight = 4 * kMiB;
  constexpr uint64_t kActivation = 3 * kMiB + 512;
  for (int layer = 0; layer < kLayers; ++layer) {
    program.Alloc(kWeight, program.parameter(), MemoryCategory::kParameter);
  }
  program.Alloc(8 * kMiB, program.workspace(), MemoryCategory::kWorkspace);
  for (int step = 0; step < 5; ++step) {
    std::vector<uint32_t> gradients;
    for (int micro = 0; micro < loop.micro_batches; ++micro) {
      const uint32_t batch = program.Alloc(2 * kMiB, program.data(), MemoryCategory::kActivation);
      std::vector<uint32_t> activations;
      for (int layer = 0; layer < kLayers; ++layer) {
        const uint32_t made = program.Alloc(
            kActivation, program.forward(),
            loop.recomputes ? MemoryCategory::kTemporary : MemoryCategory::kActivation);
        if (loop.recomputes) {
          program.Free(made);
        } else {
          activations.push_back(made);
        }
      }
      for (int layer = 0; layer < kLayers; ++layer) {
        if (loop.recomputes) {
          activations.push_back(
              program.Alloc(kActivation, program.recompute(), MemoryCategory::kTemporary));
        }
        if (micro == 0) {
          gradients.push_back(
              program.Alloc(kWeight, program.backward(), MemoryCategory::kGradient));
        } else {
          program.Free(program.Alloc(kWeight, program.backward(), MemoryCategory::kTemporary));
        }
        program.Free(activations.back());
        activations.pop_back();
      }
      program.Free(batch);
    }
    if (loop.kept_per_step > 0) {
      program.Alloc(loop.kept_per_step, program.data(), MemoryCategory::kHeld);
    }
    if (loop.has_marks) program.Mark(true);
    const uint32_t update = program.Alloc(kWeight, program.optimizer(), MemoryCategory::kTemporary);
    for (int layer = 0; step == 0 && loop.has_state && layer < 2 * kLayers; ++layer) {
      program.Alloc(kWeight, program.optimizer(), MemoryCategory::kOptimizerState);
    }
    program.Free(update);
    if (loop.has_marks) program.Mark(false);
    for (const uint32_t gradient : gradients) program.Free(gradient);
  }
}

struct Studied {
  MemorySnapshot snapshot;
  Replay replay;
  std::vector<MemoryStep> steps;
  MemoryCategories categories;
};

Studied Study(Program& program, const MemorySnapshot& snapshot, const MemorySites& sites) {
  Studied studied;
  const DeviceMemory& device = snapshot.devices[0];
  studied.replay = ReplayDevice(snapshot, device);
  EXPECT_EQ(studied.replay.impossible, "");
  EXPECT_EQ(studied.replay.forced, 0U);
  studied.steps = FindSteps(snapshot, device);
  studied.categories = Categorise(device, studied.replay, sites, studied.steps);
  for (const auto& [event, truth] : program.truth()) {
    EXPECT_EQ(Name(studied.categories.events[event]), Name(truth)) << "event " << event;
  }
  return studied;
}

TEST(MemoryLiveTest, CategoriesOfTrainingLoops) {
  for (const bool has_state : {true, false}) {
    for (const bool recomputes : {true, false}) {
      for (const int micro_batches : {1, 3}) {
        SCOPED_TRACE(testing::Message() << has_state << recomputes << micro_batches);
        Program program;
        Train({has_state, recomputes, micro_batches, 0, true}, program);
        const MemorySnapshot snapshot = program.Finish();
        const MemorySites sites(snapshot);
        const Studied studied = Study(program, snapshot, sites);
        EXPECT_EQ(studied.steps.size(), 5U);
        EXPECT_TRUE(FindGrowth(snapshot.devices[0], studied.replay, sites, studied.categories,
                               studied.steps)
                        .empty());
        uint64_t sum = 0;
        for (const LiveMemory& live : LiveAt(snapshot.devices[0], studied.replay, sites,
                                             studied.categories, studied.replay.peak_event)) {
          sum += live.bytes;
        }
        EXPECT_EQ(sum, studied.replay.end.peak_allocated);
      }
    }
  }
}

TEST(MemoryLiveTest, ALeakGrowsByItsBytes) {
  for (const bool has_marks : {true, false}) {
    Program program;
    Train({true, false, 1, 5 * kMiB, has_marks}, program);
    const MemorySnapshot snapshot = program.Finish();
    const MemorySites sites(snapshot);
    const DeviceMemory& device = snapshot.devices[0];
    const Replay replay = ReplayDevice(snapshot, device);
    const std::vector<MemoryStep> steps = FindSteps(snapshot, device);
    const std::vector<MemoryGrowth> growth =
        FindGrowth(device, replay, sites, Categorise(device, replay, sites, steps), steps);
    if (!has_marks) {  // eighths of the time need not meet steps
      for (const MemoryGrowth& one : growth) EXPECT_TRUE(one.is_by_time);
      continue;
    }
    ASSERT_EQ(growth.size(), 1U);
    EXPECT_EQ(growth[0].bytes_per_step, 5 * kMiB);
    EXPECT_EQ(growth[0].blocks_per_step, 1U);
    EXPECT_EQ(growth[0].steps, 4U);
    EXPECT_EQ(growth[0].first_step, 2U);
    EXPECT_EQ(growth[0].bytes, 20 * kMiB);
    EXPECT_EQ(sites.Get(growth[0].site).Text(), "/app/train.py:9 main");
  }
}

// A program that starts slowly, or has no times at all, in 20 steps without marks.
TEST(MemoryLiveTest, ALeakGrowsThoughTheStartFillsTheTime) {
  for (const int64_t start_us : {0, 100'000'000}) {
    for (const uint64_t kept : {0 * kMiB, 5 * kMiB}) {
      Program program;
      program.Alloc(8 * kMiB, program.workspace(), MemoryCategory::kWorkspace);
      program.Wait(start_us);
      for (int rounds = 0; rounds < 4; ++rounds) {
        Train({true, false, 1, kept, false}, program);
      }
      const MemorySnapshot snapshot = program.Finish();
      const MemorySites sites(snapshot);
      const DeviceMemory& device = snapshot.devices[0];
      const Replay replay = ReplayDevice(snapshot, device);
      const std::vector<MemoryStep> steps = FindSteps(snapshot, device);
      bool is_found = false;
      for (const MemoryGrowth& one :
           FindGrowth(device, replay, sites, Categorise(device, replay, sites, steps), steps)) {
        EXPECT_TRUE(one.is_by_time);
        if (sites.Get(one.site).Text() == "/app/train.py:9 main") {
          is_found = true;
          EXPECT_EQ(one.is_by_events, start_us > 0);
          EXPECT_GE(one.bytes, 50 * kMiB);
        }
      }
      EXPECT_EQ(is_found, kept > 0) << start_us;
    }
  }
}

// What a program allocates as it begins, for good and without freeing anything, is no growth.
TEST(MemoryLiveTest, AProgramThatOnlyAllocatesDoesNotGrow) {
  for (const bool frees : {false, true}) {
    Program program;
    for (int layer = 0; layer < 40; ++layer) {
      program.Alloc(64 * kMiB, program.data(), MemoryCategory::kHeld);
      const uint32_t copy =
          program.Alloc(4 * kMiB, program.workspace(), MemoryCategory::kWorkspace);
      if (frees) program.Free(copy);
      program.Wait(1000);
    }
    const MemorySnapshot snapshot = program.Finish();
    const MemorySites sites(snapshot);
    const DeviceMemory& device = snapshot.devices[0];
    const Replay replay = ReplayDevice(snapshot, device);
    const std::vector<MemoryGrowth> growth =
        FindGrowth(device, replay, sites, Categorise(device, replay, sites, {}), {});
    EXPECT_EQ(growth.size(), frees ? 1U : 0U);
  }
}

// A block that is replaced at its address ended, whether or not an event says so.
TEST(MemoryLiveTest, WhatReplacesABlockDoesNotGrow) {
  Program program;
  for (int step = 0; step < 6; ++step) {
    const uint32_t block = program.Alloc(5 * kMiB, program.data(), MemoryCategory::kHeld);
    program.Mark(true);
    program.Mark(false);
    if (step < 5) program.FreeUnrecorded(block);
  }
  const MemorySnapshot snapshot = program.Finish();
  const MemorySites sites(snapshot);
  const DeviceMemory& device = snapshot.devices[0];
  const Replay replay = ReplayDevice(snapshot, device);
  EXPECT_EQ(replay.replaced.size(), 5U);
  EXPECT_EQ(replay.end.allocated, 5 * kMiB);
  EXPECT_TRUE(replay.segments_equal);
  const std::vector<MemoryStep> steps = FindSteps(snapshot, device);
  EXPECT_EQ(steps.size(), 6U);
  const MemoryCategories categories = Categorise(device, replay, sites, steps);
  EXPECT_TRUE(FindGrowth(device, replay, sites, categories, steps).empty());
  // Nor does it count twice in what is held over time, or drawn.
  const HeldMemory held = HeldAfterEach(device, replay);
  EXPECT_EQ(held.allocated[0], 0);
  for (size_t i = 0; i < held.allocated.size(); ++i) {
    EXPECT_TRUE(held.allocated[i] == 0 || held.allocated[i] == 5 * int64_t{kMiB}) << i;
  }
  for (const MemoryArea& area : FindAreas(device, replay, categories, 100)) {
    EXPECT_LE(area.allocated(), 5 * kMiB) << area.event;
  }
}

TEST(MemoryLiveTest, OfManyFailuresTheLastOnesAreLookedAt) {
  Program program;
  program.Alloc(5 * kMiB, program.data(), MemoryCategory::kHeld);
  for (uint64_t i = 0; i < 3'000; ++i) {
    program.Fail((i + 1) * kMiB);
  }
  const MemorySnapshot snapshot = program.Finish();
  const Replay replay = ReplayDevice(snapshot, snapshot.devices[0]);
  EXPECT_EQ(replay.ooms.size(), Replay::kMaxOoms);
  EXPECT_EQ(replay.ooms_left_out, 2'000U);
  EXPECT_EQ(replay.ooms.back().size, 3'000 * kMiB);
  EXPECT_EQ(replay.ooms.back().retries, 3'000U);
  EXPECT_EQ(replay.ooms.back().parts.requested, 5 * kMiB);
}

// Many stacks may name one frame, and a frame may be as long as a text can be.
TEST(MemoryLiveTest, LongTextsAreCut) {
  MemorySnapshot snapshot;
  const std::string file = "/app/" + std::string(100'000, 'f') + "ä.py";
  const std::string name = "ö" + std::string(100'000, 'n');
  std::vector<uint32_t> stacks;
  for (int64_t line = 1; line <= 100; ++line) {
    const std::vector<uint32_t> frames = {snapshot.stacks.AddFrame(file, name, line),
                                          snapshot.stacks.AddFrame(file, name, 0)};
    stacks.push_back(snapshot.stacks.AddStack(frames));
  }
  const MemorySites sites(snapshot);
  EXPECT_EQ(sites.size(), 101U);
  for (const uint32_t stack : stacks) {
    const std::string line = sites.Get(sites.Of(stack)).Text();
    EXPECT_LT(line.size(), 1'100U);
    EXPECT_TRUE(line.starts_with("…fff")) << line.substr(0, 20);
    EXPECT_NE(line.find("fä.py:"), std::string::npos);
    EXPECT_LT(sites.Callers(stack).size(), 2'200U);
  }
}

TEST(MemoryLiveTest, LinesOfStacks) {
  Program program;
  const MemorySnapshot snapshot = program.Finish();
  const MemorySites sites(snapshot);
  EXPECT_EQ(sites.Get(sites.Of(program.forward())).Text(), "/app/train.py:10 main");
  EXPECT_EQ(sites.Get(sites.Of(program.backward())).Text(), "AddmmBackward0");
  EXPECT_EQ(sites.Get(sites.Of(0)).Text(), "");
  EXPECT_EQ(sites.Callers(program.forward()), "");  // no more than its line
  EXPECT_EQ(sites.Callers(program.nested()), "/app/model.py:40 forward < /app/train.py:10 main");
}

// Whatever is left out: each state is what LiveAt gives for that moment, the peak is exact, and
// between two states of the picture nothing was higher than both.
TEST(MemoryAreasTest, StatesAreThoseOfTheirMoments) {
  for (const size_t most : {size_t{2}, size_t{8}, size_t{50}, size_t{5000}}) {
    SCOPED_TRACE(most);
    Program program;
    Train({true, false, 2, 5 * kMiB, true}, program);
    const MemorySnapshot snapshot = program.Finish();
    const MemorySites sites(snapshot);
    const DeviceMemory& device = snapshot.devices[0];
    const Studied studied = Study(program, snapshot, sites);
    const std::vector<MemoryArea> areas =
        FindAreas(device, studied.replay, studied.categories, most);
    ASSERT_FALSE(areas.empty());
    EXPECT_LE(areas.size(), most);
    uint64_t peak = 0;
    for (size_t i = 0; i < areas.size(); ++i) {
      const MemoryArea& area = areas[i];
      EXPECT_TRUE(i == 0 || areas[i - 1].event < area.event);
      std::array<uint64_t, kMemoryCategories> bytes = {};
      for (const LiveMemory& live :
           LiveAt(device, studied.replay, sites, studied.categories, area.event)) {
        bytes[static_cast<size_t>(live.category)] += live.bytes;
      }
      EXPECT_EQ(area.bytes, bytes) << "event " << area.event;
      EXPECT_GE(area.reserved, area.allocated());
      peak = std::max(peak, area.allocated());
    }
    EXPECT_EQ(peak, studied.replay.end.peak_allocated);
    EXPECT_EQ(areas.back().event, device.events.size() - 1);
    EXPECT_EQ(areas.back().reserved, studied.replay.end.reserved);
  }
}

TEST(MemoryAreasTest, RowsHaveTheTimesThatThereAre) {
  Program program;
  Train({true, false, 1, 0, true}, program);
  MemorySnapshot snapshot = program.Finish();
  DeviceMemory& device = snapshot.devices[0];
  const MemorySites sites(snapshot);
  const Studied studied = Study(program, snapshot, sites);
  const std::vector<MemoryArea> areas = FindAreas(device, studied.replay, studied.categories, 20);
  std::vector<MemoryAreaRow> rows;
  AddAreaRows(3, device, areas, rows);
  ASSERT_EQ(rows.size(), areas.size());
  EXPECT_EQ(rows.back().ts_unix_ns, device.events[areas.back().event].time_us * 1000);
  EXPECT_EQ(rows.back().rank, 3);
  device.events[0].time_us = kNoTime;  // then order is all that is known
  rows.clear();
  AddAreaRows(std::nullopt, device, FindAreas(device, studied.replay, studied.categories, 20),
              rows);
  EXPECT_FALSE(rows.back().ts_unix_ns.has_value());
  EXPECT_LE(rows.size(), 20U);
  EXPECT_TRUE(FindAreas(DeviceMemory(), Replay(), MemoryCategories(), 20).empty());
}

}  // namespace
}  // namespace borescope::internal::postmortem
