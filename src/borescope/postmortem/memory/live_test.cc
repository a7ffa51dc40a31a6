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
#include "borescope/postmortem/memory/states_to_come.h"

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
    state_ = Stack({{"/app/train.py", "main", 14},
                    {"/env/lib/python3.12/site-packages/torch/optim/adamw.py", "step", 60},
                    {"/env/lib/python3.12/site-packages/torch/optim/adamw.py", "_init_group", 40}});
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
  void Fail(uint64_t size) { Fail(size, data_); }
  void Fail(uint64_t size, uint32_t stack) { Push(MemoryAction::kOom, 0, size, stack); }
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
  uint32_t state() const { return state_; }
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
  uint32_t forward_, parameter_, backward_, optimizer_, state_, data_, workspace_, recompute_,
      nested_;
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

std::vector<MemoryGrowth> GrowthOf(const MemorySnapshot& snapshot, const MemorySites& sites) {
  const DeviceMemory& device = snapshot.devices[0];
  const Replay replay = ReplayDevice(snapshot, device);
  EXPECT_EQ(replay.impossible, "");
  const std::vector<MemoryStep> steps = FindSteps(snapshot, device);
  return FindGrowth(device, replay, sites, Categorise(device, replay, sites, steps), steps);
}

void MarkStep(Program& program) {
  program.Mark(true);
  program.Mark(false);
}

// A list that is cleared every ten steps rises as often as it likes; a rise that goes on for longer
// than any before is growth.
TEST(MemoryGrowthTest, WhatFellByAsMuchBeforeIsACycle) {
  for (const int after : {4, 8, 20}) {
    Program program;
    std::vector<uint32_t> kept;
    for (int step = 0; step < 30 + after; ++step) {
      kept.push_back(program.Alloc(5 * kMiB, program.data(), MemoryCategory::kHeld));
      MarkStep(program);
      if (step < 30 && step % 10 == 9) {
        for (const uint32_t block : kept) program.Free(block);
        kept.clear();
      }
    }
    const MemorySnapshot snapshot = program.Finish();
    const MemorySites sites(snapshot);
    const std::vector<MemoryGrowth> growth = GrowthOf(snapshot, sites);
    ASSERT_EQ(growth.size(), after == 20 ? 1U : 0U) << after;
    if (growth.empty()) continue;
    EXPECT_FALSE(growth[0].has_fallen);  // it rose by more than it ever fell
    EXPECT_EQ(growth[0].bytes, 100 * kMiB);
  }
}

// A line that held a lot once, and now rises slowly for longer than it did then.
TEST(MemoryGrowthTest, ALongRiseAfterAFallIsLikely) {
  Program program;
  const uint32_t load = program.Alloc(500 * kMiB, program.data(), MemoryCategory::kTemporary);
  for (int step = 0; step < 20; ++step) {
    program.Alloc(5 * kMiB, program.data(), MemoryCategory::kHeld);
    MarkStep(program);
    if (step == 2) program.Free(load);
  }
  const MemorySnapshot snapshot = program.Finish();
  const MemorySites sites(snapshot);
  const std::vector<MemoryGrowth> growth = GrowthOf(snapshot, sites);
  ASSERT_EQ(growth.size(), 1U);
  EXPECT_FALSE(growth[0].is_certain() && growth[0].has_fallen);
  EXPECT_GE(growth[0].bytes, 80 * kMiB);
}

// Of a queue that keeps ten, the last ten were never freed; it holds as much as before.
TEST(MemoryGrowthTest, AQueueDoesNotGrow) {
  Program program;
  std::vector<uint32_t> kept;
  for (size_t step = 0; step < 40; ++step) {
    kept.push_back(program.Alloc(5 * kMiB, program.data(), MemoryCategory::kHeld));
    if (step >= 10) program.Free(kept[step - 10]);
    MarkStep(program);
  }
  const MemorySnapshot snapshot = program.Finish();
  EXPECT_TRUE(GrowthOf(snapshot, MemorySites(snapshot)).empty());
}

// Blocks that larger ones replace, in a line that holds more each step, as torch.cat makes them.
TEST(MemoryGrowthTest, WhatLargerBlocksReplaceGrows) {
  for (const bool has_marks : {true, false}) {
    Program program;
    std::optional<uint32_t> held;
    for (uint64_t step = 0; step < 64; ++step) {
      const uint32_t longer =
          program.Alloc((20 + 2 * step) * kMiB, program.nested(), MemoryCategory::kHeld);
      if (held.has_value()) program.Free(*held);
      held = longer;
      if (has_marks) MarkStep(program);
    }
    const MemorySnapshot snapshot = program.Finish();
    const MemorySites sites(snapshot);
    const std::vector<MemoryGrowth> growth = GrowthOf(snapshot, sites);
    ASSERT_EQ(growth.size(), 1U) << has_marks;
    EXPECT_EQ(growth[0].kind, GrowthKind::kReplaced);
    EXPECT_EQ(sites.Get(growth[0].site).Text(), "/app/model.py:40 forward");
    EXPECT_EQ(growth[0].is_by_time, !has_marks);
    EXPECT_FALSE(growth[0].is_certain());
    EXPECT_TRUE(growth[0].is_forward);
    if (has_marks) {
      EXPECT_EQ(growth[0].bytes_per_step, 2 * kMiB);
    }
  }
}

