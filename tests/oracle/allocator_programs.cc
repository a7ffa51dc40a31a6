#include "tests/oracle/allocator_programs.h"

#include <algorithm>
#include <cmath>

#include "tests/oracle/allocator_twin.h"
#include "tests/oracle/random.h"

namespace borescope::internal::testkit {

namespace {

using postmortem::kMiB;
using postmortem::MemoryAction;

void ChooseSettings(Random& random, RandomProgram& program) {
  postmortem::AllocatorSettings& settings = program.settings;
  settings.expandable = random.Chance(0.3);
  if (random.Chance(0.4)) {
    settings.max_split = random.Pick(std::vector<uint64_t>{21, 32, 64, 128, 512}) * kMiB;
  }
  if (random.Chance(0.2)) settings.max_non_split_rounding = random.Between(1, 64) * kMiB;
  if (random.Chance(0.4)) settings.gc_threshold = random.Pick(std::vector<double>{0.3, 0.6, 0.8});
  if (random.Chance(0.3)) {
    for (uint64_t& divisions : settings.divisions) {
      divisions = random.Pick(std::vector<uint64_t>{0, 1, 2, 4, 6, 8});
    }
  }
  const uint64_t streams = 1 + random.Below(3);
  for (uint64_t i = 0; i < streams; ++i) program.lanes.push_back({i * 16, 0, 0});
  if (random.Chance(0.3)) program.lanes.push_back({0, 0, 7});
  program.bounds.device_bytes = uint64_t{1} << 40;
  program.bounds.capacity = static_cast<uint64_t>(random.Between(512, 4096)) * kMiB;
  if (random.Chance(0.5)) {
    program.bounds.limit = static_cast<uint64_t>(random.Between(256, 3072)) * kMiB + 12345;
  }
}

uint64_t RandomSize(Random& random) {
  if (random.Chance(0.2)) {  // sizes that come again, as those of a model do
    return random.Pick(std::vector<uint64_t>{4096, kMiB, 4 * kMiB, 12 * kMiB + 512, 96 * kMiB});
  }
  const double most = random.Chance(0.9) ? 28 : 31;  // mostly up to 256 MiB, seldom to 2 GiB
  return static_cast<uint64_t>(
      std::exp2(most * static_cast<double>(random.Below(1U << 20)) * 0x1p-20));
}

}  // namespace

RandomProgram MakeRandomProgram(uint64_t seed, size_t steps, bool is_plain) {
  Random random(seed + 4242);
  RandomProgram program;
  ChooseSettings(random, program);
  if (is_plain && program.bounds.limit.has_value()) program.bounds.capacity = uint64_t{1} << 40;
  std::vector<uint32_t> live;
  std::vector<uint32_t> waiting;
  while (program.steps.size() < steps) {
    RandomProgram::Step step;
    const auto number = static_cast<uint32_t>(program.steps.size());
    if (!waiting.empty() && random.Chance(0.3)) {
      const size_t which = random.Below(waiting.size());
      step.kind = RandomProgram::kCompleteFree;
      step.of = waiting[which];
      waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(which));
      program.steps.push_back(step);
    } else if (!live.empty() && random.Chance(live.size() > 60 ? 0.6 : 0.42)) {
      const size_t which = random.Below(live.size());
      step.kind = RandomProgram::kRequestFree;
      step.of = live[which];
      live.erase(live.begin() + static_cast<ptrdiff_t>(which));
      program.steps.push_back(step);
      if (is_plain || random.Chance(0.8)) {
        step.kind = RandomProgram::kCompleteFree;
        program.steps.push_back(step);
      } else {
        waiting.push_back(step.of);
      }
    } else if (!is_plain && random.Chance(0.01)) {
      step.kind = RandomProgram::kEmptyCache;
      program.steps.push_back(step);
    } else {
      step.size = RandomSize(random);
      step.lane = static_cast<uint16_t>(random.Below(program.lanes.size()));
      step.site = static_cast<uint32_t>(1 + random.Below(8));
      live.push_back(number);
      program.steps.push_back(step);
    }
  }
  return program;
}

namespace {

// Writes what the twin does as the events of a trace.
class Recorder {
 public:
  Recorder(const RandomProgram& program, bool stops_at_oom)
      : program_(program),
        stops_at_oom_(stops_at_oom),
        twin_(program.settings, program.lanes, program.bounds),
        addresses_(program.steps.size(), 0),
        states_(program.steps.size(), kGone) {
    snapshot_.lanes = program.lanes;
    snapshot_.settings = program.settings;
    snapshot_.has_times = true;
    snapshot_.devices.emplace_back();
    for (int64_t site = 0; site < 16; ++site) {
      const uint32_t frame = snapshot_.stacks.AddFrame("/app/train.py", "step", site);
      stacks_.push_back(snapshot_.stacks.AddStack(std::vector<uint32_t>{frame}));
    }
  }

