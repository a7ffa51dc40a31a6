#include "borescope/ingest/nsys/nsys_call_stacks.h"

#include <algorithm>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

// So many calls show how chains are counted.
constexpr size_t kCallsLookedAt = 10'000;

constexpr std::string_view kCudaTable = "CUDA_CALLCHAINS";
constexpr std::string_view kSystemTable = "OSRT_CALLCHAINS";

}  // namespace

void NsysCallStacks::AddOfCuda(uint32_t call, StringId name, int64_t chain) {
  if (chain != kMissing) {
    cuda_.push_back({call, name, chain});
  }
}

void NsysCallStacks::AddOfSystem(uint32_t call, StringId name, int64_t chain) {
  if (chain != kMissing) {
    system_.push_back({call, name, chain});
  }
}

Result<void> NsysCallStacks::Read(const DatabaseInput& input, NsysStacks& stacks) {
  BS_ASSIGN(const FrameOfChain of_cuda, stacks.Read(input, kCudaTable));
  AddStacks(cuda_, of_cuda);
  BS_ASSIGN(const FrameOfChain of_system, stacks.Read(input, kSystemTable));
  AddStacks(system_, of_system);
  return {};
}

void NsysCallStacks::AddStacks(std::vector<CallChain>& calls, const FrameOfChain& frames) {
  const int64_t offset = OffsetOf(calls, frames);
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallChain& a, const CallChain& b) { return a.call < b.call; });
  CallStacks& stacks = part_.data.call_stacks;
  for (size_t i = 0; i < calls.size(); ++i) {
    CheckStopAt(i);
    const auto frame = frames.find(AddSaturating(calls[i].chain, offset));
    const bool is_new = stacks.size() == 0 || stacks.call.back() != calls[i].call;
    if (frame != frames.end() && is_new) {
      stacks.call.push_back(calls[i].call);
      stacks.frame.push_back(frame->second);
    }
  }
}

bool NsysCallStacks::IsNamedIn(uint32_t frame, StringId name) const {
  const StackFrames& rows = part_.data.stack_frames;
  for (; frame != kNoDetail; frame = rows.parent[frame]) {
    if (Contains(part_.data.strings.Get(rows.name[frame]), part_.data.strings.Get(name))) {
      return true;
    }
  }
  return false;
}

// Whether 0 is a chain is the question, so that calls with it have no say.
size_t NsysCallStacks::CallsInTheirChain(const std::vector<CallChain>& calls,
                                         const FrameOfChain& frames, int64_t offset) const {
  const auto end = calls.begin() + static_cast<ptrdiff_t>(std::min(calls.size(), kCallsLookedAt));
  return static_cast<size_t>(std::count_if(calls.begin(), end, [&](const CallChain& call) {
    const auto frame = frames.find(AddSaturating(call.chain, offset));
    return call.chain != 0 && frame != frames.end() && IsNamedIn(frame->second, call.name);
  }));
}

// Releases of 2022 count chains from 0 where calls refer to them, and from 1 in their own table;
// others from 1 in both, and 0 means none. The frames of a chain name the call. Where no names are
// known, the largest numbers decide.
int64_t NsysCallStacks::OffsetOf(const std::vector<CallChain>& calls,
                                 const FrameOfChain& frames) const {
  const bool has_zero = std::any_of(calls.begin(), calls.end(),
                                    [](const CallChain& call) { return call.chain == 0; });
  if (!has_zero || frames.contains(0)) {
    return 0;
  }
  const size_t as_recorded = CallsInTheirChain(calls, frames, 0);
  const size_t moved = CallsInTheirChain(calls, frames, 1);
  if (as_recorded != moved) {
    return moved > as_recorded ? 1 : 0;
  }
  int64_t last_used = 0;
  int64_t last = 0;
  for (const CallChain& call : calls) {
    last_used = std::max(last_used, call.chain);
  }
  for (const auto& [chain, frame] : frames.InAnyOrder()) {
    last = std::max(last, chain);
  }
  return last_used < last ? 1 : 0;
}

}  // namespace borescope::internal