// Steps that need more than those before, and free it: from six rises in a row on.
TEST(MemoryGrowthTest, WhatStepsNeedGrows) {
  for (const uint64_t steps : {6U, 12U}) {
    Program program;
    for (uint64_t step = 0; step < steps; ++step) {
      program.Free(
          program.Alloc((20 + 4 * step) * kMiB, program.forward(), MemoryCategory::kTemporary));
      MarkStep(program);
    }
    const MemorySnapshot snapshot = program.Finish();
    const MemorySites sites(snapshot);
    const std::vector<MemoryGrowth> growth = GrowthOf(snapshot, sites);
    ASSERT_EQ(growth.size(), steps > 6 ? 1U : 0U);
    if (growth.empty()) continue;
    EXPECT_EQ(growth[0].kind, GrowthKind::kPeak);
    EXPECT_EQ(growth[0].steps, steps - 1);
    EXPECT_EQ(growth[0].bytes_per_step, 4 * kMiB);
    EXPECT_EQ(growth[0].last_bytes, 4 * kMiB);
  }
}

std::optional<StatesToCome> StatesOf(Program& program) {
  const MemorySnapshot snapshot = program.Finish();
  const MemorySites sites(snapshot);
  const DeviceMemory& device = snapshot.devices[0];
  const Replay replay = ReplayDevice(snapshot, device);
  EXPECT_EQ(replay.ooms.size(), 1U);
  const std::vector<MemoryStep> steps = FindSteps(snapshot, device);
  return FindStatesToCome(snapshot, device, replay, sites, Categorise(device, replay, sites, steps),
                          replay.ooms.back());
}

// An optimizer that fails in its first step: of each size as many states as of any.
TEST(StatesToComeTest, AsManyForEachGradient) {
  struct Case {
    size_t made;
    uint64_t per_parameter;  // 0: nothing is known
    uint64_t to_come;
    uint64_t bytes;
  };
  // Parameters of 8, 4 and 4 MiB; states come as 8, 8, 4, 4, 4, 4.
  for (const Case& one : {Case{0, 0, 0, 0}, Case{1, 2, 5, 24 * kMiB}, Case{2, 2, 4, 16 * kMiB},
                          Case{5, 2, 1, 4 * kMiB}}) {
    SCOPED_TRACE(one.made);
    Program program;
    for (const uint64_t size : {8 * kMiB, 4 * kMiB, 4 * kMiB}) {
      program.Alloc(size, program.parameter(), MemoryCategory::kParameter);
      program.Alloc(size, program.backward(), MemoryCategory::kGradient);
    }
    const std::array<uint64_t, 6> states = {8 * kMiB, 8 * kMiB, 4 * kMiB,
                                            4 * kMiB, 4 * kMiB, 4 * kMiB};
    program.Mark(true);
    for (size_t i = 0; i < one.made; ++i) {
      program.Alloc(states[i], program.state(), MemoryCategory::kOptimizerState);
    }
    program.Fail(states[one.made], program.state());
    const std::optional<StatesToCome> come = StatesOf(program);
    ASSERT_EQ(come.has_value(), one.per_parameter > 0);
    if (!come.has_value()) continue;
    EXPECT_EQ(come->parameters, 3U);
    EXPECT_EQ(come->states, one.made);
    EXPECT_EQ(come->per_parameter, one.per_parameter);
    EXPECT_EQ(come->to_come, one.to_come);
    EXPECT_EQ(come->to_come_bytes, one.bytes);
  }
}

// States of eight bits are of no gradient's size, and states that were there before a backward pass
// are those of an earlier step.
TEST(StatesToComeTest, NothingWhereItDoesNotFollow) {
  for (const bool is_small : {true, false}) {
    Program program;
    const uint64_t size = is_small ? 2 * kMiB : 8 * kMiB;
    program.Alloc(8 * kMiB, program.parameter(), MemoryCategory::kParameter);
    program.Alloc(8 * kMiB, program.backward(), MemoryCategory::kGradient);
    program.Mark(true);
    program.Alloc(size, program.state(), MemoryCategory::kOptimizerState);
    if (!is_small) program.Alloc(8 * kMiB, program.backward(), MemoryCategory::kGradient);
    program.Fail(size, program.state());
    EXPECT_FALSE(StatesOf(program).has_value()) << is_small;
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