  postmortem::MemorySnapshot Record() {
    for (uint32_t i = 0; i < program_.steps.size(); ++i) {
      const RandomProgram::Step& step = program_.steps[i];
      if (step.kind == RandomProgram::kAllocate) {
        if (!Allocate(i, step) && stops_at_oom_) break;
      } else if (step.kind == RandomProgram::kRequestFree) {
        RequestFree(step.of);
      } else if (step.kind == RandomProgram::kCompleteFree) {
        CompleteFree(step.of);
      } else {
        twin_.happened.clear();
        twin_.completed.clear();
        twin_.EmptyCache();
        Happened(0);
      }
    }
    AddSegments();
    Finish(snapshot_);
    return std::move(snapshot_);
  }

 private:
  enum State : uint8_t { kGone, kLive, kWaits };

  void Push(MemoryAction action, uint64_t address, uint64_t size, uint16_t lane, uint32_t site) {
    postmortem::MemoryEvent event;
    event.action = action;
    event.address = address;
    event.size = size;
    event.lane = lane;
    event.stack = stacks_[site];
    event.time_us = 1'700'000'000'000'000 + 10 * static_cast<int64_t>(Events().size());
    Events().push_back(event);
  }
  ColumnData<postmortem::MemoryEvent>& Events() { return snapshot_.devices[0].events; }

  bool Allocate(uint32_t i, const RandomProgram::Step& step) {
    const bool is_served = twin_.Allocate(step.size, step.lane, i);
    Happened(step.site);
    if (!is_served) {
      Push(MemoryAction::kOom, *program_.bounds.capacity - twin_.Reserved(),
           postmortem::RoundRequest(step.size, program_.settings), step.lane, step.site);
      return false;
    }
    for (const postmortem::LayoutBlock& block : twin_.Layout()) {
      if (block.owner == i) addresses_[i] = block.address;
    }
    states_[i] = kLive;
    Push(MemoryAction::kAlloc, addresses_[i], step.size, step.lane, step.site);
    return true;
  }

  void RequestFree(uint32_t of) {
    if (states_[of] != kLive) return;
    twin_.RequestFree(of);
    states_[of] = kWaits;
    const RandomProgram::Step& step = program_.steps[of];
    Push(MemoryAction::kFreeRequested, addresses_[of], step.size, step.lane, step.site);
  }

  void CompleteFree(uint32_t of) {
    if (states_[of] != kWaits) return;
    twin_.CompleteFree(of);
    Completed(of);
  }

  void Completed(uint32_t of) {
    states_[of] = kGone;
    const RandomProgram::Step& step = program_.steps[of];
    Push(MemoryAction::kFreeCompleted, addresses_[of], step.size, step.lane, step.site);
  }

  // Frees that a retry completed come before what it gave back.
  void Happened(uint32_t site) {
    for (const uint32_t of : twin_.completed) Completed(of);
    for (const SlowAllocator::Happened& what : twin_.happened) {
      const MemoryAction action =
          what.is_pages
              ? (what.is_given ? MemoryAction::kSegmentMap : MemoryAction::kSegmentUnmap)
              : (what.is_given ? MemoryAction::kSegmentAlloc : MemoryAction::kSegmentFree);
      Push(action, what.address, what.size, what.lane, site);
    }
  }

  void AddSegments() {
    postmortem::DeviceMemory& device = snapshot_.devices[0];
    uint64_t next = 0;
    for (const postmortem::LayoutBlock& block : twin_.Layout()) {
      if (block.state == postmortem::BlockState::kUnmapped) {
        next = 0;
        continue;
      }
      // Each row of pages is a segment of its own in a snapshot.
      if (next != block.address || block.address == block.segment) {
        postmortem::MemorySegment segment;
        segment.address = block.address;
        segment.first_block = static_cast<uint32_t>(device.blocks.size());
        segment.lane = block.lane;
        segment.is_small = block.is_small;
        segment.is_expandable = block.is_expandable;
        device.segments.push_back(segment);
      }
      next = block.address + block.size;
      postmortem::MemorySegment& segment = device.segments.back();
      segment.size += block.size;
      ++segment.blocks;
      postmortem::MemoryBlock made;
      made.address = block.address;
      made.size = block.size;
      made.requested = block.requested;
      if (block.owner != postmortem::kNoIndex)
        made.stack = stacks_[program_.steps[block.owner].site];
      made.state = block.state == postmortem::BlockState::kAllocated
                       ? postmortem::MemoryBlockState::kAllocated
                   : block.state == postmortem::BlockState::kPending
                       ? postmortem::MemoryBlockState::kPending
                       : postmortem::MemoryBlockState::kFree;
      segment.allocated += made.state == postmortem::MemoryBlockState::kAllocated ? made.size : 0;
      device.blocks.push_back(made);
    }
  }

  const RandomProgram& program_;
  bool stops_at_oom_;
  SlowAllocator twin_;
  postmortem::MemorySnapshot snapshot_;
  std::vector<uint32_t> stacks_;
  std::vector<uint64_t> addresses_;
  std::vector<State> states_;
};

}  // namespace

postmortem::MemorySnapshot Record(const RandomProgram& program, bool stops_at_oom) {
  return Recorder(program, stops_at_oom).Record();
}

}  // namespace borescope::internal::testkit
